import PawlBase
import PawlCollections
import Testing

@Suite struct `Names of entries` {
    private func path(_ names: String...) throws(EntryFlaw) -> String {
        try EntryName.path(names.map { Array($0.utf8) })
    }

    @Test func `stay below the folder`() throws {
        #expect(try path("a", "b c.bin") == "a/b c.bin")
        for name in [".hidden", "back\\slash", "...", "-rf", "caf\u{E9}", "a\tb", String(repeating: "n", count: 255)] {
            #expect(try path("d", name) == "d/" + name)
        }
        for name in ["", ".", "..", "a/b", "/", "nul\0", "line\nend", "\u{1B}[2J", "\u{7F}"] {
            #expect(throws: EntryFlaw.self) { try path("d", name) }
        }
        #expect(throws: EntryFlaw.self) { try path(String(repeating: "n", count: 256)) }
        #expect(throws: EntryFlaw.self) {
            try EntryName.path((0..<20).map { _ in [UInt8](repeating: 0x61, count: 200) })
        }
    }

    @Test func `that are not UTF-8 are percent-encoded`() throws {
        #expect(try EntryName.path([[0x63, 0xE9]]) == "c%E9")
        // 100 such bytes need 300.
        #expect(throws: EntryFlaw.self) { try EntryName.path([[UInt8](repeating: 0xE9, count: 100)]) }
    }
}
