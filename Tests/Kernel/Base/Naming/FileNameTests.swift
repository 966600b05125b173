import PawlBase
import PawlTestKit
import Testing

private func times(_ count: Int, _ text: String) -> String { String(repeating: text, count: count) }

struct FileNameTests {
    @Test(arguments: [
        ("a.txt", "a.txt"), ("a b (1).txt", "a b (1).txt"), ("日本.zip", "日本.zip"), ("a/b/c.txt", "c.txt"),
        ("a\\b\\c.txt", "c.txt"), ("../../etc/passwd", "passwd"), ("/", "download"), ("a/", "a"), ("..", "download"),
        (".", "download"), ("", "download"), ("a/..", "download"), ("...", "download"), (" ", "download"),
        ("---", "download"), (". -.- ", "download"), (".bashrc", "bashrc"), ("..a", "a"), ("-rf", "rf"),
        ("--help", "help"), (".-. a", "a"), ("a-b.c", "a-b.c"), (" a.txt ", "a.txt"), ("a.txt\u{A0}\u{3000}", "a.txt"),
        ("\u{2003}a", "a"), ("a\u{0}b.txt", "ab.txt"), ("a\nb\r\tc", "abc"), ("\u{1B}[31mred", "[31mred"),
        ("a\u{7F}\u{85}\u{9B}b", "ab"), ("\u{202E}txt.exe", "txt.exe"), ("a\u{2066}b\u{2069}c\u{200E}", "abc"),
        ("a\u{61C}b\u{200B}c\u{2060}d", "abcd"), ("a\u{AD}b\u{180E}c\u{206A}d\u{206F}e", "abcde"),
        ("a\u{34F}b\u{115F}c\u{3164}d\u{FFA0}e", "abcde"), ("a\u{200C}b\u{200D}c\u{FE0F}d\u{FFF9}e", "abcde"),
        ("a\u{E0061}b\u{E0100}c\u{17B4}d", "abcd"), ("\u{61C}\u{200D}", "download"),
        ("👨\u{200D}👩\u{200D}👧 ❤\u{FE0F}.txt", "👨\u{200D}👩\u{200D}👧 ❤\u{FE0F}.txt"), ("👨\u{200D}", "👨"),
        ("a\u{2028}b\u{2029}c", "abc"), ("\u{FEFF}a", "a"), ("\u{0}", "download"), ("\u{0}.hidden", "hidden"),
        ("\u{1}/x", "x"), ("a.txt \u{0} ", "a.txt"), ("a/\u{301}b", "\u{301}b"),
        ("a:b*c?d\"e<f>g|h", "a:b*c?d\"e<f>g|h"), ("👨‍👩‍👧.jpg", "👨‍👩‍👧.jpg"), ("a.", "a."), ("caf\u{FFFD}", "caf\u{FFFD}"),
        ("con", "con"), ("~", "~"),
    ]) func `B4 a name is sanitized`(_ suggestion: String, _ name: String) {
        #expect(FileName.safe(suggestion) == name)
        #expect(FileName.safe(name) == name)
    }

    @Test func `a long name is cut to 255 bytes and keeps its extension`() {
        #expect(FileName.safe(times(300, "a")) == times(255, "a"))
        #expect(FileName.safe(times(300, "a") + ".zip") == times(251, "a") + ".zip")
        #expect(FileName.safe(times(300, "a") + ".tar.gz") == times(248, "a") + ".tar.gz")
        #expect(FileName.safe(times(255, "a")) == times(255, "a"))
        #expect(FileName.safe(times(251, "a") + ".zip") == times(251, "a") + ".zip")
        // A suffix too long for an extension is not one.
        #expect(FileName.safe("a." + times(300, "b")) == "a." + times(253, "b"))
        #expect(FileName.safe("a. " + times(300, "b")) == "a. " + times(252, "b"))
    }

    @Test func `a cut never splits a character`() {
        #expect(FileName.safe(times(100, "日") + ".zip") == times(83, "日") + ".zip")
        #expect(FileName.safe(times(40, "👨‍👩‍👧")) == times(14, "👨‍👩‍👧"))
        #expect(FileName.safe(times(200, "é")).utf8.count == 254)
        // One endless character is cut between its scalars.
        let zalgo = FileName.safe("a" + times(200, "\u{301}") + ".zip")
        #expect(zalgo == "a" + times(125, "\u{301}") + ".zip")
    }

    @Test(arguments: [" ", "./", "-", "\u{301}", "\u{0}", "a ", "a."])
    func `a requested name of any length is cut in linear time`(_ part: String) {
        let name = FileName.safe("x" + times(500_000, part))
        #expect(1...255 ~= name.utf8.count)
        #expect(FileName.safe(times(500_000, part)).utf8.count <= 255)
    }

    @Test func `a cut leaves no trailing white space`() {
        #expect(FileName.safe(times(250, "a") + times(20, " ") + "b") == times(250, "a"))
    }

