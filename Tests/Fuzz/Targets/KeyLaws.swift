@testable import PawlTerminal

/// The keys of a terminal.
enum KeyLaws {
    static func check(_ input: inout FuzzInput) throws(BrokenLaw) {
        let cut = Int(input.byte())
        let bytes = input.rest()
        var reader = KeyReader()
        let keys = reader.keys(bytes)
        try hold(keys.count <= bytes.count, "more keys than bytes")
        for case .character(let character) in keys {
            try hold(character.isASCII && !character.isNewline, "a key that is not printable")
        }
        // An ESC at the end of what was read together is a key of its own.
        guard cut <= bytes.count, bytes[..<cut].last != 0x1B else { return }
        var pieces = KeyReader()
        try hold(pieces.keys(bytes[..<cut]) + pieces.keys(bytes[cut...]) == keys, "other keys in two pieces")
        // No beginning keeps later keys away for ever.
        let tail: [UInt8] = Array(repeating: 0x71, count: 32)
        try hold(reader.keys(tail).count >= 14, "keys are swallowed")
    }
}
