import Testing

@testable import PawlCommands

@Suite struct FramePainterTests {
    private func frame(_ texts: String...) -> [StyledLine] {
        texts.map { text in
            var line = StyledLine()
            line.append(text)
            return line
        }
    }

    private func readable(_ codes: String) -> String {
        // By scalars: CR LF is one Character.
        codes.unicodeScalars.reduce(into: "") { text, scalar in
            switch scalar {
            case "\u{1B}": text += "^"
            case "[": break
            case "\r": text += "<"
            case "\n": text += "/"
            default: text.unicodeScalars.append(scalar)
            }
        }
    }

    @Test func `a redraw returns to the first line and leaves nothing behind`() {
        var painter = FramePainter()
        #expect(readable(painter.paint(permanent: [], frame: frame("a", "b"), width: 80)) == "a^K</b^K^J")
        #expect(readable(painter.paint(permanent: [], frame: frame("c"), width: 80)) == "<^1Ac^K^J")
        #expect(readable(painter.paint(permanent: [], frame: [], width: 80)) == "<^2K")
        #expect(readable(painter.paint(permanent: [], frame: [], width: 80)) == "")
    }

    @Test func `permanent lines scroll up above the frame`() {
        var painter = FramePainter()
        _ = painter.paint(permanent: [], frame: frame("a", "b"), width: 80)
        #expect(
            readable(painter.paint(permanent: ["done"], frame: frame("b"), width: 80))
                == "<^1A^2K/^2K^1Adone</b^K^J"
        )
    }

    @Test func `after the terminal shrank, old lines count with all their rows`() {
        var painter = FramePainter()
        _ = painter.paint(permanent: [], frame: frame(String(repeating: "x", count: 79), "y"), width: 80)
        #expect(
            readable(painter.paint(permanent: [], frame: frame("z"), width: 30))
                == "<^3A^2K/^2K/^2K/^2K^3Az^K^J"
        )
    }

    @Test func `a terminal that cuts lines off has one row for each`() {
        var painter = FramePainter(FramePainter.Terminal(reflows: false))
        _ = painter.paint(permanent: [], frame: frame(String(repeating: "x", count: 79), "y"), width: 80)
        #expect(readable(painter.paint(permanent: [], frame: frame("z"), width: 30)) == "<^1A^2K/^2K^1Az^K^J")
    }

    @Test func `a display at the bottom of the screen is filled from the top`() {
        var painter = FramePainter()
        func painted(_ permanent: [String], _ lines: StyledLine...) -> String {
            readable(painter.paint(permanent: permanent, frame: lines, width: 80, height: 4))
        }
        let (a, b) = (frame("a")[0], frame("b")[0])
        #expect(painted([], a, b) == "///<^3A^2K</^2K</a^K</b^K^J")
        #expect(painted([], a, b) == "<^3A</</a^K</b^K^J")
        #expect(painted(["one"], a) == "<^3A^2K/^2K/^2K/^2K^3Aone</</</a^K^J")
        #expect(painted(["two"]) == "<^2A^2K/^2K/^2K^2Atwo</")
    }

    @Test func `rows that left a screen that became smaller are deleted when it grows again`() {
        var painter = FramePainter()
        let lines = frame("1", "2", "3", "4", "5")
        _ = painter.paint(permanent: [], frame: lines, width: 80, screen: 10)
        // Two rows are lost, and a permanent line is written below them.
        let small = readable(painter.paint(permanent: ["done"], frame: frame("a", "b"), width: 80, screen: 3))
        #expect(small == "<^2A^2K/^2K/^2K^2Adone</a^K</b^K^J")
        // The permanent line is on the screen again, and above it the two.
        let large = readable(painter.paint(permanent: [], frame: frame("a"), width: 80, screen: 10))
        #expect(large == "<^3A^1M^1A^1M^4B<^3Aa^K^J")
        #expect(readable(painter.paint(permanent: [], frame: frame("a"), width: 80, screen: 10)) == "<a^K^J")
    }

    @Test func `what left the screen is out of reach until the terminal grows`() {
        var painter = FramePainter()
        _ = painter.paint(permanent: [], frame: frame("1", "2", "3", "4"), width: 80, screen: 10)
        let small = readable(painter.paint(permanent: [], frame: frame("a"), width: 80, screen: 3))
        #expect(small == "<^2Aa^K^J")
        // Two empty rows are below the display, and nothing else is on the screen.
        #expect(readable(painter.paint(permanent: [], frame: frame("a"), width: 80, screen: 3)) == "<a^K^J")
        let large = readable(painter.paint(permanent: [], frame: frame("a"), width: 80, screen: 4))
        #expect(large == "<^1A^1M^1B<^1Aa^K^J")
    }

    @Test func `a line that left the screen in part counts with that part`() {
        #expect(TerminalText.heads(of: ["abcdef", "g"], rows: 1, width: 3) == ["abc"])
        #expect(TerminalText.heads(of: ["abcdef", "g"], rows: 3, width: 3) == ["abcdef", "g"])
        #expect(TerminalText.heads(of: ["", "g"], rows: 0, width: 3) == [])
    }

    @Test func `a wide character that does not fit begins the next row`() {
        #expect(TerminalText.rows(of: "ab海海海", width: 5) == 2)
        #expect(TerminalText.rows(of: "海海海海", width: 3) == 4)
        #expect(TerminalText.rows(of: "e\u{301}e\u{301}", width: 2) == 1)
        #expect(TerminalText.rows(of: "", width: 10) == 1)
        #expect(TerminalText.rows(of: "abcdef", width: 3) == 2)
    }

    @Test func `NO_COLOR takes the colours, not the bar`() {
        var painter = FramePainter(FramePainter.Terminal(takesColor: false))
        var line = StyledLine()
        line.append("##", .done)
        #expect(readable(painter.paint(permanent: [], frame: [line], width: 80)) == "##^K^J")
    }

    @Test func `output of other programs in between is not overwritten`() {
        var painter = FramePainter()
        _ = painter.paint(permanent: [], frame: frame("a", "b"), width: 80)
        #expect(painter.leave() == "\r\n")
        #expect(painter.leave() == "")
        #expect(readable(painter.paint(permanent: [], frame: frame("a"), width: 80)) == "a^K^J")
    }

    @Test func `colours end where they began`() {
        var line = StyledLine()
        line.append("n ")
        line.append("##", .done)
        line.append("--", .faint)
        #expect(readable(line.escaped()) == "n ^32m##^m^2m--^m")
        #expect(line.width == 6)
    }

    @Test func `trailing spaces are removed`() {
        var line = StyledLine()
        line.append("a ")
        line.append("b  ", .done)
        line.append("   ")
        line.trim()
        #expect(line.text == "a b")
        line = StyledLine()
        line.append("  ")
        line.trim()
        #expect(line.text == "")
    }

    @Test func `the cursor is hidden once and shown once`() {
        let cursor = CursorGuard()
        #expect(cursor.showingCode() == "")
        #expect(cursor.hidingCode() == "\u{1B}[?25l")
        #expect(cursor.hidingCode() == "")
        #expect(cursor.showingCode() == "\u{1B}[?25h")
        #expect(cursor.showingCode() == "")
    }
}
