package import PawlBase

/// One file of an input file: its addresses and its own options.
package struct InputEntry: Hashable, Sendable {
    /// The addresses as written; the first is the source, the others are mirrors.
    package var addresses: [String]
    package var options: [InputOption] = []
    /// The line of the addresses, from 1.
    package var line: Int
    /// The digests of its pieces, from a Metalink.
    package var pieces: PieceHashes?

    package init(addresses: [String], options: [InputOption] = [], line: Int) {
        self.addresses = addresses
        self.options = options
        self.line = line
    }
}

/// `name=value` on a line of its own below the addresses.
package struct InputOption: Hashable, Sendable {
    package var name: String
    package var value: String
    package var line: Int

    package init(name: String, value: String, line: Int) {
        self.name = name
        self.value = value
        self.line = line
    }

    /// `content` has `=` at `equals`, or ends there.
    package init(_ content: ArraySlice<UInt8>, equals: Int, line: Int) {
        name = String(decoding: content[..<equals].trimmed(\.isWhiteSpace), as: UTF8.self)
        value = String(decoding: content[equals...].dropFirst().trimmed(\.isWhiteSpace), as: UTF8.self)
        self.line = line
    }
}

/// A list of downloads, in aria2's format: one file per line, its mirrors separated by TAB; lines that begin
/// with white space set options of the file above; `#` begins a comment line.
package enum InputFile {
    /// The most bytes of a line: more than all URLs of one file may have.
    package static let longestLine = 2 << 20

    /// Parses the whole list.
    ///
    /// `name` is the file's name in messages. Throws code 28 with the line.
    package static func parse(_ bytes: [UInt8], name: String = "the input file") throws(Failure) -> [InputEntry] {
        var entries: [InputEntry] = []
        try forEachLine(of: bytes) { (line, raw, content) throws(Failure) in
            guard content.first != .hash else { return }
            let position = Position(name: name, line: line)
            guard raw.count <= longestLine else { throw position.failure("it is longer than \(longestLine) bytes") }
            if raw.first?.isBlank == true {
                let option = try option(content, position)
                guard !entries.isEmpty else { throw position.failure("it sets an option before the first URL") }
                entries[entries.count - 1].options.append(option)
            } else {
                entries.append(InputEntry(addresses: addresses(content), line: line))
            }
        }
        return entries
    }

    /// Whether options are below a URL, as in no other text.
    static func hasOptions(_ bytes: [UInt8]) -> Bool {
        var above: ArraySlice<UInt8>?
        var found = false
        forEachLine(of: bytes) { _, raw, content in
            guard !found, content.first != .hash else { return }
            guard raw.first?.isBlank == true else {
                above = content
                return
            }
            let name = content.prefix { $0.isLetter || $0.isDigit || $0 == .dash }
            guard let line = above, !name.isEmpty, content[name.endIndex...].first == .equals else { return }
            found = addresses(line).allSatisfy { BareAddress.hasScheme($0) && !$0.utf8.has(\.isBlank) }
        }
        return found
    }

    /// Calls `body` with each line that has content: its number from 1, the line, and its content.
    package static func forEachLine<Failure: Error>(
        of bytes: [UInt8], _ body: (Int, ArraySlice<UInt8>, ArraySlice<UInt8>) throws(Failure) -> Void
    ) throws(Failure) {
        let bytes = UnicodeText.utf8(bytes)
        var (next, line) = (0, 0)
        while next <= bytes.count {
            let end = bytes.firstIndex(of: .lineFeed, from: next) ?? bytes.count
            let raw = bytes[next..<end]
            (next, line) = (end + 1, line + 1)
            let content = raw.trimmed(\.isWhiteSpace)
            if !content.isEmpty { try body(line, raw, content) }
        }
    }

    /// The addresses of a line; bytes that are not UTF-8 are percent-encoded, as requests send them.
    static func addresses(_ content: ArraySlice<UInt8>) -> [String] {
        let parts = content.contains(.tab) ? content.split(separator: .tab) : [content]
        return parts.compactMap { part in
            let part = part.trimmed(\.isWhiteSpace)
            return part.isEmpty ? nil : PercentCoding.text(part)
        }
    }

    private static func option(_ content: ArraySlice<UInt8>, _ position: Position) throws(Failure) -> InputOption {
        guard let text = String(validating: content, as: UTF8.self) else { throw position.failure("it is not UTF-8") }
        guard FieldText.isSafe(text) else { throw position.failure(FieldText.flaw) }
        guard let equals = content.firstIndex(of: .equals), equals > content.startIndex else {
            throw position.failure("an indented line must have the form name=value")
        }
        return InputOption(content, equals: equals, line: position.line)
    }

    private struct Position {
        var name: String
        var line: Int

        func failure(_ why: String) -> Failure {
            Failure(.badOption, "cannot use line \(line) of", at: name, because: why)
        }
    }
}
