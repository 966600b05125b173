package import PawlBase

/// A list of digests with file names, as `sha256sum` writes it, or a single digest.
///
/// Each line that is none of the known forms is skipped. Only a name without `..` and not from the root names a file
/// beside the sums file.
package struct SumsFile: Hashable, Sendable {
    package struct Entry: Hashable, Sendable {
        package var checksum: Checksum
        /// The parts of the path, the file's name last.
        package var path: [[UInt8]]
        /// Whether the line names the algorithm.
        package var isTagged = false
    }

    package private(set) var entries: [Entry] = []
    /// The entries of absolute paths and of those with `..`: they name no file beside the sums file.
    package private(set) var outside: [Entry] = []
    /// The only digest of a file that names no file.
    package private(set) var bare: Checksum?
    private let notation: SumsNotation
    /// Those whose lines name the algorithm.
    private var tagged: Set<Checksum> = []

    /// The most bytes that a sums file may have; of a longer one nothing counts.
    package static let longest = 1 << 20
    private static let longestLine = 16 << 10

    /// Reads the lines; a clear-signed text (RFC 9580 §7) only between its marks.
    ///
    /// `name` is the sums file's, which may state the algorithm. `nil` for what is no sums file: too long, HTML or XML,
    /// without any digest of a supported algorithm.
    package init?(_ bytes: [UInt8], named name: some Sequence<UInt8> = []) {
        notation = SumsNotation(name)
        guard bytes.count <= Self.longest else { return nil }
        let text = UnicodeText.utf8(bytes)
        guard text.first(where: { !$0.isWhiteSpace }) != .less else { return nil }
        let signed = ClearSignedText(text)
        if signed == nil, ClearSignedText.isMarked(text[...]) { return nil }
        var unnamed: [Checksum] = []
        let lines = (signed?.text ?? text).split(separator: .lineFeed)
        for line in lines {
            guard let (entry, isOutside) = read(line, &unnamed) else { continue }
            if isOutside { outside.append(entry) } else { entries.append(entry) }
        }
        tagged = Set((entries + outside).filter(\.isTagged).map(\.checksum))
        let isUnnamed = entries.isEmpty && outside.isEmpty
        if isUnnamed, unnamed.count == 1 { bare = unnamed[0] }
        guard !isUnnamed || bare != nil else { return nil }
    }

    /// The entry of a line that names a file; a digest of no file is added to `unnamed`.
    private func read(_ line: ArraySlice<UInt8>, _ unnamed: inout [Checksum]) -> (Entry, isOutside: Bool)? {
        guard line.count <= Self.longestLine else { return nil }
        var line = line
        while line.last == .carriageReturn { line = line.dropLast() }
        if let (entry, isOutside) = entry(line) {
            if isOutside || entry.path != [[.dash]] { return (entry, isOutside) }
            unnamed.append(entry.checksum)
        } else if let checksum = digest(line.trimmed(\.isBlank)) {
            unnamed.append(checksum)
        }
        return nil
    }

    /// Lines that are neither understood nor empty nor a comment.
    package struct UnknownLines: Hashable, Sendable {
        /// That of the first, from 1.
        package let number: Int
        /// The beginning of the first.
        package let text: String
        package fileprivate(set) var count = 0

        fileprivate init(number: Int, text: String) { (self.number, self.text) = (number, text) }

        /// `text`, and how many follow.
        package var description: String { "'\(text)'" + (count > 1 ? ", and \(count - 1) more" : "") }
    }

    /// `nil` if there is none; `name` is the sums file's, as in ``init(_:named:)``.
    package static func unknownLines(of bytes: [UInt8], named name: some Sequence<UInt8> = []) -> UnknownLines? {
        let text = UnicodeText.utf8(Array(bytes.prefix(longest)))
        // The lines of a signature are none of the list, and those before it are counted otherwise.
        guard !ClearSignedText.isMarked(text[...]) else { return nil }
        let reader = SumsFile(notation: SumsNotation(name))
        let lines = text.split(separator: .lineFeed, omittingEmptySubsequences: false)
        var found: UnknownLines?
        for (index, line) in lines.enumerated() {
            var unnamed: [Checksum] = []
            let words = line.trimmed(\.isWhiteSpace)
            guard let first = words.first, first != UInt8(ascii: "#"), first != .semicolon else { continue }
            guard reader.read(line, &unnamed) == nil, unnamed.isEmpty else { continue }
            let shown = String(decoding: words.prefix(longestShown), as: UTF8.self)
            found = found ?? UnknownLines(number: index + 1, text: shown)
            found?.count += 1
        }
        return found
    }

    private static let longestShown = 60

    private init(notation: SumsNotation) { self.notation = notation }

    /// The digests that `checksum` may be as well, since neither its line nor the sums file's name states the algorithm.
    package func alternatives(to checksum: Checksum) -> [Checksum] {
        guard isGuessed(checksum) else { return [] }
        return checksum.algorithm.lookalikes.map { Checksum(algorithm: $0, digest: checksum.digest) }
    }

    /// Whether a line is one of `cksum` without `-a`: a CRC in decimal digits, the size, and the name.
    package static func hasPOSIXChecksums(_ bytes: [UInt8]) -> Bool {
        UnicodeText.utf8(bytes).split(separator: .lineFeed).contains { line in
            let words = line.split(maxSplits: 2, whereSeparator: \.isBlank)
            return words.count == 3 && words[0].count <= 10 && words[0].allSatisfy(\.isDigit)
                && words[1].allSatisfy(\.isDigit)
        }
    }

    /// Whether only the length tells the algorithm of a digest.
    package func isGuessed(_ checksum: Checksum) -> Bool {
        notation == .unstated && !tagged.contains(checksum)
    }

    /// The files that it names, in its order, each with its digests; without any where two of one algorithm contradict each other.
    package var files: [(path: [[UInt8]], checksums: [Checksum])] {
        var paths: [[[UInt8]]] = []
        var digests: [[[UInt8]]: Set<Checksum>] = [:]
        for entry in entries {
            if digests[entry.path] == nil { paths.append(entry.path) }
            digests[entry.path, default: []].insert(entry.checksum)
        }
        return paths.map { path in
            let found = digests[path] ?? []
            let isClear = found.count == Set(found.map(\.algorithm)).count
            return (path, isClear ? HashAlgorithm.allCases.flatMap { one in found.filter { $0.algorithm == one } } : [])
        }
    }

    /// The digests of the file called `name`, one of each algorithm; none at all where two of one algorithm contradict
    /// each other.
    ///
    /// An entry of the sums file's own folder (`NAME`, `./NAME`) precedes those of others. `isOwn`: the sums file
    /// belongs to this file alone, so it need not name it.
    package func checksums(of name: some Sequence<UInt8>, isOwn: Bool) -> [Checksum] {
        if isOwn, let bare { return [bare] }
        let name = Array(name)
        let named = entries.filter { $0.path.last == name }
        var found: [Checksum] = []
        for algorithm in HashAlgorithm.allCases {
            let fitting = named.filter { $0.checksum.algorithm == algorithm }
            let own = fitting.filter { $0.path.count == 1 }
            let digests = Set((own.isEmpty ? fitting : own).map(\.checksum))
            guard digests.count <= 1 else { return [] }
            found += digests
        }
        return found
    }

    /// Whether an entry has that name, in any folder.
    package func names(_ name: some Sequence<UInt8>) -> Bool {
        let name = Array(name)
        return entries.contains { $0.path.last == name }
    }

    private func entry(_ line: ArraySlice<UInt8>) -> (Entry, isOutside: Bool)? {
        let isEscaped = line.first == .backslash && notation != .nameFirst
        let line = isEscaped ? line.dropFirst() : line
        let tagged = Self.tagged(line)
        guard let (checksum, name) = notation == .nameFirst ? Self.nameFirst(line) : tagged ?? coreutils(line) else {
            return nil
        }
        guard let name = isEscaped ? Self.unescaped(name) : Array(name), let (path, isOutside) = Self.path(name) else {
            return nil
        }
        return (Entry(checksum: checksum, path: path, isTagged: tagged != nil), isOutside)
    }

    /// `NAME CRC`; a comment begins with a semicolon.
    private static func nameFirst(_ line: ArraySlice<UInt8>) -> (Checksum, ArraySlice<UInt8>)? {
        let text = line.trimmed(\.isBlank)
        let hex = text.suffix(2 * HashAlgorithm.crc32.length)
        let name = text[..<hex.startIndex]
        guard name.first != .semicolon, name.last?.isBlank == true, let checksum = Checksum(.crc32, hex: hex) else {
            return nil
        }
        return (checksum, name.trimmed(\.isBlank))
    }

    /// `HEX  NAME`, or `HEX *NAME` for a binary file; some tools separate by one blank, and `cksum --base64` writes Base64.
    private func coreutils(_ line: ArraySlice<UInt8>) -> (Checksum, ArraySlice<UInt8>)? {
        let digits = line.prefix { !$0.isBlank }
        guard let checksum = digest(digits), let blank = line[digits.endIndex...].first, blank.isBlank else {
            return nil
        }
        var name = line[(digits.endIndex + 1)...]
        if name.first == .space || name.first == .asterisk { name = name.dropFirst() }
        return name.isEmpty ? nil : (checksum, name)
    }

    /// `SHA256 (NAME) = HEX`, also as OpenSSL writes it: `SHA2-256(NAME)= HEX`; the digest may be in Base64.
    private static func tagged(_ line: ArraySlice<UInt8>) -> (Checksum, ArraySlice<UInt8>)? {
        let tag = line.prefix { $0.isLetter || $0.isDigit || $0 == .dash || $0 == .slash }
        guard let algorithm = HashAlgorithm(spelled: tag) else { return nil }
        let rest = line[tag.endIndex...].drop { $0 == .space }
        let text = rest.trimmed(\.isBlank)
        guard rest.first == UInt8(ascii: "("), let (checksum, start) = digest(algorithm, endOf: text) else {
            return nil
        }
        var name = text.dropFirst()[..<start]
        for end in [" = ", " =", "= ", "="] where name.suffix(end.utf8.count).elementsEqual(end.utf8) {
            name = name.dropLast(end.utf8.count)
            guard name.last == UInt8(ascii: ")"), name.count > 1 else { return nil }
            return (checksum, name.dropLast())
        }
        return nil
    }

    /// The digest at the end of a line, and where it begins.
    private static func digest(_ algorithm: HashAlgorithm, endOf text: ArraySlice<UInt8>) -> (Checksum, start: Int)? {
        let hex = text.suffix(2 * algorithm.length)
        if let checksum = Checksum(algorithm, hex: hex) { return (checksum, hex.startIndex) }
        let base64 = text.suffix((algorithm.length + 2) / 3 * 4)
        return Checksum(algorithm, base64: base64).map { ($0, base64.startIndex) }
    }

    private func digest(_ text: ArraySlice<UInt8>) -> Checksum? {
        if let algorithm = notation.algorithm(digits: text.count), let checksum = Checksum(algorithm, hex: text) {
            return checksum
        }
        // Shorter ones may be words.
        guard text.count >= Self.leastBase64, let digest = Base64.decodePadded(text) else { return nil }
        return notation.algorithm(digits: 2 * digest.count).map { Checksum(algorithm: $0, digest: digest) }
    }

    /// The length of an MD5 digest in Base64.
    private static let leastBase64 = 24

    /// A backslash, a line feed and a carriage return are escaped in lines that begin with a backslash.
    private static func unescaped(_ name: ArraySlice<UInt8>) -> [UInt8]? {
        var text: [UInt8] = []
        var rest = name
        while let byte = rest.popFirst() {
            guard byte == .backslash else {
                text.append(byte)
                continue
            }
            switch rest.popFirst() {
            case .backslash: text.append(.backslash)
            case UInt8(ascii: "n"): text.append(.lineFeed)
            case UInt8(ascii: "r"): text.append(.carriageReturn)
            case _: return nil
            }
        }
        return text
    }

    /// The parts of a path, and whether it leads out of its folder; `nil` for one that is no file's.
    private static func path(_ name: [UInt8]) -> ([[UInt8]], isOutside: Bool)? {
        guard !name.contains(0) else { return nil }
        var parts = name.pieces(between: .slash).map(Array.init)
        while parts.count > 1, parts[0] == [.dot] { parts.removeFirst() }
        let isOdd: ([UInt8]) -> Bool = { $0.isEmpty || $0 == [.dot] || $0 == [.dot, .dot] }
        guard let file = parts.last, !isOdd(file) else { return nil }
        guard parts.contains(where: isOdd) else { return (parts, false) }
        return (parts.filter { !$0.isEmpty && $0 != [.dot] }, true)
    }
}

// Digests as people paste them: also with the line of a sums file around them.
extension Checksum {
    /// Reads a digest in the forms of ``init(text:)``, or one line of a sums file.
    package init?(pasted text: String) {
        guard let read = Checksum(text: text) ?? Self.line(Array(text.utf8).trimmed(\.isWhiteSpace)) else { return nil }
        self = read
    }

    private static func line(_ text: ArraySlice<UInt8>) -> Checksum? {
        guard !text.contains(.lineFeed), let sums = SumsFile(Array(text)) else { return nil }
        let all = (sums.entries + sums.outside).map(\.checksum) + (sums.bare.map { [$0] } ?? [])
        return all.count == 1 ? all[0] : nil
    }

    /// Reads `TYPE=HEX,TYPE=HEX`, each in any of the forms; `nil` if one of them cannot be read.
    package static func list(_ text: String) -> [Checksum]? {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        let checksums = parts.compactMap { Checksum(pasted: String($0)) }
        if checksums.count == parts.count { return checksums }
        // The file's name in a line may have commas.
        return Checksum(pasted: text).map { [$0] }
    }
}
