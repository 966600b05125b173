/// Turns permanent and redrawn lines into terminal control sequences (ECMA-48).
///
/// A terminal may be resized at any time, also between two bytes of one redraw, and nobody says where the cursor is
/// then. What holds at all times: the cursor rests in the first row of the display, all rows from there on belong to
/// it, and what is above is never written again. The cursor goes up only by as many rows as line feeds led down.
package struct FramePainter: Sendable {
    /// The lines on the screen now.
    private var drawn: [StyledLine] = []
    /// Empty rows above them, from the cursor on.
    ///
    /// A terminal that becomes lower drops what is below the cursor before it pushes rows off its top, where they can
    /// never be erased.
    private var gap = 0
    private var lastWidth = 0
    private var lastScreen: Int?
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
    /// `width` is the current number of columns. With `height`, the frame is kept at the bottom of the screen, and
    /// permanent lines fill it from the top: terminals push as many rows off the top as wrapping adds, and what has left
    /// the screen cannot be erased. `screen` is the current number of rows.
    package mutating func paint(
        permanent: [String],
        frame: [StyledLine],
        width: Int,
        height: Int? = nil,
        screen: Int? = nil
    ) -> String {
        let isFirst = drawn.isEmpty
        let size = screen ?? height
        var room = isFirst ? height ?? 0 : room(width: width, screen: size)
        (lastWidth, lastScreen) = (width, size)
        // At once, though most redraws change little: line feeds scroll where the screen is lower than it is thought to
        // be, and what leaves it must be empty. A row that was wrapped stays joined with the next one until it is erased
        // as a whole.
        var codes = isFirst ? "" : FramePainter.erasure
        for line in permanent {
            codes += line + "\r\n"
            room -= TerminalText.rows(of: line, width: width)
        }
        gap = frame.isEmpty || height == nil ? 0 : max(0, min(room, height ?? 0) - frame.count)
        drawn = frame
        return codes + drawing(frame)
    }

    /// Leaves the drawn frame on the screen, without the empty rows above it, and moves to a new line for other output.
    ///
    /// `isEchoed`: the terminal has echoed a key at the cursor, such as `^Z`, over the first row.
    package mutating func leave(isEchoed: Bool = false) -> String {
        defer { (drawn, gap) = ([], 0) }
        guard let top = drawn.first?.escaped(inColor: terminal.takesColor) else { return "" }
        if gap > 0 {
            let lines = drawn.map { $0.escaped(inColor: terminal.takesColor) }.joined(separator: "\r\n")
            return FramePainter.erasure + "\u{1B}[?7l\(lines)\u{1B}[?7h\r\n"
        }
        let rows = room(width: lastWidth, screen: lastScreen)
        let mended = isEchoed ? "\r\u{1B}[2K\u{1B}[?7l\(top)\u{1B}[?7h" : ""
        return mended + (rows > 1 ? "\u{1B}[\(rows - 1)B" : "") + "\r\n"
    }

    /// Erases the screen from the first row of the display on.
    ///
    /// From the second column: some terminals keep the whole screen in their history when it is erased at once.
    private static let erasure = "\r\u{1B}[2K\u{1B}[C\u{1B}[J\r"

    /// Draws from the last row to the first, so that the cursor ends where it began, however far the terminal moves or
    /// wraps what is below it.
    ///
    /// Lines do not wrap: they may have been laid out for a wider terminal.
    private func drawing(_ frame: [StyledLine]) -> String {
        guard !frame.isEmpty else { return "" }
        var codes = String(repeating: "\n", count: gap + frame.count - 1) + "\u{1B}[?7l"
        for (index, line) in frame.enumerated().reversed() {
            codes += line.escaped(inColor: terminal.takesColor)
            codes += index > 0 ? "\r\u{1B}[A" : "\r"
        }
        return codes + (gap > 0 ? "\u{1B}[\(gap)A" : "") + "\u{1B}[?7h"
    }

    /// The most rows that there can be from the cursor to the end of the screen, at the size that it has now.
    ///
    /// With too many, rows above scroll off the screen; with too few, the frame is not at the bottom.
    private func room(width: Int, screen: Int?) -> Int {
        let rows =
            terminal.reflows
            ? drawn.reduce(0) { $0 + TerminalText.rows(of: $1.text, width: width) } : drawn.count
        guard let screen, let lastScreen else { return gap + rows }
        return min(gap + rows + max(0, screen - lastScreen), screen)
    }
}
