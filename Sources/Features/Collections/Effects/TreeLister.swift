package import PawlBase
import PawlIntegrity
import PawlSystem

/// Lists a tree of web indexes, or of an FTP or SFTP server, several folders at a time.
package struct TreeLister: CollectionLister {
    package struct Options: Sendable {
        package var filter = EntryFilter()
        package var limits = TreeWalk.Limits()
        /// Whether robots.txt decides which pages below the first are read.
        package var obeysRobots = true
        package var followsLinks = true
        /// Whether folders are entries too.
        package var namesFolders = false
        /// Whether the sums files of the tree are read, and whether a file without a digest there needs none.
        package var sums = SumsUse.none

        package init() {}

        package enum SumsUse: Hashable, Sendable { case none, optional, required }
    }

    package let address: WebAddress
    let options: Options
    let pages: any PageFetching
    let clock: any Clock

    /// `address` ends with a slash.
    package init(
        _ address: WebAddress, _ options: Options, pages: any PageFetching, clock: any Clock = SystemClock()
    ) {
        self.address = address
        self.options = options
        self.pages = pages
        self.clock = clock
    }

    package func list(into sink: ListingSink) throws(Failure) {
        var listing = TreeListing(self, sink)
        try listing.run()
    }
}

extension TreeLister {
    package var source: String { address.redacted }

    /// Servers percent-encode different characters.
    package func addresses(of path: String) -> [String]? {
        let bytes = Array(path.utf8)
        let plain = PercentCoding.reversible(bytes)
        let forms = [
            plain,
            String(decoding: PercentCoding.encoded(bytes, keeping: PercentCoding.isPathCharacter), as: UTF8.self),
            Self.encoded(bytes, keeping: "$&+,/:;=@"), Self.encoded(bytes, keeping: "!$&'()*+,/:=@"),
        ]
        return Set(forms).map { form in
            var address = self.address
            address.path += form
            return address.text
        }
    }

    private static func encoded(_ bytes: [UInt8], keeping marks: String) -> String {
        var result = ""
        for byte in bytes {
            let isKept = marks.utf8.contains(byte)
            result += isKept ? String(UnicodeScalar(byte)) : PercentCoding.reversible([byte], keepingSlash: true)
        }
        return result
    }
}

/// One run of a ``TreeLister``.
struct TreeListing {
    /// Folders that are read at the same time, or wait for a connection.
    private static let mostPages = 64
    /// A page with more links is not held until its end.
    private static let mostHeld = 4_096
    private static let mostAttempts = 3
    private static let longestCoded = 16 << 20

    /// A page that is being received.
    private final class ActivePage {
        enum Content {
            case page(IndexPage)
            case listing(FolderListing)
            /// gzip, whatever was requested.
            case coded([UInt8])
        }

        var page: TreeWalk.Page
        var transfer: any PageTransfer
        var content: Content
        var hasBegun = false
        var hasBytes = false
        var isStreamed = false
        var isMultistatus = false
        var attempts = 1
        /// Entries that wait for the page's end: then a page that failed is read again before anything is fetched.
        var held: [CollectionEntry] = []

        init(_ page: TreeWalk.Page, _ transfer: any PageTransfer, _ content: Content) {
            self.page = page
            self.transfer = transfer
            self.content = content
        }
    }

    private let lister: TreeLister
    private let sink: ListingSink
    private var walk: TreeWalk
    private var active: [ActivePage] = []
    /// Counts what transfers report.
    private let changes = Monitor(0)
    private var robots: RobotsRules?
    private var isRobotsUnreachable = false
    private var disallowed = 0
    /// Whether the server does not know MLSD.
    private var isPlain: Bool
    private var skippedLinks = 0
    private var web = WebForm.unknown
    private var sums = TreeSums()

    /// How a web server lists its folders; the response to the first request, PROPFIND, tells.
    private enum WebForm { case unknown, pages, properties }

    init(_ lister: TreeLister, _ sink: ListingSink) {
        self.lister = lister
        self.sink = sink
        walk = TreeWalk(lister.address, filter: lister.options.filter, limits: lister.options.limits)
        isPlain = lister.address.scheme == .sftp
    }

    private var isWeb: Bool { lister.address.scheme == .http || lister.address.scheme == .https }

