import Testing

@testable import PawlTerminal

@Suite struct KeyReaderTests {
    private func keys(_ text: String) -> [TerminalKey] {
        var reader = KeyReader()
        return reader.keys(text.utf8)
    }

    @Test(arguments: [
        ("\u{1B}[A", TerminalKey.up), ("\u{1B}OA", .up), ("\u{1B}[1;5A", .up), ("\u{1B}[B", .down),
        ("\u{1B}[5~", .pageUp), ("\u{1B}[6~", .pageDown), ("\u{1B}[H", .home), ("\u{1B}[1~", .home),
        ("\u{1B}[F", .end), ("\u{1B}[4~", .end), ("\r", .enter), ("p", .character("p")), ("\u{1B}", .escape),
    ]) func `a sequence is one key`(text: String, key: TerminalKey) { #expect(keys(text) == [key]) }

    @Test func `unknown sequences, control characters and other letters are no key`() {
        #expect(keys("\u{1B}[15~\u{1B}[?1x\u{1B}Op\u{1B}x\u{4}é海") == [])
        #expect(keys("\u{1B}[15~p") == [.character("p")])
        #expect(keys("\u{1B}\u{1B}[A") == [.escape, .up])
    }

    @Test func `a sequence may come in two pieces`() {
        var reader = KeyReader()
        #expect(reader.keys("a\u{1B}[1;".utf8) == [.character("a")])
        #expect(reader.keys("5Bq".utf8) == [.down, .character("q")])
        #expect(reader.keys("\u{1B}O".utf8) == [])
        #expect(reader.keys("A".utf8) == [.up])
    }

    @Test func `a sequence without an end does not swallow what follows`() {
        #expect(keys("\u{1B}[" + String(repeating: "1", count: 17) + "q") == [.character("q")])
    }
}
