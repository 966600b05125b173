/// The arrangement of a help text: lines of at most `width` columns, of at least 20.
struct HelpLayout {
    /// The widest text; longer lines are hard to read.
    static let widest = 80

    let width: Int

    init(width: Int = HelpLayout.widest) { self.width = min(max(width, 20), Self.widest) }

    /// Where descriptions begin: beside their terms, or below them where there is little room.
    private var indent: Int { width < 72 ? 8 : 26 }

    /// A term with its description beside it; a long term takes lines of its own.
    func entry(_ head: String, _ words: String) -> String {
        let margin = String(repeating: " ", count: indent)
        let text = wrapped(words, width: width - indent).joined(separator: "\n" + margin) + "\n"
        if head.count < indent { return head + margin.dropFirst(head.count) + text }
        let blanks = String(head.prefix { $0 == " " })
        let others = max(blanks.count, min(indent, 8) - 2)
        let term = wrapped(String(head.drop { $0 == " " }), width: width - others)
        return blanks + term.joined(separator: "\n" + margin.prefix(others)) + "\n" + margin + text
    }

    /// `text` behind `first`; further lines are indented by as much.
    func paragraph(_ text: String, first: String = "") -> String {
        let margin = String(repeating: " ", count: first.count)
        return first + wrapped(text, width: width - first.count).joined(separator: "\n" + margin) + "\n"
    }

    /// A command line, which a backslash continues on the next line; its words are not cut.
    func command(_ line: String, indent: Int) -> String {
        let (indent, further) = width < 30 ? (2, 0) : (indent, 2)
        let margin = String(repeating: " ", count: indent)
        let room = width - indent
        guard line.count > room else { return margin + line + "\n" }
        let lines = Self.filled(line.split(separator: " ").map(String.init), width: room - further - 2)
        return margin + lines.joined(separator: " \\\n" + margin + String(repeating: " ", count: further)) + "\n"
    }

    private func wrapped(_ text: String, width: Int) -> [String] {
        Self.filled(Self.unbroken(text).flatMap { Self.pieces(of: $0, width: width) }, width: width)
    }

    /// The words of a text; a quotation counts as one word.
    private static func unbroken(_ text: String) -> [String] {
        var words: [String] = []
        var isOpen = false
        for word in text.split(separator: " ") {
            if isOpen { words[words.count - 1] += " " + word } else { words.append(String(word)) }
            let begins = word.drop { $0 == "(" || $0 == "[" }.hasPrefix("'")
            let marks = word.count { $0 == "'" }
            isOpen = isOpen ? marks == 0 : begins && marks == 1
        }
        return words
    }

    /// A word that is wider than a line, cut at its blanks, behind its signs or before a bracket.
    private static func pieces(of word: String, width: Int) -> [String] {
        guard word.count > width else { return [word] }
        if word.contains(" ") { return word.split(separator: " ").flatMap { pieces(of: String($0), width: width) } }
        let signs = Array(word)
        let end = (1...width).last { "|/,=:".contains(signs[$0 - 1]) || signs[$0] == "[" } ?? width
        return [String(signs[..<end])] + pieces(of: String(signs[end...]), width: width)
    }

    private static func filled(_ words: [String], width: Int) -> [String] {
        var lines = [""]
        for word in words {
            let last = lines[lines.count - 1]
            if last.isEmpty {
                lines[lines.count - 1] = word
            } else if last.count + 1 + word.count <= width {
                lines[lines.count - 1] += " " + word
            } else {
                lines.append(word)
            }
        }
        return lines
    }
}