    mutating func run() throws(Failure) {
        defer { for page in active { page.transfer.cancel() } }
        while !sink.isStopped {
            let seen = changes.read(\.self)
            try start()
            guard !active.isEmpty else { break }
            var isIdle = true
            for index in active.indices.reversed() where try work(on: index) { isIdle = false }
            // A sink that is stopped wakes nobody here.
            if isIdle { _ = changes.wait(until: lister.clock.now + .seconds(1)) { $0 != seen ? true : nil } }
        }
        tellRest()
    }

    /// What was left out without a failure.
    private func tellRest() {
        func told(_ count: Int, _ one: String, _ many: String) {
            if count > 0 { sink.tell("\(count) \(count == 1 ? one : many)") }
        }
        told(
            walk.outside, "link leads out of the tree and was left out", "links lead out of the tree and were left out")
        told(
            disallowed, "address was left out as robots.txt disallows it; --robots ignore lists it",
            "addresses were left out as robots.txt disallows them; --robots ignore lists them")
        told(
            skippedLinks, "symbolic link was left out: what it leads to is not in its folder",
            "symbolic links were left out: what they lead to is not in their folder")
        if walk.isPartial || disallowed > 0 { sink.markPartial() }
    }

    // MARK: requests

    private mutating func start() throws(Failure) {
        while active.count < Self.mostPages, !sink.isStopped, let page = walk.next() {
            // Rules for robots are of pages; a WebDAV server is asked for files.
            if page.folder.depth > 0, isWeb, web != .properties, lister.options.obeysRobots {
                if robots == nil, !isRobotsUnreachable { readRobots() }
                guard !isRobotsUnreachable else {
                    walk.skipped(page)
                    continue
                }
                guard robots?.allows(page.folder.address) ?? true else {
                    disallowed += 1
                    walk.skipped(page)
                    continue
                }
            }
            do throws(Failure) {
                active.append(ActivePage(page, try request(page), content))
            } catch { try fail(page, error) }
        }
    }

    private var content: ActivePage.Content {
        isWeb
            ? .page(IndexPage())
            : .listing(FolderListing(now: lister.clock.wallTime, followsLinks: lister.options.followsLinks))
    }

    private func request(_ page: TreeWalk.Page) throws(Failure) -> any PageTransfer {
        let form: FolderListingForm? = isWeb ? web == .pages ? nil : .properties : isPlain ? .plain : .machine
        return try fetch(PageRequest(page.folder.address, listing: form, isTrial: isWeb && web == .unknown))
    }

    private func fetch(_ request: PageRequest) throws(Failure) -> any PageTransfer {
        try lister.pages.fetch(request) { [changes] in changes.with { $0 += 1 } }
    }

    /// Requests a file, and blocks until it has come; its first `limit` bytes.
    private func read(_ address: WebAddress, limit: Int) throws(Failure) -> [UInt8] {
        var bytes: [UInt8] = []
        let transfer = try fetch(PageRequest(address))
        defer { transfer.cancel() }
        while !sink.isStopped {
            let seen = changes.read(\.self)
            let end = transfer.end
            while bytes.count < limit, let chunk = transfer.take() { bytes += chunk }
            if bytes.count >= limit { break }
            if let end {
                try end.get()
                break
            }
            _ = changes.wait(until: lister.clock.now + .seconds(1)) { $0 != seen ? true : nil }
        }
        return bytes
    }

    /// Blocks until the rules are known: they count for all that follows.
    private mutating func readRobots() {
        var address = walk.root
        address.query = nil
        address.path = "/robots.txt"
        do throws(Failure) { robots = RobotsRules(parsing: try read(address, limit: RobotsRules.limit)) } catch {
            if let status = error.status, RobotsRules.isMissing(status: status) {
                robots = RobotsRules()
                return
            }
            if error.code == .tooManyRedirects {
                robots = RobotsRules()
                return
            }
            isRobotsUnreachable = true
            sink.refuse(
                Failure(
                    .rejected, "cannot list the folders below", at: walk.root.redacted,
                    because: "robots.txt cannot be read: \(error.why)",
                    remedy: "try again later, or use --robots ignore"))
        }
    }

    // MARK: pages

