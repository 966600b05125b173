/// Text layout on a terminal.
package enum TerminalText {
    /// The width of the text in columns.
    package static func width(_ text: some StringProtocol) -> Int { text.reduce(0) { $0 + width($1) } }

    /// The width of one grapheme cluster in columns: 0, 1 or 2.
    package static func width(_ character: Character) -> Int {
        var columns = 0
        for scalar in character.unicodeScalars {
            // The emoji presentation of a character that is narrow otherwise.
            if scalar.value == 0xFE0F, columns > 0 { return 2 }
            columns = max(columns, width(scalar))
        }
        return columns
    }

    /// The text in lines of at most `columns` columns, broken between words; a longer word is broken within.
    package static func wrapped(_ text: String, to columns: Int) -> [String] {
        var lines: [String] = []
        var line = ""
        var used = 0
        for word in text.split(separator: " ") {
            let wide = width(word)
            if used > 0, used + 1 + wide <= columns {
                line += " " + word
                used += 1 + wide
                continue
            }
            if used > 0 { lines.append(line) }
            (line, used) = ("", 0)
            for character in word {
                let own = width(character)
                if used + own > columns, used > 0 {
                    lines.append(line)
                    (line, used) = ("", 0)
                }
                line.append(character)
                used += own
            }
        }
        return used > 0 || lines.isEmpty ? lines + [line] : lines
    }

    /// The text in lines of at most `columns` columns, broken between words only: a longer word, such as a URL, stays whole
    /// for the terminal to wrap, so that it can be copied.
    package static func folded(_ text: String, to columns: Int) -> [String] {
        guard width(text) > columns else { return [text] }
        var lines: [String] = []
        for word in text.split(separator: " ", omittingEmptySubsequences: false) {
            guard let line = lines.last, width(line) + 1 + width(word) <= columns else {
                lines.append(String(word))
                continue
            }
            lines[lines.count - 1] = line + " " + word
        }
        return lines
    }

    /// The number of rows that a line takes on a terminal: a wide character that does not fit at the end of a row begins
    /// the next.
    package static func rows(of text: String, width columns: Int) -> Int {
        var (rows, used) = (1, 0)
        for character in text {
            let next = width(character)
            if used + next > columns, used > 0 {
                rows += 1
                used = 0
            }
            used += next
        }
        return rows
    }

    /// The text truncated in the middle to at most `columns`.
    package static func shortened(_ text: String, to columns: Int, ellipsis: String) -> String {
        guard width(text) > columns else { return text }
        let available = columns - width(ellipsis)
        guard available >= 2 else { return String(prefix(of: text, columns: columns)) }
        // The end contains the extension and the number of a part: it gets the odd column.
        let head = prefix(of: text, columns: available / 2)
        let tail = prefix(of: String(text.reversed()), columns: available - width(head))
        return head + ellipsis + String(tail.reversed())
    }

    /// The text truncated at its end to at most `columns`.
    package static func cut(_ text: String, to columns: Int, ellipsis: String) -> String {
        guard width(text) > columns else { return text }
        return prefix(of: text, columns: max(0, columns - width(ellipsis))) + ellipsis
    }

    /// The text padded with spaces to exactly `columns`; it must not be longer.
    package static func padded(_ text: String, to columns: Int) -> String {
        text + String(repeating: " ", count: max(0, columns - width(text)))
    }

    /// The text padded with leading spaces.
    package static func rightAligned(_ text: String, to columns: Int) -> String {
        String(repeating: " ", count: max(0, columns - width(text))) + text
    }

    /// The text with control characters and bidirectional control characters replaced by U+FFFD.
    ///
    /// Names and messages may come from servers; an escape code in them must not reach the terminal.
    package static func harmless(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isHarmful) else { return text }
        var clean = String.UnicodeScalarView()
        for scalar in text.unicodeScalars { clean.append(isHarmful(scalar) ? "\u{FFFD}" : scalar) }
        return String(clean)
    }

    private static func prefix(of text: String, columns: Int) -> String {
        var taken = 0
        return String(
            text.prefix { character in
                taken += width(character)
                return taken <= columns
            })
    }

    private static func isHarmful(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F..<0xA0, 0x202A...0x202E, 0x2066...0x2069, 0x2028, 0x2029: true
        default: false
        }
    }

    private static func width(_ scalar: Unicode.Scalar) -> Int {
        if scalar.value >= 0x20 && scalar.value < 0x7F { return 1 }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format, .control: return 0
        default: break
        }
        // Vowels and finals of Hangul syllables written in parts join the first.
        if (0x1160...0x11FF).contains(scalar.value) { return 0 }
        if scalar.properties.isEmojiPresentation { return 2 }
        return wide.contains { $0.contains(scalar.value) } ? 2 : 1
    }

    /// East Asian Wide and Fullwidth, in the blocks that matter (Unicode Standard Annex 11).
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA000...0xA4CF,
        0xA960...0xA97C, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6,
        0x16FE0...0x18DFF, 0x1AFF0...0x1B2FF, 0x20000...0x3FFFD,
    ]
}
