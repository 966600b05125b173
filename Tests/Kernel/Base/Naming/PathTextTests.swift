import PawlBase
import PawlTestKit
import Testing

@Suite struct PathTextTests {
    @Test(
        arguments: [
            ([0x61, 0xFF, 0x62], "a\u{10FFFF}b", "a\u{FFFD}b"), ([0xC3, 0xBC], "ü", "ü"),
            ([0xE2, 0x82], "\u{10FFE2}\u{10FF82}", "\u{FFFD}"), ([], "", ""),
            // The bytes of a character that stands for a byte.
            ([0xF4, 0x8F, 0xBE, 0x80], "\u{10FFF4}\u{10FF8F}\u{10FFBE}\u{10FF80}", "\u{10FF80}"),
        ] as [([UInt8], String, String)]) func `every name has a text`(bytes: [UInt8], text: String, shown: String)
    {
        #expect(PathText.text(bytes) == text)
        #expect(PathText.bytes(text) == bytes)
        #expect(PathText.shown(text) == shown)
    }

    @Test func `the bytes of a text are those that it was made of`() {
        var dice = Dice(seed: 5)
        let units: [[UInt8]] = [
            [0x61], [0xC3, 0xBC], [0xFF], [0xE2], [0x82], [0xF4, 0x8F, 0xBC, 0x80], [0xF4, 0x8F], [0xED, 0xA0],
        ]
        for _ in 0..<5000 {
            let bytes = (0..<Int.random(in: 0..<12, using: &dice)).flatMap { _ in
                units[Int.random(in: 0..<units.count, using: &dice)]
            }
            #expect(PathText.bytes(PathText.text(bytes)) == bytes)
        }
    }
}