    /// Takes what has come; returns whether anything had.
    private mutating func work(on index: Int) throws(Failure) -> Bool {
        let transfer = active[index].transfer
        // Asked first: afterwards no bytes can come that are not taken below.
        let end = transfer.end
        var hasWorked = false
        do throws(Failure) {
            if !active[index].hasBegun, let head = transfer.head {
                try begin(active[index], head)
                hasWorked = true
            }
            while let chunk = transfer.take() {
                hasWorked = true
                try feed(active[index], chunk)
                if sink.isStopped { return true }
            }
            guard let end else { return hasWorked }
            try end.get()
            if !active[index].hasBegun, isWeb {
                throw Failure(.badResponse, "cannot list", at: address(index), because: "there was no response")
            }
            try finish(active[index])
            // What the transfer keeps is of no use any more.
            transfer.cancel()
            active.remove(at: index)
        } catch {
            transfer.cancel()
            let page = active.remove(at: index)
            if mayRepeat(page, after: error), let again = try? request(page.page) {
                page.transfer = again
                page.content = content
                (page.hasBegun, page.hasBytes) = (false, false)
                active.append(page)
                return true
            }
            try fail(page.page, error)
        }
        return true
    }

    private func address(_ index: Int) -> String { active[index].page.folder.address.redacted }

    /// A page that was cut off is read once more; a server that does not know MLSD is asked for LIST, and one without WebDAV for
    /// its page.
    private mutating func mayRepeat(_ page: ActivePage, after error: Failure) -> Bool {
        if isWeb, web == .unknown {
            web = .pages
            return true
        }
        if !isWeb, !isPlain, !page.hasBytes, ![.authorization, .nameResolution, .insecure].contains(error.code) {
            isPlain = true
            return true
        }
        guard page.hasBytes, page.attempts < Self.mostAttempts,
            [.cannotResume, .network, .timeout, .inputOutput].contains(error.code)
        else { return false }
        page.attempts += 1
        return true
    }

    private mutating func begin(_ active: ActivePage, _ head: PageHead) throws(Failure) {
        active.hasBegun = true
        guard isWeb else { return }
        if let type = head.contentType.map({ $0.lowercased().prefix { $0 != ";" && $0 != " " } }),
            !["html", "xhtml", "json", "xml", "plain"].contains(where: { type.contains($0) })
        {
            throw Failure(
                .badResponse, "cannot list", at: active.page.folder.address.redacted,
                because: "its response is no page of links but \(type)",
                remedy: "download it as a single file")
        }
        try walk.began(&active.page, at: head.address)
        // Without WebDAV a server may send its page all the same.
        if web == .unknown { web = head.isMultistatus ? .properties : .pages }
        active.isMultistatus = head.isMultistatus
        active.content = .page(IndexPage(isMultistatus: head.isMultistatus))
    }

    private mutating func feed(_ active: ActivePage, _ chunk: [UInt8]) throws(Failure) {
        if !active.hasBytes, isWeb, ContentDecoder.isGzip(chunk) { active.content = .coded([]) }
        active.hasBytes = true
        let links: [ListedLink]
        switch active.content {
        case .page(var page):
            // Not a copy: the value has its only owner while it changes.
            active.content = .coded([])
            links = page.feed(chunk)
            active.content = .page(page)
            if page.isTooLong { throw Self.tooLong(active) }
        case .listing(var listing):
            active.content = .coded([])
            links = listing.feed(chunk)
            active.content = .listing(listing)
        case .coded(var bytes):
            active.content = .coded([])
            bytes += chunk
            active.content = .coded(bytes)
            if bytes.count > Self.longestCoded { throw Self.tooLong(active) }
            links = []
        }
        take(links, active)
    }

    private static func tooLong(_ active: ActivePage) -> Failure {
        Failure(
            .tooLarge, "cannot list all of", at: active.page.folder.address.redacted,
            because: "its page has more than \(ByteQuantity.text(IndexPage.limit))")
    }

    private mutating func take(_ links: [ListedLink], _ active: ActivePage) {
        if case .page(let page) = active.content, let base = page.base { walk.rebase(&active.page, to: base) }
        for link in links {
            switch walk.take(link, on: &active.page) {
            case .nothing: break
            case .refused(let failure): sink.refuse(failure)
            case .folder(let entry): if lister.options.namesFolders { active.held.append(entry) }
            case .file(let entry):
                if let robots, active.page.folder.depth > 0, let address = try? WebAddress.parse(entry.address).address,
                    !robots.allows(address)
                {
                    disallowed += 1
                } else {
                    active.held.append(entry)
                }
            }
        }
        if active.isStreamed || active.held.count > Self.mostHeld {
            active.isStreamed = true
            flush(active)
        }
    }

    private func flush(_ active: ActivePage) {
        if lister.options.sums == .required {
            for index in active.held.indices { active.held[index].needsDigest = true }
        }
        if !active.held.isEmpty { sink.put(active.held) }
        active.held.removeAll(keepingCapacity: true)
    }

