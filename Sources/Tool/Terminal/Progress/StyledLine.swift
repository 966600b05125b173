/// A line of styled text, without escape codes.
package struct StyledLine: Sendable, Hashable {
    package enum Style: Sendable, Hashable {
        case plain
        case done
        case faint
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
            switch span.style {
            case .plain: line += span.text
            case .done: line += "\u{1B}[32m" + span.text + "\u{1B}[m"
            case .faint: line += "\u{1B}[2m" + span.text + "\u{1B}[m"
            }
        }
    }
}
