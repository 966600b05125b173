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
        #expect(readable(painter.paint(permanent: [], frame: frame("a", "b"), width: 80)) == "a^K</b^K^J<^1A")
        #expect(readable(painter.paint(permanent: [], frame: frame("c"), width: 80)) == "^1B<^1Ac^K^J")
        #expect(readable(painter.paint(permanent: [], frame: [], width: 80)) == "<^2K")
        #expect(readable(painter.paint(permanent: [], frame: [], width: 80)) == "")
    }

    @Test func `permanent lines scroll up above the frame`() {
        var painter = FramePainter()
        _ = painter.paint(permanent: [], frame: frame("a", "b"), width: 80)
        #expect(
            readable(painter.paint(permanent: ["done"], frame: frame("b"), width: 80))
                == "^1B<^1A^2K/^2K^1Adone</b^K^J"
        )
    }

    @Test func `after the terminal shrank, old lines count with all their rows`() {
        var painter = FramePainter()
        _ = painter.paint(permanent: [], frame: frame(String(repeating: "x", count: 79), "y"), width: 80)
        #expect(
            readable(painter.paint(permanent: [], frame: frame("z"), width: 30))
                == "^3B<^3A^2K/^2K/^2K/^2K^3Az^K^J"
        )
    }

    @Test func `a terminal that cuts lines off has one row for each`() {
        var painter = FramePainter(FramePainter.Terminal(reflows: false))
        _ = painter.paint(permanent: [], frame: frame(String(repeating: "x", count: 79), "y"), width: 80)
        #expect(
            readable(painter.paint(permanent: [], frame: frame("z"), width: 30)) == "^1B<^1A^2K/^2K^1Az^K^J"
        )
    }

    @Test func `a display at the bottom of the screen is filled from the top`() {
        var painter = FramePainter()
        func painted(_ permanent: [String], _ lines: StyledLine...) -> String {
            readable(painter.paint(permanent: permanent, frame: lines, width: 80, height: 4))
        }
        let (a, b) = (frame("a")[0], frame("b")[0])
        #expect(painted([], a, b) == "///<^3A^2K</^2K</a^K</b^K^J<^1A")
        #expect(painted([], a, b) == "^1B<^3A</</a^K</b^K^J<^1A")
        #expect(painted(["one"], a) == "^1B<^3A^2K/^2K/^2K/^2K^3Aone</</</a^K^J")
        #expect(painted(["two"]) == "<^2A^2K/^2K/^2K^2Atwo</")
    }

    @Test func `rows that wrapping pushed off the screen are deleted when it grows again`() {
        var painter = FramePainter()
        let long = String(repeating: "x", count: 60)
        let lines = frame("1" + long, "2" + long, "3" + long)
        _ = painter.paint(permanent: [], frame: lines, width: 80, screen: 4)
        // They take six rows, so two are lost, and a permanent line is written below them.
        let small = readable(painter.paint(permanent: ["done"], frame: frame("a", "b"), width: 40, screen: 4))
        #expect(small == "^5B<^3A^2K/^2K/^2K/^2K^3Adone</a^K</b^K^J<^1A")
        // The permanent line is on the screen again, and above it the two.
        let large = readable(painter.paint(permanent: [], frame: frame("a"), width: 40, screen: 10))
        #expect(large == "^1B<^4A^2M^4B<^3Aa^K^J")
        #expect(readable(painter.paint(permanent: [], frame: frame("a"), width: 40, screen: 10)) == "<a^K^J")
    }

    @Test func `a screen that became lower dropped the rows below the cursor`() {
        var painter = FramePainter()
        let first = painter.paint(permanent: [], frame: frame("1", "2", "3", "4"), width: 80, screen: 10)
        #expect(readable(first).hasSuffix("4^K^J<^3A"), "the cursor is in the first row")
        // The terminal keeps that row: three rows are gone, and none of them is above the screen.
        let small = readable(painter.paint(permanent: [], frame: frame("a", "b"), width: 80, screen: 3))
        #expect(small == "<a^K</b^K^J<^1A")
        let large = readable(painter.paint(permanent: [], frame: frame("a"), width: 80, screen: 10))
        #expect(large == "^1B<^1Aa^K^J")
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
        #expect(painter.leave() == "\u{1B}[1B\r\n")
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
