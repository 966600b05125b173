package import PawlBase

/// Splits text that was written for a shell into commands and their words: quotes, escapes and continued lines as in sh and
/// bash, and those of Windows' cmd where `^` shows that it is meant.
///
/// Nothing is expanded: text that needs a variable, a pipe or a file of the shell is refused.
package enum ShellWords {
    package static let longest = 1 << 20

    /// The commands, each with at least one word.
    package static func commands(in text: String) throws(Failure) -> [[String]] {
        guard text.utf8.count <= longest else { throw refusal(.init("command-too-long", "it is longer than 1 MiB")) }
        let bytes = Array(text.utf8)
        var parser = Parser(bytes, from: 0, to: bytes.count)
        parser.usesCarets = isForCmd(bytes[...])
        return try parser.run()
    }

    /// The commands of the line that begins at `start`, with those that continue it, and where that ends.
    static func line(of bytes: [UInt8], from start: Int) throws(Failure) -> (commands: [[String]], end: Int) {
        var parser = Parser(bytes, from: start, to: min(bytes.count, start + longest))
        // How a line is written shows in its first part.
        let first = bytes.firstIndex(of: .lineFeed, from: start).map { $0 + 1 } ?? bytes.count
        parser.usesCarets = isForCmd(bytes[start..<first])
        parser.endsWithLine = true
        let commands = try parser.run()
        return (commands, parser.position)
    }

    /// Whether a caret is before a quote, or at the end of a line.
    private static func isForCmd(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.indices.dropLast().contains { index in
            bytes[index] == .caret && [.quote, .lineFeed, .carriageReturn].contains(bytes[index + 1])
        }
    }

    fileprivate static let nested = LocalizableMessage("command-nested", "it contains another command")
    fileprivate static let openQuote = LocalizableMessage("command-open-quote", "a quote is not closed")

    fileprivate static func refusal(_ why: LocalizableMessage) -> Failure {
        Failure(
            .badOption, "cannot use", at: "the command", because: why,
            remedy: "paste the URL alone, or correct the command")
    }
}

extension UInt8 {
    fileprivate static let caret = UInt8(ascii: "^")
    fileprivate static let dollar = UInt8(ascii: "$")

    fileprivate var isWordByte: Bool { isLetter || isDigit || self == .underscore }
}

private struct Parser {
    private let bytes: [UInt8]
    private let end: Int
    var usesCarets = false
    /// Whether what follows the line of the first command is left.
    var endsWithLine = false
    private(set) var position: Int
    private var word: [UInt8]?
    private var words: [String] = []
    private var commands: [[String]] = []

    init(_ bytes: [UInt8], from start: Int, to end: Int) { (self.bytes, position, self.end) = (bytes, start, end) }

    private func peek(_ distance: Int = 0) -> UInt8? { position + distance < end ? bytes[position + distance] : nil }

    private mutating func append(_ byte: UInt8) {
        if word == nil { word = [] }
        word?.append(byte)
    }

    mutating func run() throws(Failure) -> [[String]] {
        while let byte = peek() {
            position += 1
            switch byte {
            case .lineFeed where endsWithLine:
                endCommand()
                return commands
            case .lineFeed, .carriageReturn, UInt8(ascii: ";"): endCommand()
            case UInt8(ascii: " "), UInt8(ascii: "\t"): endWord()
            case .caret where usesCarets: caret()
            case .quote: try quoted()
            case .apostrophe where !usesCarets: try literal()
            case .backslash where !usesCarets: escaped()
            case .dollar where !usesCarets: try dollar()
            case UInt8(ascii: "`") where !usesCarets: throw ShellWords.refusal(ShellWords.nested)
            case UInt8(ascii: "&") where isSeparator: endCommand()
            case .hash where word == nil && !usesCarets: skipLine()
            case UInt8(ascii: "|"), UInt8(ascii: ">"), UInt8(ascii: "<"):
                throw ShellWords.refusal(
                    .init("command-shell-operator", "\(String(Unicode.Scalar(byte))) is an operator of the shell"))
            case _: append(byte)
            }
        }
        endCommand()
        return commands
    }

    private mutating func endWord() {
        if let word { words.append(String(decoding: word, as: UTF8.self)) }
        word = nil
    }

    private mutating func endCommand() {
        endWord()
        if !words.isEmpty { commands.append(words) }
        words = []
    }

    private mutating func skipLine() { while let byte = peek(), byte != .lineFeed { position += 1 } }

    /// `&` between words; that of a URL without quotes belongs to the URL.
    private var isSeparator: Bool {
        guard let next = peek() else { return true }
        return word == nil || next.isWhiteSpace || next == UInt8(ascii: "&") || next == .lineFeed
            || next == .carriageReturn
    }

