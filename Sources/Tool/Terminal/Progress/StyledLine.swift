/// A line of styled text, without escape codes.
package struct StyledLine: Sendable, Hashable {
    package enum Style: Sendable, Hashable {
        case plain
        /// What has been done, and what is under way.
        case done
        case faint
        /// What waits, and goes on by itself.
        case waiting
        /// What has failed.
        case failed
        case strong
    }

    package var spans: [(text: String, style: Style)] { zip(texts, styles).map { ($0, $1) } }
    private var texts: [String] = []
    private var styles: [Style] = []

    package init() {}

    package mutating func append(_ text: String, _ style: Style = .plain) {
        guard !text.isEmpty else { return }
        texts.append(text)
        styles.append(style)
    }

    /// Appends a text, of which `part` says what has failed.
    package mutating func append(_ text: String, marking part: String?) {
        guard let part, let place = text.firstRange(of: part) else { return append(text) }
        append(String(text[..<place.lowerBound]))
        append(part, .failed)
        append(String(text[place.upperBound...]))
    }

    /// Removes trailing spaces: a terminal that reflows lines after a resize drops them as well.
    package mutating func trim() {
        while let last = texts.last {
            guard let end = last.lastIndex(where: { $0 != " " }) else {
                texts.removeLast()
                styles.removeLast()
                continue
            }
            texts[texts.count - 1] = String(last[...end])
            return
        }
    }

    /// The line without its colours.
    package var text: String { texts.joined() }
    /// Its width in columns.
    package var width: Int { texts.reduce(0) { $0 + TerminalText.width($1) } }

    /// The line with ECMA-48 colours, if they are wanted.
    package func escaped(inColor: Bool = true) -> String {
        guard inColor else { return text }
        return spans.reduce(into: "") { line, span in
            guard let code = span.style.code else {
                line += span.text
                return
            }
            line += "\u{1B}[\(code)m" + span.text + "\u{1B}[m"
        }
    }
}

extension StyledLine.Style {
    /// The parameter of SGR (ECMA-48, 8.3.117); `nil` for none.
    fileprivate var code: Int? {
        switch self {
        case .plain: nil
        case .done: 32
        case .faint: 2
        case .waiting: 33
        case .failed: 31
        case .strong: 1
        }
    }
}
