/// Files with their sources and checksums: Metalink 4 (RFC 5854), and version 3, which is older and still in
/// use.
package struct Metalink: Hashable, Sendable {
    package struct File: Hashable, Sendable {
        /// The folders of its relative path, each with a safe name.
        package var folders: [String]
        /// A safe file name.
        package var name: String
        /// In bytes.
        package var size: Int64?
        /// The best one first.
        package var checksums: [Checksum]
        /// The best one first, at least one.
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
    package struct Fault: Error, Hashable, Sendable {
        package let words: String
    }

    private static let limits = XMLElement.Limits(length: 16 << 20, depth: 32, elements: 200_000)
    private static let mostFiles = 10_000

    /// Parses either version; relative addresses are resolved against `base`.
    package init(_ bytes: [UInt8], base: WebAddress? = nil) throws(Fault) {
        let root: XMLElement
        do throws(XMLElement.Fault) { root = try XMLElement.parse(bytes, within: Self.limits) } catch {
            throw Fault(words: error.words)
        }
        guard root.name == "metalink" else { throw Fault(words: "it is not a Metalink") }
        let isOld = root.child("files") != nil
        let elements = (isOld ? root.child("files") ?? root : root).children("file")
        guard elements.count <= Self.mostFiles else {
            throw Fault(words: "it lists more than \(Self.mostFiles) files")
        }
        files = []
        var places: Set<[String]> = []
        for element in elements {
            guard let file = try Self.file(element, isOld: isOld, base: base) else { continue }
            guard places.insert(file.folders + [file.name]).inserted else {
                throw Fault(words: "it lists the file \(Redaction.printable(file.name)) twice")
            }
            files.append(file)
        }
        guard !files.isEmpty else { throw Fault(words: "it lists no file with a usable URL") }
    }

    /// `nil` without a usable address.
    private static func file(_ element: XMLElement, isOld: Bool, base: WebAddress?) throws(Fault) -> File? {
        let written = element.attributes["name"] ?? ""
        let parts = written.unicodeScalars.split(omittingEmptySubsequences: false) { $0 == "/" || $0 == "\\" }
            .map { String($0) }
        // RFC 5854 §4.1.2.1: a name that leads out of its folder is rejected, not repaired.
        guard let last = parts.last, !parts.contains(where: { ["", ".", ".."].contains($0) }) else {
            throw Fault(
                words: "the file name \(Redaction.printable(written)) leads out of its folder"
            )
        }
        let holder = isOld ? element.child("resources") : element
        var sources = (holder?.children("url") ?? []).compactMap { source($0, isOld: isOld, base: base) }
        guard !sources.isEmpty else { return nil }
        // Sources of one priority stay in order.
        sources = sources.enumerated().sorted {
            ($0.element.priority, $0.offset) < ($1.element.priority, $1.offset)
        }.map(\.element)
        let hashes = (isOld ? element.child("verification") : element)?.children("hash") ?? []
        return File(
            folders: parts.dropLast().map(FileName.safe),
            name: FileName.safe(last),
            size: element.child("size").flatMap { Array($0.trimmedText.utf8).decimalNumber },
            checksums: hashes.compactMap(checksum).sorted { rank($0.algorithm) < rank($1.algorithm) },
            sources: sources,
            languages: element.children("language").map(\.trimmedText),
            systems: element.children("os").map(\.trimmedText),
            version: element.child("version").map(\.trimmedText)
        )
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
            address: address,
            priority: priority,
            location: (element.attributes["location"] ?? "").lowercased()
        )
    }

    /// `sha-256` in version 4, `sha256` in version 3; unsupported algorithms are skipped.
    private static func checksum(_ element: XMLElement) -> Checksum? {
        let type = (element.attributes["type"] ?? "").lowercased()
        guard
            let algorithm = HashAlgorithm.allCases.first(where: {
                $0.rawValue == type || $0.rawValue.filter { $0 != "-" } == type
            }), let digest = Hexadecimal.bytes(element.trimmedText), digest.count == algorithm.length
        else { return nil }
        return Checksum(algorithm: algorithm, digest: digest)
    }

    private static func rank(_ algorithm: HashAlgorithm) -> Int {
        HashAlgorithm.allCases.firstIndex(of: algorithm) ?? 0
    }
}

extension Checksum {
    /// `TYPE=HEX`, as in options.
    package var text: String { "\(algorithm.rawValue)=\(Hexadecimal.text(digest))" }
}

extension Metalink.File {
    /// The addresses, the best one first; those of the preferred protocol and place come before others of
    /// better priority.
    ///
    /// `places` are two letters each, separated by commas.
    package func sources(preferring scheme: String?, near places: String?) -> [WebAddress] {
        let places = (places ?? "").lowercased().split(separator: ",").map { String($0) }
        func rank(_ source: Metalink.Source) -> Int {
            (source.address.scheme.rawValue == scheme ? 0 : 1) + (places.contains(source.location) ? 0 : 1)
        }
        return sources.enumerated().sorted { (rank($0.element), $0.offset) < (rank($1.element), $1.offset) }
            .map(\.element.address)
    }
}
