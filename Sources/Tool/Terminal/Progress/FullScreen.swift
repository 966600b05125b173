/// Lines that fill the alternate screen of a terminal.
package enum FullScreen {
    /// The control sequences that draw the lines from the first row on, and leave nothing of the former ones.
    ///
    /// Lines do not wrap: they may have been laid out for a wider terminal.
    package static func drawing(_ lines: [StyledLine], inColor: Bool) -> String {
        let rows = lines.map { $0.escaped(inColor: inColor) + "\u{1B}[K" }
        return "\u{1B}[H\u{1B}[?7l" + rows.joined(separator: "\r\n") + "\u{1B}[J\u{1B}[?7h"
    }
}

extension StyledLine {
    /// The line with a text before it.
    package func after(_ text: String, _ style: Style = .plain) -> StyledLine {
        var line = StyledLine()
        line.append(text, style)
        for span in spans { line.append(span.text, span.style) }
        return line
    }
}
