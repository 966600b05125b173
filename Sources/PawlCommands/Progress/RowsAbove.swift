/// Lines above a screen that became smaller than the display: what remains of the display, and permanent lines.
///
/// When the terminal grows, it shows them again, above the display.
struct RowsAbove: Sendable, Hashable {
    private struct Line: Sendable, Hashable {
        var text: String
        var isStale: Bool
    }

    /// From the top.
    private var lines: [Line] = []
    /// The maximum number of lines to track; lines further up do not come back.
    private static let most = 1000

    /// Lines of the display left the screen.
    mutating func lose(_ texts: [String]) { lines += texts.map { Line(text: $0, isStale: true) } }

    /// A permanent line was written; it matters if something stale is above it.
    mutating func keep(_ text: String) {
        guard !lines.isEmpty else { return }
        lines.append(Line(text: text, isStale: false))
        if lines.count > RowsAbove.most { lines = [] }
    }

    /// The codes that delete the stale lines that are on the screen again.
    ///
    /// `room` is the number of rows of the display, which grows by the deleted ones, and `screen` that of the rows down to
    /// its last one, which has the cursor.
    mutating func deletion(above room: inout Int, width: Int, screen: Int) -> String {
        var codes = ""
        // Rows from the last one up to the line.
        var height = room
        var (deleted, position) = (0, 0)
        var index = lines.count
        while index > 0 {
            let rows = TerminalText.rows(of: lines[index - 1].text, width: width)
            guard height + rows <= screen else { break }
            index -= 1
            height += rows
            guard lines[index].isStale else { continue }
            // The lines below move up, the cursor stays.
            codes += "\u{1B}[\(height - 1 - position)A\u{1B}[\(rows)M"
            position = height - 1
            deleted += rows
            lines.remove(at: index)
        }
        if !lines.contains(where: \.isStale) { lines = [] }
        guard deleted > 0 else { return "" }
        room += deleted
        return "\r" + codes + "\u{1B}[\(position)B"
    }
}