    private mutating func finish(_ active: ActivePage) throws(Failure) {
        if case .coded(let bytes) = active.content {
            guard let content = Gzip.decompress(bytes, limit: Int(IndexPage.limit)) else {
                throw Failure(
                    .badResponse, "cannot list", at: active.page.folder.address.redacted,
                    because: "its gzip data is damaged, or more than \(ByteQuantity.text(IndexPage.limit))")
            }
            active.content = .page(IndexPage(isMultistatus: active.isMultistatus))
            try feed(active, content)
        }
        switch active.content {
        case .page(var page):
            do throws(IndexFault) { take(try page.end(), active) } catch {
                throw Failure(
                    error.isCutOff ? .network : .badResponse, "cannot list all of",
                    at: active.page.folder.address.redacted, because: error.why)
            }
            // What is no index, or no whole one, proves of no file that it is gone.
            if !page.isIndex || !page.isWhole { sink.markPartial() }
        case .listing(var listing):
            take(listing.end(), active)
            skippedLinks += listing.skippedLinks
            if listing.unknown > 0 {
                sink.markPartial()
                sink.tell(
                    "\(listing.unknown) lines of the listing of \(active.page.folder.address.redacted) were not understood"
                )
            }
        case .coded: break
        }
        if lister.options.sums != .none, !active.isStreamed { readSums(on: active) }
        flush(active)
        do throws(Failure) { try walk.end(active.page) } catch { sink.refuse(error) }
    }

    /// Reads the sums files that a page names, before its files are given out: they state digests of these and of files below.
    private mutating func readSums(on page: ActivePage) {
        let names = Set(page.held.map { Bytewise($0.path) })
        let lists = page.held.filter { $0.kind != .folder && SidecarNames.isList($0.path.pathParts().last ?? "") }
        for entry in lists where sums.mayAdd {
            guard let address = try? WebAddress.parse(entry.address).address else { continue }
            let why: String
            do throws(Failure) {
                guard let bytes = try content(of: entry, at: address, on: page, names, isOnly: lists.count == 1) else {
                    continue
                }
                if sums.add(bytes, at: entry.path, of: address) { continue }
                why = "it is no sums file"
            } catch { why = error.why.description }
            sink.tell("the digests in \(entry.path) are not compared: \(why)")
        }
        for index in page.held.indices where page.held[index].kind != .folder {
            page.held[index] = stated(page.held[index], beside: names)
        }
    }

    /// The content of a sums file; `nil` if nothing more is wanted.
    private func content(
        of entry: CollectionEntry, at address: WebAddress, on page: ActivePage, _ names: Set<Bytewise<String>>,
        isOnly: Bool
    ) throws(Failure) -> [UInt8]? {
        let limit = SumsFile.longest + 1
        // A run that was here before has it.
        if let present = sink.content(of: entry, atMost: limit) { return present }
        // Of several, one may state the digest of another: that has to be known before the other has its name.
        var first = stated(entry, beside: names)
        first.needsDigest = lister.options.sums == .required
        guard isOnly, let file = sink.file(of: first) else { return try read(address, limit: limit) }
        page.held.removeAll { $0.path.hasSameBytes(as: entry.path) }
        switch file {
        case .file(let path):
            if let bytes = try? BoundedRead.file(path, atMost: limit, isRegular: true) { return bytes }
            return try read(address, limit: limit)
        // It was asked for as a file, in vain: its digests count all the same.
        case .other, .missing: return sink.isStopped ? nil : try read(address, limit: limit)
        }
    }

    /// An entry with what the sums files that were read state of it.
    private func stated(_ entry: CollectionEntry, beside names: Set<Bytewise<String>>) -> CollectionEntry {
        var entry = entry
        entry.digest = sums.digest(of: entry.path)
        // What a filter has left out may be there.
        let isKnown = entry.digest != nil || !lister.options.filter.isSelective
        guard lister.options.sums == .optional, isKnown else { return entry }
        entry.mayHaveSums = SidecarNames.own.contains { names.contains(Bytewise(entry.path + $0)) }
        return entry
    }

    /// The whole has failed if its first page cannot be read.
    private mutating func fail(_ page: TreeWalk.Page, _ error: Failure) throws(Failure) {
        walk.failed(page)
        guard page.folder.depth > 0 else { throw error }
        sink.refuse(error)
    }
}
