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
    /// A terminal whose lines wrap anew pushes as many rows off its top as wrapping adds, where they can never be erased.
    /// There are as many rows above the frame as it can wrap to; these are the ones that finished lines do not provide.
    private var gap = 0
    /// The most rows that there can be from the cursor to the end of the screen; `nil` if that does not matter.
    private var room: Int?
    /// The latest permanent lines, which are directly above the cursor.
    private var above: [String] = []
    private var lastWidth = 0
    private var lastScreen = 0
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

    /// The size of a terminal.
    package struct Screen: Sendable, Hashable {
        package var rows: Int
        /// The width to which it may shrink without a row of the frame staying behind.
        package var narrowest: Int

        package init(rows: Int, narrowest: Int) {
            self.rows = rows
            self.narrowest = narrowest
        }
    }

    package init(_ terminal: Terminal = Terminal()) { self.terminal = terminal }

    package init(_ state: TerminalState) { self.init(Terminal(takesColor: state.takesColor, reflows: state.reflows)) }

    /// Replaces the display: `permanent` lines scroll up, `frame` is drawn below them.
    ///
    /// `width` is the current number of columns. With a `screen`, there are enough rows above the frame for it to wrap:
    /// permanent lines, or empty rows as long as there are too few of these.
    package mutating func paint(permanent: [String], frame: [StyledLine], width: Int, screen: Screen? = nil) -> String {
        let isFirst = drawn.isEmpty
        var rows = screen.map { isFirst ? $0.rows : mostRows(width: width, screen: $0.rows) } ?? frame.count
        // At once, though most redraws change little: line feeds scroll where the screen is lower than it is thought to
        // be, and what leaves it must be empty. A row that was wrapped stays joined with the next one until it is erased
        // as a whole.
        var codes = isFirst ? "" : FramePainter.erasure
        for line in permanent {
            codes += line + "\r\n"
            rows -= TerminalText.rows(of: line, width: width)
        }
        rows = max(rows, frame.count)
        gap = frame.isEmpty ? 0 : screen.map { gap(above: frame, width: width, rows: rows, $0) } ?? 0
        (drawn, room) = (frame, screen.map { min(rows, $0.rows) })
        (lastWidth, lastScreen) = (width, screen?.rows ?? 0)
        above = (above + permanent).suffix(lastScreen)
        return codes + drawing(frame)
    }

    /// The empty rows that are missing above a frame for it to wrap; `rows` are there for both.
    private func gap(above frame: [StyledLine], width: Int, rows: Int, _ screen: Screen) -> Int {
        guard terminal.reflows, screen.narrowest < width else { return 0 }
        let wrapped = frame.reduce(0) { $0 + TerminalText.rows(of: $1.text, width: screen.narrowest) }
        let missing = wrapped - frame.count - max(0, screen.rows - rows)
        return max(0, min(missing, min(rows, screen.rows) - frame.count))
    }

    /// Leaves the drawn frame on the screen, without the empty rows above it, and moves to a new line for other output.
    ///
    /// `isEchoed`: the terminal has echoed a key at the cursor, such as `^Z`, over the first row.
    package mutating func leave(isEchoed: Bool = false) -> String {
        defer { (drawn, gap, above) = ([], 0, []) }
        guard let top = drawn.first?.escaped(inColor: terminal.takesColor) else { return "" }
        if gap > 0 {
            let lines = drawn.map { $0.escaped(inColor: terminal.takesColor) }.joined(separator: "\r\n")
            return FramePainter.erasure + "\u{1B}[?7l\(lines)\u{1B}[?7h\r\n"
        }
        let rows = drawn.count
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
    /// With too many, there are empty rows above the frame that it does not need; with too few, rows of it may stay behind.
    private func mostRows(width: Int, screen: Int) -> Int {
        guard let room else { return screen }
        var rows = room + max(0, screen - lastScreen)
        if terminal.reflows {
            rows += drawn.reduce(0) { $0 + TerminalText.rows(of: $1.text, width: width) } - drawn.count
            if width > lastWidth { rows += rowsAboveLost(width: width) }
        }
        return min(rows, screen)
    }

    /// By how many rows those above become fewer in a wider terminal, which shows the ones that have left it at its top.
    private func rowsAboveLost(width: Int) -> Int {
        let known = above.reduce(0) { $0 + TerminalText.rows(of: $1, width: width) }
        return max(0, lastScreen - (room ?? 0) - known)
    }
}