    /// Skips a line break; `false` if there is none.
    private mutating func skipBreak() -> Bool {
        if peek() == .carriageReturn, peek(1) == .lineFeed { position += 1 }
        guard peek() == .lineFeed || peek() == .carriageReturn else { return false }
        position += 1
        return true
    }

    private mutating func escaped() {
        guard !skipBreak(), let next = peek() else { return }
        position += 1
        append(next)
    }

    /// A caret outside of quotes: the next byte is itself, but a quote still quotes for the program.
    private mutating func caret() {
        if skipBreak() { return endWord() }
        guard let next = peek() else { return }
        if next == .quote {
            position += 1
            return quotedForProgram()
        }
        position += 1
        append(next)
    }

    /// `^"…^"`: cmd does not see the quotes, so carets escape in them; the program sees them, where `\"` is a quote.
    private mutating func quotedForProgram() {
        word = word ?? []
        while let byte = peek() {
            position += 1
            var next = byte
            var isEscaped = false
            if byte == .caret, let after = peek() {
                if skipBreak() {
                    append(.lineFeed)
                    continue
                }
                position += 1
                (next, isEscaped) = (after, true)
            }
            if next == .quote, isEscaped || byte == .quote { return }
            guard next == .backslash else {
                append(next)
                continue
            }
            // A backslash before a quote, each with its caret or without.
            let distance = peek() == .caret ? 1 : 0
            if peek(distance) == .quote || peek(distance) == .backslash, let literal = peek(distance) {
                position += distance + 1
                append(literal)
            } else {
                append(.backslash)
            }
        }
    }

    private mutating func literal() throws(Failure) {
        word = word ?? []
        while let byte = peek() {
            position += 1
            if byte == .apostrophe { return }
            append(byte)
        }
        throw ShellWords.refusal(ShellWords.openQuote)
    }

    private mutating func quoted() throws(Failure) {
        word = word ?? []
        while let byte = peek() {
            position += 1
            switch byte {
            case .quote: return
            case .backslash:
                guard let next = peek() else { continue }
                if !usesCarets, skipBreak() { continue }
                let isSpecial =
                    next == .quote || next == .backslash
                    || !usesCarets && (next == .dollar || next == UInt8(ascii: "`"))
                if isSpecial { position += 1 }
                append(isSpecial ? next : .backslash)
            case .dollar where !usesCarets: try variable()
            case UInt8(ascii: "`") where !usesCarets: throw ShellWords.refusal(ShellWords.nested)
            case _: append(byte)
            }
        }
        throw ShellWords.refusal(ShellWords.openQuote)
    }

    private mutating func dollar() throws(Failure) {
        switch peek() {
        case .apostrophe:
            position += 1
            try ansiQuoted()
        case .quote:
            position += 1
            try quoted()
        case _: try variable()
        }
    }

    private mutating func variable() throws(Failure) {
        if let next = peek(), next.isWordByte || "{(".utf8.contains(next) {
            throw ShellWords.refusal(.init("command-variable", "it contains a variable, which only the shell knows"))
        }
        append(.dollar)
    }

    /// `$'…'` (POSIX.1-2024 §2.2.4).
    private mutating func ansiQuoted() throws(Failure) {
        word = word ?? []
        while let byte = peek() {
            position += 1
            if byte == .apostrophe { return }
            guard byte == .backslash, let next = peek() else {
                append(byte)
                continue
            }
            position += 1
            escape(next)
        }
        throw ShellWords.refusal(ShellWords.openQuote)
    }

    private mutating func escape(_ next: UInt8) {
        switch next {
        case UInt8(ascii: "n"): append(.lineFeed)
        case UInt8(ascii: "r"): append(.carriageReturn)
        case UInt8(ascii: "t"): append(9)
        case UInt8(ascii: "a"): append(7)
        case UInt8(ascii: "b"): append(8)
        case UInt8(ascii: "e"), UInt8(ascii: "E"): append(27)
        case UInt8(ascii: "f"): append(12)
        case UInt8(ascii: "v"): append(11)
        case UInt8(ascii: "x"): append(UInt8(truncatingIfNeeded: number(digits: 2, radix: 16)))
        case UInt8(ascii: "u"): append(scalar: number(digits: 4, radix: 16))
        case UInt8(ascii: "U"): append(scalar: number(digits: 8, radix: 16))
        case UInt8(ascii: "0")...UInt8(ascii: "7"):
            position -= 1
            append(UInt8(truncatingIfNeeded: number(digits: 3, radix: 8)))
        case _: append(next)
        }
    }

    private mutating func number(digits: Int, radix: UInt32) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<digits {
            guard let digit = peek()?.hexValue, digit < radix else { break }
            value = value &* radix &+ UInt32(digit)
            position += 1
        }
        return value
    }

    private mutating func append(scalar: UInt32) {
        for byte in String(Unicode.Scalar(scalar) ?? "\u{FFFD}").utf8 { append(byte) }
    }
}
