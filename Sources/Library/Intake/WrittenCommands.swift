// Commands in a text of people: behind a prompt, in a script, between sentences.
package import PawlBase

extension TransferCommand {
    /// The downloads of the commands in a text, and of its lines that have URLs only; `nil` for a text without a command.
    ///
    /// What cannot be done of a command is refused where it begins its line; a sentence may only look like one.
    package static func found(in text: String) throws(Failure) -> [InputEntry]? {
        guard Program.allCases.contains(where: { text.utf8.has(word: $0.rawValue) }) else { return nil }
        var finder = CommandFinder(Array(text.utf8))
        return try finder.run()
    }
}

extension String.UTF8View {
    /// A cheap look at texts that are mostly without it, which is found in upper case too.
    fileprivate func has(word: String) -> Bool {
        let word = Array(word.utf8)
        let found = unsafe withContiguousStorageIfAvailable { unsafe Self.has(word, in: UnsafeRawBufferPointer($0)) }
        if let found { return found }
        return unsafe Array(self).withUnsafeBytes { unsafe Self.has(word, in: $0) }
    }

    private static func has(_ word: [UInt8], in text: UnsafeRawBufferPointer) -> Bool {
        guard text.count >= word.count else { return false }
        for start in 0...(text.count - word.count) where unsafe text[start] | 0x20 == word[0] {
            let rest = unsafe UnsafeRawBufferPointer(rebasing: text[start..<start + word.count])
            if unsafe rest.elementsEqual(word, by: { $0.lowercased == $1 }) { return true }
        }
        return false
    }
}

private struct CommandFinder {
    private let bytes: [UInt8]
    private var position = 0
    private var entries: [InputEntry] = []
    private var hasCommand = false
    /// Of the first command without a URL, which counts where no other has one.
    private var refusal: Failure?

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func run() throws(Failure) -> [InputEntry]? {
        let isOnlyLine = bytes.split(separator: .lineFeed).count { !$0.allSatisfy(\.isWhiteSpace) } == 1
        while position < bytes.count {
            let end = bytes.firstIndex(of: .lineFeed, from: position) ?? bytes.count
            let line = bytes[position..<end]
            position = end + 1
            // In a list and in a script it is a comment, and alone it is the prompt of root.
            guard isOnlyLine || line.trimmed(\.isWhiteSpace).first != .hash else { continue }
            if try !takeCommand(in: line) { takeAddresses(line) }
        }
        if !hasCommand, let refusal { throw refusal }
        return hasCommand ? entries : nil
    }

    /// A line with nothing but URLs.
    private mutating func takeAddresses(_ line: ArraySlice<UInt8>) {
        let words = line.split(whereSeparator: \.isWhiteSpace).map { String(decoding: $0, as: UTF8.self) }
        guard words.allSatisfy({ BareAddress.hasScheme($0) && (try? WebAddress.parse($0)) != nil }) else { return }
        entries += words.map { InputEntry(addresses: [$0], line: 1) }
    }

    /// Whether the line has a command.
    private mutating func takeCommand(in line: ArraySlice<UInt8>) throws(Failure) -> Bool {
        var rest = line
        while let start = Self.start(in: rest) {
            let before = line[..<start]
            let isQuoted = before.last == .backtick
            let isSure = !isQuoted && Self.isPrompt(before)
            do throws(Failure) {
                // In backticks it ends with them.
                let code = isQuoted ? Array(line[start...].prefix { $0 != .backtick }) : bytes
                let (commands, end) = try ShellWords.line(of: code, from: isQuoted ? 0 : start)
                entries += try TransferCommand.entries(of: commands)
                hasCommand = true
                if !isQuoted { position = max(position, end) }
                return true
            } catch {
                if isSure, Self.hasAddress(line) { throw error }
                if isSure { refusal = refusal ?? error }
            }
            rest = line[start...].drop { !$0.isWhiteSpace }
        }
        return false
    }

    /// Where the first command begins: a program's name at the beginning of a word, and then an option or a URL.
    private static func start(in line: ArraySlice<UInt8>) -> Int? {
        var index = line.startIndex
        while index < line.endIndex {
            let word = line[index...].prefix { !isBoundary($0) }
            let rest = line[word.endIndex...]
            if !word.isEmpty, rest.first?.isBlank == true,
                TransferCommand.program(String(decoding: word, as: UTF8.self)) != nil, beginsArguments(rest)
            {
                return index
            }
            index = word.endIndex + 1
        }
        return nil
    }

    /// Prompts and quotations may be followed by a word without white space.
    private static func isBoundary(_ byte: UInt8) -> Bool { byte.isWhiteSpace || byte == .backtick || byte == .greater }

    private static func beginsArguments(_ text: ArraySlice<UInt8>) -> Bool {
        let word = text.drop(while: \.isBlank).prefix { !$0.isWhiteSpace && $0 != .backtick }
        guard let first = word.first else { return false }
        if first == .dash {
            return word.dropFirst().first.map { $0.isLetter || $0.isDigit || $0 == .dash || $0 == .hash } ?? false
        }
        if [.quote, .apostrophe, .backslash, UInt8(ascii: "$"), UInt8(ascii: "^")].contains(first) { return true }
        let text = String(decoding: word, as: UTF8.self)
        // A host alone may be a number of a version.
        return BareAddress.hasScheme(text) || BareAddress.hasNoScheme(text) && text.contains("/")
    }

    /// Whether what is before a command is no sentence: nothing, a prompt, the mark of a list, or `sudo`.
    private static func isPrompt(_ text: ArraySlice<UInt8>) -> Bool {
        guard let last = text.split(whereSeparator: \.isWhiteSpace).last else { return true }
        return last.elementsEqual("sudo".utf8) || last.elementsEqual("time".utf8)
            || [UInt8(ascii: "$"), .hash, .percent, .greater].contains(last.last)
            || last.count <= 3 && [.dash, .asterisk, .dot, UInt8(ascii: ")")].contains(last.last)
            // The mark of a list.
            || last.allSatisfy { !$0.isASCII }
    }

    private static func hasAddress(_ line: ArraySlice<UInt8>) -> Bool {
        let text = String(decoding: line, as: UTF8.self)
        return BareAddress.hasScheme(text)
            || text.split(separator: " ").contains { $0.contains("/") && BareAddress.hasNoScheme(String($0)) }
    }
}

extension UInt8 { fileprivate static let backtick = UInt8(ascii: "`") }
