import Testing

@testable import PawlTerminal

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
        #expect(readable(painter.paint(permanent: [], frame: frame("a", "b"), width: 80)) == "/^?7lb<^Aa<^?7h")
        #expect(readable(painter.paint(permanent: [], frame: frame("c"), width: 80)) == "<^2K^C^J<^?7lc<^?7h")
        #expect(readable(painter.paint(permanent: [], frame: frame("d"), width: 80)) == "<^2K^C^J<^?7ld<^?7h")
        #expect(readable(painter.paint(permanent: [], frame: [], width: 80)) == "<^2K^C^J<")
        #expect(readable(painter.paint(permanent: [], frame: [], width: 80)) == "")
    }

    @Test func `permanent lines scroll up above the frame`() {
        var painter = FramePainter()
        _ = painter.paint(permanent: [], frame: frame("a", "b"), width: 80)
        #expect(
            readable(painter.paint(permanent: ["done"], frame: frame("b"), width: 80)) == "<^2K^C^J<done</^?7lb<^?7h")
    }

    private let screen = FramePainter.Screen(rows: 6, narrowest: 3)

    @Test func `lines that can wrap have empty rows above them until permanent lines are there`() {
        var painter = FramePainter()
        func painted(_ permanent: [String], _ lines: StyledLine...) -> String {
            readable(painter.paint(permanent: permanent, frame: lines, width: 80, screen: screen))
        }
        let (long, short) = (frame("1234")[0], frame("b")[0])
        #expect(painted([], long, short) == "//^?7lb<^A1234<^1A^?7h")
        #expect(painted([], long, long) == "<^2K^C^J<///^?7l1234<^A1234<^2A^?7h")
        #expect(painted(["one"], long, short) == "<^2K^C^J<one<//^?7lb<^A1234<^?7h")
        #expect(painted(["two"], short) == "<^2K^C^J<two</^?7lb<^?7h")
        #expect(painted(["three"]) == "<^2K^C^J<three</")
    }

    @Test func `a terminal that cuts its lines off needs no empty rows`() {
        var painter = FramePainter(FramePainter.Terminal(reflows: false))
        let codes = painter.paint(permanent: [], frame: frame("1234", "b"), width: 80, screen: screen)
        #expect(readable(codes) == "/^?7lb<^A1234<^?7h")
    }

    @Test func `a frame that cannot wrap on the screen gets as many empty rows as there are`() {
        var painter = FramePainter()
        let codes = painter.paint(
            permanent: [], frame: frame("1234567", "1234567", "1234567"), width: 80, screen: screen)
        #expect(codes.unicodeScalars.count { $0 == "\n" } == 5)
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
        #expect(readable(painter.paint(permanent: [], frame: [line], width: 80)) == "^?7l##<^?7h")
    }

    @Test func `output of other programs in between is not overwritten`() {
        var painter = FramePainter()
        _ = painter.paint(permanent: [], frame: frame("a", "b"), width: 80)
        #expect(painter.leave() == "\u{1B}[1B\r\n")
        #expect(painter.leave() == "")
        #expect(readable(painter.paint(permanent: [], frame: frame("a"), width: 80)) == "^?7la<^?7h")
    }

    @Test func `what is left on the screen stands below what is above it`() {
        var painter = FramePainter()
        _ = painter.paint(permanent: [], frame: frame("1234", "b"), width: 80, screen: screen)
        #expect(readable(painter.leave()) == "<^2K^C^J<^?7l1234</b^?7h</")
        #expect(painter.leave() == "")
    }

    @Test func `a key that the terminal has echoed over the first row is not left there`() {
        var painter = FramePainter()
        _ = painter.paint(permanent: [], frame: frame("a", "b"), width: 80)
        #expect(readable(painter.leave(isEchoed: true)) == "<^2K^?7la^?7h^1B</")
        _ = painter.paint(permanent: [], frame: frame("1234", "b"), width: 80, screen: screen)
        #expect(readable(painter.leave(isEchoed: true)) == "<^2K^C^J<^?7l1234</b^?7h</")
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
