/// Turns permanent and redrawn lines into terminal control sequences (ECMA-48).
package struct FramePainter: Sendable {
    /// The lines on the screen now, with the cursor at the end of the last.
    private var drawn: [String] = []
    private let terminal: Terminal

    /// What the painter has to know about a terminal.
    package struct Terminal: Sendable, Hashable {
        package var takesColor: Bool
        /// Whether lines wrap anew when the width changes.
        package var reflows: Bool

        package init(takesColor: Bool = true, reflows: Bool = true) {
            self.takesColor = takesColor
            self.reflows = reflows
        }
    }

    package init(_ terminal: Terminal = Terminal()) { self.terminal = terminal }

    package init(_ state: TerminalState) {
        self.init(Terminal(takesColor: state.takesColor, reflows: state.reflows))
    }

    /// Replaces the display: `permanent` lines scroll up, `frame` is drawn below them.
    ///
    /// `width` is the current number of columns: after the terminal shrank, old lines wrap over several rows.
    package mutating func paint(permanent: [String], frame: [StyledLine], width: Int) -> String {
        var codes = goToTop(width: width)
        // Permanent lines may wrap: nothing of the old frame may show through behind them. Erasing at a line's end would
        // take the last character of one that is as wide as the terminal.
        if !permanent.isEmpty, !drawn.isEmpty { codes += "\u{1B}[J" }
        for line in permanent { codes += line + "\r\n" }
        codes += frame.map { $0.escaped(inColor: terminal.takesColor) + "\u{1B}[K" }.joined(separator: "\r\n")
        // Erases the rest of a longer previous frame.
        codes += "\u{1B}[J"
        drawn = frame.map(\.text)
        return codes
    }

    /// Leaves the drawn frame in place and moves to a new line for other output.
    package mutating func leave() -> String {
        defer { drawn = [] }
        return drawn.isEmpty ? "" : "\r\n"
    }

    private func goToTop(width: Int) -> String {
        guard !drawn.isEmpty else { return "" }
        let rows =
            terminal.reflows
            ? drawn.reduce(0) { $0 + TerminalText.rows(of: $1, width: width) } : drawn.count
        return rows > 1 ? "\r\u{1B}[\(rows - 1)A" : "\r"
    }
}
