import Testing

@testable import PawlTerminal

@Suite struct TerminalTextTests {
    @Test(arguments: [
        ("", 0), ("abc", 3), ("ä", 1), ("a\u{308}", 1), ("日本語", 6), ("ﾊﾝ", 2), ("한국", 4),
        ("\u{1112}\u{1161}\u{11AB}", 2), ("🙂", 2), ("👩‍👩‍👧", 2), ("❤", 1), ("❤\u{FE0F}", 2), ("a\u{200B}b", 2), ("🇸🇪", 2),
    ]) func `width counts columns, not characters`(text: String, columns: Int) {
        #expect(TerminalText.width(text) == columns)
    }

    @Test func `a name is shortened in the middle`() {
        func cut(_ columns: Int) -> String {
            TerminalText.shortened("debian-12.5.0-amd64-netinst.iso", to: columns, ellipsis: "…")
        }
        #expect(cut(31) == "debian-12.5.0-amd64-netinst.iso")
        #expect(cut(16) == "debian-…inst.iso")
        #expect(cut(3) == "d…o")
        #expect(cut(2) == "de")
        #expect(cut(1) == "d")
        #expect(cut(0) == "")
    }

    @Test func `a wide character is never split`() {
        for columns in 0...12 {
            let cut = TerminalText.shortened("日本語日本語.iso", to: columns, ellipsis: "…")
            #expect(TerminalText.width(cut) <= columns)
        }
        #expect(TerminalText.shortened("日本語日本語.iso", to: 10, ellipsis: "…") == "日本….iso")
    }

    @Test func `control characters never reach the terminal`() {
        #expect(TerminalText.harmless("a\u{1B}[31mb\u{9B}c\u{7F}\u{202E}d\n") == "a�[31mb�c��d�")
        #expect(TerminalText.harmless("日本 ä") == "日本 ä")
    }

    @Test func `padding fills columns`() {
        #expect(TerminalText.padded("日", to: 4) == "日  ")
        #expect(TerminalText.rightAligned("日", to: 4) == "  日")
        #expect(TerminalText.padded("long", to: 2) == "long")
    }

    @Test(arguments: [
        (
            120,
            ["pawl: cannot fetch http://host.example/a-long-name.iso: the server returned 404 Not Found; check the URL"]
        ),
        (
            80,
            [
                "pawl: cannot fetch http://host.example/a-long-name.iso: the server returned 404",
                "Not Found; check the URL",
            ]
        ),
        (
            50,
            [
                "pawl: cannot fetch", "http://host.example/a-long-name.iso: the server",
                "returned 404 Not Found; check the URL",
            ]
        ),
        (
            20,
            [
                "pawl: cannot fetch", "http://host.example/a-long-name.iso:", "the server returned",
                "404 Not Found; check",
                "the URL",
            ]
        ),
    ]) func `a sentence is broken between words, and a URL stays whole`(columns: Int, lines: [String]) {
        #expect(TerminalText.folded(lines.joined(separator: " "), to: columns) == lines)
    }
}
