package import PawlBase
import PawlJournal
import PawlXML

/// Files with their sources and checksums: Metalink 4 (RFC 5854), and version 3, which is older and still in
/// use.
package struct Metalink: Hashable, Sendable {
    package struct File: Hashable, Sendable {
        /// The folders of its relative path, each with its own name where that is visible text.
        @Bytewise package var folders: [String]
        /// As written, also with a leading dot or a backslash, without what is invisible.
        @Bytewise package var name: String
        /// In bytes.
        package var size: Int64?
        /// The best one first.
        package var checksums: [Checksum]
        /// The digests of its pieces; those of the best algorithm.
        package var pieces: PieceHashes?
        /// The best one first; empty only if sources are not needed.
        package var sources: [Source]
        /// As written: language tags, names of operating systems, and a version.
        package var languages: [String] = []
        package var systems: [String] = []
        package var version: String?
    }

    package struct Source: Hashable, Sendable {
        package var address: WebAddress
        /// 1 is best.
        package var priority: Int
        /// The country as two letters in lower case; empty when unknown.
        package var location: String
    }

    /// At least one.
    package private(set) var files: [File]

    /// Why a text is no usable Metalink.
    package struct Fault: Error, Hashable, Sendable { package let words: String }

    private static let limits = XMLElement.Limits(length: 16 << 20, depth: 32, elements: 200_000)
    private static let mostFiles = 10_000

    /// Parses either version; relative addresses are resolved against `base`.
    ///
    /// A file without a usable URL, such as one with torrents only, is skipped if `needsSources`; its digests
    /// describe content that is there already.
    package init(_ bytes: [UInt8], base: WebAddress? = nil, needsSources: Bool = true) throws(Fault) {
        let root: XMLElement
        do throws(XMLElement.Fault) { root = try XMLElement.parse(bytes, within: Self.limits) } catch {
            throw Fault(words: error.words)
        }
        guard root.name == "metalink" else { throw Fault(words: "it is not a Metalink") }
        let isOld = root.child("files") != nil
        let elements = (isOld ? root.child("files") ?? root : root).children("file")
        guard elements.count <= Self.mostFiles else { throw Fault(words: "it lists more than \(Self.mostFiles) files") }
        files = []
        var places: Set<Bytewise<[String]>> = []
        for element in elements {
            let file = try Self.file(element, isOld: isOld, base: base)
            guard !needsSources || !file.sources.isEmpty else { continue }
            guard places.insert(Bytewise(file.folders + [file.name])).inserted else {
                throw Fault(words: "it lists the file \(Redaction.printable(file.name)) twice")
            }
            files.append(file)
        }
        guard !files.isEmpty else {
            throw Fault(words: needsSources ? "it lists no file with a usable URL" : "it lists no file")
        }
    }

    private static func file(_ element: XMLElement, isOld: Bool, base: WebAddress?) throws(Fault) -> File {
        let written = element.attributes["name"] ?? ""
        let parts = written.pathParts(keepsEmpty: true).map(String.init)
        // RFC 5854 §4.1.2.1: a name that leads out of its folder is rejected, not repaired; so is one that would on a
        // system where the backslash separates names.
        let places = written.unicodeScalars.split(omittingEmptySubsequences: false) { $0 == "/" || $0 == "\\" }
        guard let last = parts.last, !places.contains(where: { [[], ["."], [".", "."]].contains(Array($0)) }) else {
            throw Fault(words: "the file name \(Redaction.printable(written)) leads out of its folder")
        }
        let holder = isOld ? element.child("resources") : element
        var sources = (holder?.children("url") ?? []).compactMap { source($0, isOld: isOld, base: base) }
        // Sources of one priority stay in order.
        sources = sources.enumerated().sorted { ($0.element.priority, $0.offset) < ($1.element.priority, $1.offset) }
            .map(\.element)
        let verification = isOld ? element.child("verification") : element
        let hashes = verification?.children("hash") ?? []
        let checksums = Set(hashes.compactMap(checksum)).sorted { rank($0.algorithm) < rank($1.algorithm) }
        guard Set(checksums.map(\.algorithm)).count == checksums.count else {
            throw Fault(words: "it has different digests of the same algorithm for \(Redaction.printable(written))")
        }
        let size = try size(of: element, named: written)
        let listings = verification?.children("pieces") ?? []
        let pieces = listings.compactMap(Self.pieces)
        // Malformed digests of a supported algorithm are no lack of them, where nothing else proves the content.
        guard
            !checksums.isEmpty || !pieces.isEmpty || !(hashes + listings).contains(where: { algorithm(of: $0) != nil })
        else { throw Fault(words: "its digests of \(Redaction.printable(written)) are malformed") }
        let fitting =
            pieces
            // What contradicts the size is left out only where another digest proves the content.
            .filter { $0.fits(size ?? $0.longest) || checksums.isEmpty }
        return File(
            folders: parts.dropLast().map(FileName.given), name: FileName.given(last), size: size, checksums: checksums,
            pieces: fitting.min { rank($0.algorithm) < rank($1.algorithm) }, sources: sources,
            languages: element.children("language").map(\.trimmedText),
            systems: element.children("os").map(\.trimmedText), version: element.child("version").map(\.trimmedText))
    }

    private static func size(of element: XMLElement, named name: String) throws(Fault) -> Int64? {
        guard let stated = element.child("size")?.trimmedText, !stated.isEmpty else { return nil }
        guard let size = Array(stated.utf8).decimalNumber else {
            throw Fault(words: "its size of \(Redaction.printable(name)) is not a number")
        }
        return size
    }

    /// Unsupported protocols are skipped, as are torrents.
    private static func source(_ element: XMLElement, isOld: Bool, base: WebAddress?) -> Source? {
        let text = element.trimmedText
        let parsed = (try? WebAddress.parse(text))?.address
        guard let address = parsed ?? (text.isEmpty ? nil : try? base?.resolving(text)),
            element.attributes["type"] != "bittorrent"
        else { return nil }
        let stated = element.attributes[isOld ? "preference" : "priority"].flatMap { Int($0) }
        // Version 3 ranks from 0 up to 100 for the best.
        let priority = isOld ? 101 - min(100, max(0, stated ?? 0)) : max(1, stated ?? 999_999)
        return Source(
            address: address, priority: priority, location: (element.attributes["location"] ?? "").lowercased())
    }

    /// Digests in order; version 3 numbers them, from 0.
    private static func pieces(_ element: XMLElement) -> PieceHashes? {
        guard let algorithm = algorithm(of: element),
            let length = element.attributes["length"].flatMap({ Array($0.utf8).decimalNumber })
        else { return nil }
        let listed = element.children("hash")
        let numbers = listed.enumerated().map { $1.attributes["piece"].flatMap { Int($0) } ?? $0 }
        let ordered = zip(numbers, listed).sorted { $0.0 < $1.0 }
        guard ordered.map(\.0) == Array(ordered.indices) else { return nil }
        let digests = ordered.compactMap { Hexadecimal.bytes($0.1.trimmedText) }
        guard digests.count == listed.count else { return nil }
        return PieceHashes(algorithm, length: length, digests: digests)
    }

    private static func algorithm(of element: XMLElement) -> HashAlgorithm? {
        let type = (element.attributes["type"] ?? "").lowercased()
        return HashAlgorithm.allCases.first { algorithm in
            algorithm.rawValue == type || algorithm.rawValue.filter { $0 != "-" } == type
        }
    }

    /// `sha-256` in version 4, `sha256` in version 3; unsupported algorithms are skipped.
    private static func checksum(_ element: XMLElement) -> Checksum? {
        guard let algorithm = algorithm(of: element), let digest = Hexadecimal.bytes(element.trimmedText),
            digest.count == algorithm.length
        else { return nil }
        return Checksum(algorithm: algorithm, digest: digest)
    }

    private static func rank(_ algorithm: HashAlgorithm) -> Int {
        HashAlgorithm.allCases.firstIndex(of: algorithm) ?? 0
    }
}

extension Metalink.File {
    /// The addresses, the best one first; those of the preferred protocol and place come before others of
    /// better priority.
    ///
    /// `places` are two letters each, separated by commas.
    package func sources(preferring scheme: String?, near places: String?) -> [WebAddress] {
        let places = (places ?? "").lowercased().split(separator: ",").map { String($0) }
        func rank(_ source: Metalink.Source) -> Int {
            (source.address.scheme.name == scheme ? 0 : 1) + (places.contains(source.location) ? 0 : 1)
        }
        return sources.enumerated().sorted { (rank($0.element), $0.offset) < (rank($1.element), $1.offset) }.map(
            \.element.address)
    }
}

extension FoundDigests {
    /// What a Metalink states about the file at `address`; empty if it describes other files only.
    package init(_ metalink: Metalink, of address: WebAddress, source: String) {
        self.init()
        guard let name = SidecarNames.name(of: address) else { return }
        let given = FileName.given(String(decoding: name, as: UTF8.self))
        let files = metalink.files.filter { $0.name.hasSameBytes(as: given) }
        guard files.count == 1 else { return }
        digests = files[0].checksums.map { ExpectedDigest($0, level: .origin, source: source) }
        sources = files[0].sources.map(\.address)
    }
}