    @Test(arguments: [
        ("a.txt", 1, "a (1).txt"), ("a", 2, "a (2)"), ("a.tar.gz", 3, "a (3).tar.gz"), ("a.b.c", 1, "a.b (1).c"),
        ("a.TAR.XZ", 1, "a (1).TAR.XZ"), ("data.csv.zst", 1, "data (1).csv.zst"), ("v1.2.gz", 1, "v1.2 (1).gz"),
        ("tar.gz", 1, "tar (1).gz"), ("a.tar", 1, "a (1).tar"), ("Mr. Smith", 1, "Mr. Smith (1)"), ("a.", 1, "a. (1)"),
        ("日.zip", 12, "日 (12).zip"), ("a.txt", Int.max, "a (9223372036854775807).txt"), (".x", 1, ".x (1)"),
    ]) func `a number goes before the extension`(_ name: String, _ number: Int, _ result: String) {
        #expect(FileName.numbered(name, number) == result)
    }

    @Test func `a numbered name fits, too`() {
        #expect(FileName.numbered(times(251, "a") + ".zip", 10) == times(246, "a") + " (10).zip")
        #expect(FileName.numbered(times(255, "a"), 1) == times(251, "a") + " (1)")
        #expect(FileName.numbered(times(83, "日") + ".zip", 1) == times(82, "日") + " (1).zip")
        let taken = Set((1...20).map { FileName.numbered(times(255, "a"), $0) })
        #expect(taken.count == 20)
    }

    @Test(arguments: [FileName.Numbering.parenthesized, .dotted]) func `the name that was numbered is found again`(
        _ numbering: FileName.Numbering
    ) {
        for name in ["a.zip", "a.tar.gz", "a b (x).iso", "日本.txt"] {
            for number in [1, 2, 10, 16] {
                let numbered = FileName.numbered(name, number, as: numbering)
                let found = FileName.unnumbered(numbered, upTo: 16, as: numbering)
                #expect(found?.name == name && found?.number == number)
            }
            #expect(FileName.unnumbered(name, upTo: 16, as: numbering) == nil)
            #expect(FileName.unnumbered(FileName.numbered(name, 17, as: numbering), upTo: 16, as: numbering) == nil)
        }
        #expect(FileName.unnumbered(" (1).zip", upTo: 16) == nil)
    }

    @Test func `part file and journal are beside the file`() {
        #expect(FileName.partial(of: "a.zip") == "a.zip.part")
        #expect(FileName.journal(of: "a.zip") == "a.zip.pawl")
        #expect(FileName.damagedJournal(of: "a.zip") == "a.zip.pawl.bad")
        #expect(FileName.partial(of: times(250, "a")) == times(250, "a") + ".part")
    }

    @Test(arguments: 246...255) func `the part file's name is shortened if the name barely fits`(_ length: Int) {
        let name = times(length, "a")
        let other = times(length - 1, "a") + "b"
        let (part, journal) = (FileName.partial(of: name), FileName.journal(of: name))
        for text in [part, journal, FileName.damagedJournal(of: name)] { #expect(text.utf8.count <= 255) }
        #expect(part.dropLast(5) == journal.dropLast(5))
        #expect(part.hasSuffix(".part"))
        #expect(journal.hasSuffix(".pawl"))
        #expect(part == FileName.partial(of: name))
        #expect(part != FileName.partial(of: other))
        #expect(FileName.damagedJournal(of: name).hasSuffix(".pawl.bad"))
    }

    @Test func `a shortened part file name is the same on every machine and in every version`() {
        // The hash is FNV-1a of 255 letters a, computed independently.
        #expect(FileName.partial(of: times(255, "a")) == times(233, "a") + "~7b04934eeef462a6.part")
        #expect(String(FileName.partial(of: times(85, "日")).prefix(78)) == times(77, "日") + "~")
    }

    @Test func `every requested name becomes a name that all file systems accept`() {
        var dice = Dice(seed: 10)
        for round in 0..<20_000 {
            let limit = round % 50 == 0 ? 400 : 24
            let suggestion = String(decoding: dice.bytes(upTo: limit, from: "a.-/\\ \0\u{301}日👨‍👩.tar.gz"), as: UTF8.self)
            let name = FileName.safe(suggestion)
            #expect(FileName.safe(name) == name, "\(suggestion.debugDescription)")
            #expect(1...255 ~= name.utf8.count)
            #expect(!name.utf8.contains { $0 == 0x2F || $0 == 0x5C || $0 < 0x20 || $0 == 0x7F })
            #expect(name.utf8.first != 0x2E && name.utf8.first != 0x2D)
            for other in [FileName.numbered(name, round), FileName.partial(of: name), FileName.journal(of: name)] {
                #expect(other.utf8.count <= 255)
            }
            #expect(FileName.safe(FileName.numbered(name, round)) == FileName.numbered(name, round))
        }
    }
}
