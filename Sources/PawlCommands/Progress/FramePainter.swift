/// Turns permanent and redrawn lines into terminal control sequences (ECMA-48).
package struct FramePainter: Sendable {
    /// Widths of the lines on the screen now, with the cursor at the end of the last.
    private var drawn: [Int] = []

    package init() {}

    /// Replaces the display: `permanent` lines scroll up, `frame` is drawn below them.
    ///
    /// `width` is the current number of columns: after the terminal shrank, old lines wrap over several rows.
    package mutating func paint(permanent: [String], frame: [StyledLine], width: Int) -> String {
        var codes = goToTop(width: width)
        for line in permanent { codes += line + "\u{1B}[K\r\n" }
        codes += frame.map { $0.escaped + "\u{1B}[K" }.joined(separator: "\r\n")
        // Erases the rest of a longer previous frame.
        codes += "\u{1B}[J"
        drawn = frame.map(\.width)
        return codes
    }

    /// Leaves the drawn frame in place and moves to a new line for other output.
    package mutating func leave() -> String {
        defer { drawn = [] }
        return drawn.isEmpty ? "" : "\r\n"
    }

    private func goToTop(width: Int) -> String {
        guard !drawn.isEmpty else { return "" }
        let rows = drawn.reduce(0) { $0 + max(1, ($1 + width - 1) / max(1, width)) }
        return rows > 1 ? "\r\u{1B}[\(rows - 1)A" : "\r"
    }
}
