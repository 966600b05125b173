/// Turns lines that stay and lines that are redrawn into the codes that a terminal obeys (ECMA-48).
package struct FramePainter: Sendable {
    /// Widths of the lines that stand on the screen now, the cursor at the end of the last.
    private var drawn: [Int] = []

    package init() {}

    /// Replaces the display: `permanent` lines scroll up, `frame` stands below them.
    ///
    /// `width` is the number of columns now: after the terminal shrank, old lines fill several rows.
    package mutating func paint(permanent: [String], frame: [StyledLine], width: Int) -> String {
        var codes = goToTop(width: width)
        for line in permanent { codes += line + "\u{1B}[K\r\n" }
        codes += frame.map { $0.escaped + "\u{1B}[K" }.joined(separator: "\r\n")
        // What stood below a display that has become shorter.
        codes += "\u{1B}[J"
        drawn = frame.map(\.width)
        return codes
    }

    /// Lets what is drawn stand, and goes to a line of its own: something else will write there.
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
