package import PawlBase

/// The walk through the folders of a tree: which page is read next, and which links on it belong to the collection.
///
/// A value: the shell requests pages, parses them, and gives each link to it. Every entry has a checked path below the
/// root; everything else is counted or refused in a sentence, and the walk goes on.
package struct TreeWalk: Sendable {
    /// How large a tree may be.
    package struct Limits: Hashable, Sendable {
        package var entries = 1_000_000
        package var folders = 100_000
        package var depth = 64

        package init() {}
    }

    /// A folder whose page is to be read.
    package struct Folder: Hashable, Sendable {
        package var address: WebAddress
        /// Below the root; empty for the root itself.
        @Bytewise package var path: String
        package var depth: Int
        /// What the pages of the folders above it had, see ``Page/fingerprint``.
        var ancestors: [UInt64]
    }

    /// A page that is being read.
    package struct Page: Sendable {
        package let folder: Folder
        /// What its links are relative to.
        package var base: WebAddress
        var folders: [Folder] = []
        var files = 0
        /// Of all names on it, with their sizes and times: two folders that have the same one may be one folder.
        var fingerprint = CRC64()

        init(_ folder: Folder) {
            self.folder = folder
            base = folder.address
        }
    }

    /// What a link is.
    package enum Finding: Hashable, Sendable {
        case file(CollectionEntry)
        /// A folder, which will be visited.
        case folder(CollectionEntry)
        /// Nothing of the collection, or known already.
        case nothing
        /// It belongs to the collection, but cannot be a file.
        case refused(Failure)
    }

    /// So many folders with equal pages, one in the other, are a folder that contains itself.
    static let mostRepetitions = 8

    package private(set) var root: WebAddress
    private let limits: Limits
    private let filter: EntryFilter
    private var rootNames: [[UInt8]]
    private var pending: [Folder]
    private var seen: Set<UInt64> = []
    package private(set) var folders = 0
    package private(set) var entries = 0
    /// Links that lead out of the tree, to other hosts, or to what a program makes of a query.
    package private(set) var outside = 0
    /// Whether files may exist that were not listed, for another reason than the filter.
    package private(set) var isPartial = false
    private var isFull = false

    /// `root` ends with a slash.
    package init(_ root: WebAddress, filter: EntryFilter = EntryFilter(), limits: Limits = Limits()) {
        self.root = root
        self.filter = filter
        self.limits = limits
        rootNames = Self.names(root)
        pending = [Folder(address: root, path: "", depth: 0, ancestors: [])]
    }

    // MARK: pages

    /// The next folder to read; `nil` while none is known.
    package mutating func next() -> Page? {
        guard let folder = pending.popLast() else { return nil }
        folders += 1
        return Page(folder)
    }

    /// The page's response has come from this address; throws where that is another folder.
    ///
    /// The root may have moved: then that is the root. A folder below must stay where it is.
    package mutating func began(_ page: inout Page, at address: WebAddress) throws(Failure) {
        var address = address
        address.query = nil
        guard address.origin == root.origin else {
            // What was given for one server must not be sent to another with the requests for its files.
            throw Failure(
                .badResponse, "cannot list", at: page.folder.address.redacted,
                because: "it redirects to another server, \(address.redacted)",
                remedy: page.folder.depth == 0 ? "give that URL" : "")
        }
        if page.folder.depth == 0, address.path.utf8.last == .slash {
            root = address
            rootNames = Self.names(address)
        } else {
            guard Self.names(address) == rootNames.dropLast() + page.names else {
                throw Failure(
                    .badResponse, "cannot list", at: page.folder.address.redacted,
                    because: "it redirects to \(address.redacted), which is another folder")
            }
        }
        page.base = address
    }

    /// `<base href>` of the page; one that leads to another origin is not used.
    package func rebase(_ page: inout Page, to reference: [UInt8]) {
        guard let base = try? page.base.resolving(PercentCoding.text(reference)), base.origin == root.origin else {
            return
        }
        page.base = base
    }

    /// The page is complete: its folders will be read.
    package mutating func end(_ page: Page) throws(Failure) {
        let fingerprint = page.fingerprint.value
        let repetitions = page.folder.ancestors.reversed().prefix { $0 == fingerprint }.count
        if repetitions >= Self.mostRepetitions, page.files > 0, !page.folders.isEmpty {
            isPartial = true
            throw Failure(
                .badResponse, "cannot list", at: page.folder.address.redacted,
                because: "it lists what the \(repetitions) folders above it list: it may contain itself")
        }
        for var folder in page.folders.reversed() {
            folder.ancestors = page.folder.ancestors + [fingerprint]
            pending.append(folder)
        }
    }

    /// The page could not be read, or not to its end.
    package mutating func failed(_ page: Page) { isPartial = true }

    /// Rules of the server forbid it.
    package mutating func skipped(_ page: Page) { isPartial = true }

    // MARK: links

    /// What a link on a page is.
    package mutating func take(_ link: ListedLink, on page: inout Page) -> Finding {
        let reference = Self.reference(link.reference)
        // Those that sort the page's columns.
        guard !reference.isEmpty, reference.utf8.first != .questionMark else { return .nothing }
        let address: WebAddress
        do throws(Failure) { address = try page.base.resolving(reference) } catch {
            // Other schemes are usual on a page: mail, scripts.
            guard Self.isRelative(reference) else {
                outside += 1
                return .nothing
            }
            isPartial = true
            return .refused(error)
        }
        guard address.origin == root.origin, address.query == nil else {
            if address.path != page.base.path { outside += 1 }
            return .nothing
        }
        let names = Self.names(address)
        guard names.count >= rootNames.count, names.starts(with: rootNames.dropLast()) else {
            // The folder above is on nearly every page.
            if names.last?.isEmpty != true || !Self.names(page.base).starts(with: names.dropLast()) { outside += 1 }
            return .nothing
        }
        return take(Array(names.dropFirst(rootNames.count - 1)), address, link, on: &page)
    }

    /// `names`: below the root, the last one empty for a folder.
    private mutating func take(
        _ names: [[UInt8]], _ address: WebAddress, _ link: ListedLink, on page: inout Page
    ) -> Finding {
        let isFolder = names.last?.isEmpty ?? true
        let parts = isFolder ? names.dropLast() : names[...]
        guard !parts.isEmpty else { return .nothing }
        let path: String
        do throws(EntryFlaw) { path = try EntryName.path(parts) } catch {
            isPartial = true
            return .refused(error.failure(of: address.redacted))
        }
        // The page itself.
        if isFolder, path.hasSameBytes(as: page.folder.path) { return .nothing }
        guard seen.insert(CRC64.value(of: (isFolder ? path + "/" : path).utf8)).inserted else { return .nothing }
        note(link, parts.last ?? [], isFolder, on: &page)
        entries += 1
        guard entries <= limits.entries else { return full("\(limits.entries) entries") }
        let entry = CollectionEntry(
            path: path, address: address.text, kind: isFolder ? .folder : .file, size: link.size, isExact: link.isExact,
            modified: link.modified, timeStep: link.timeStep, entityTag: link.entityTag, checksum: link.checksum)
        guard isFolder else {
            page.files += 1
            return filter.takes(entry) ? .file(entry) : .nothing
        }
        guard filter.visits(path, depth: parts.count) else { return .nothing }
        guard parts.count <= limits.depth else {
            isPartial = true
            return .refused(
                Failure(
                    .tooLarge, "cannot list", at: address.redacted,
                    because: "it is more than \(limits.depth) folders below the first"))
        }
        guard folders + pending.count + page.folders.count < limits.folders else {
            return full("\(limits.folders) folders")
        }
        page.folders.append(Folder(address: address, path: path, depth: parts.count, ancestors: []))
        return .folder(entry)
    }

    private func note(_ link: ListedLink, _ name: [UInt8], _ isFolder: Bool, on page: inout Page) {
        page.fingerprint.feed(name)
        page.fingerprint.feed(isFolder ? .slash : 0 as UInt8)
        page.fingerprint.feed(UInt64(bitPattern: link.size ?? -1))
        page.fingerprint.feed(UInt64(bitPattern: isFolder ? 0 : link.modified?.seconds ?? -1))
    }

    /// Whether a path was listed.
    package func hasListed(_ path: String) -> Bool { seen.contains(CRC64.value(of: path.utf8)) }

    private mutating func full(_ what: String) -> Finding {
        isPartial = true
        defer { isFull = true }
        guard !isFull else { return .nothing }
        return .refused(
            Failure(.tooLarge, "cannot list all of", at: root.redacted, because: "it has more than \(what)"))
    }

    // MARK: references

    /// Without white space around it and without a fragment; as text, in which bytes that are not UTF-8 are encoded.
    private static func reference(_ bytes: [UInt8]) -> String {
        PercentCoding.text(bytes.trimmed(\.isWhiteSpace).prefix { $0 != .hash })
    }

    private static func isRelative(_ reference: String) -> Bool {
        guard let colon = reference.utf8.firstIndex(of: .colon) else { return !reference.hasPrefix("//") }
        return reference.utf8[..<colon].contains { !$0.isLetter && !$0.isDigit && ![.plus, .dash, .dot].contains($0) }
    }

    /// The decoded names of a path; the last one is empty for a folder.
    fileprivate static func names(_ address: WebAddress) -> [[UInt8]] {
        address.path.utf8.dropFirst().split(separator: .slash, omittingEmptySubsequences: false).map {
            PercentCoding.decoded($0)
        }
    }
}

extension TreeWalk.Page {
    /// Its folder's names below the root, with an empty one at the end.
    fileprivate var names: [[UInt8]] {
        folder.path.isEmpty ? [[]] : Array(TreeWalk.names(folder.address).suffix(folder.depth + 1))
    }
}
