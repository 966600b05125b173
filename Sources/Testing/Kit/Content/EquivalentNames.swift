/// Names that Swift's equality of strings takes for one, and that are two on disk: canonically equivalent texts
/// (Unicode Standard Annex 15).
package enum EquivalentNames {
    package static let pairs: [(String, String)] = [
        // One scalar, and two with a combining mark (NFC, NFD).
        ("caf\u{E9}.bin", "cafe\u{301}.bin"),
        // Units of physics and the ordinary characters: Kelvin, Angstrom, Ohm.
        ("K.bin", "\u{212A}.bin"), ("\u{C5}.bin", "\u{212B}.bin"), ("\u{3A9}.bin", "\u{2126}.bin"),
        // A syllable, and the jamo that it consists of.
        ("\u{AC00}.bin", "\u{1100}\u{1161}.bin"), ("\u{AC01}", "\u{AC00}\u{11A8}"),
        // Two marks in either order: as many bytes.
        ("q\u{323}\u{307}", "q\u{307}\u{323}"),
        // A compatibility ideograph.
        ("\u{8C48}.bin", "\u{F900}.bin"),
        // ASCII that is a singleton of another scalar.
        ("a;b", "a\u{37E}b"), ("a`b", "a\u{1FEF}b"),
        // A mark at the beginning belongs to the slash or space before it.
        ("\u{301}\u{323}x", "\u{323}\u{301}x"),
    ]
}
