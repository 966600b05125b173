package import PawlBase

extension Dice {
    package mutating func chance(_ hits: Int, in throwsCount: Int) -> Bool { number(1...throwsCount) <= hits }

    /// Bytes that are partly from `alphabet`, so that parsers get past their first check.
    package mutating func bytes(upTo limit: Int, from alphabet: String) -> [UInt8] {
        let letters = Array(alphabet.utf8)
        return (0..<Int.random(in: 0...limit, using: &self)).map { _ in
            Int.random(in: 0..<8, using: &self) == 0
                ? UInt8.random(in: 0...255, using: &self) : letters[Int.random(in: 0..<letters.count, using: &self)]
        }
    }

    /// `text` with a few bytes changed, dropped or duplicated.
    package mutating func damaged(_ text: String) -> [UInt8] {
        var bytes = Array(text.utf8)
        for _ in 0..<Int.random(in: 1...4, using: &self) where !bytes.isEmpty {
            let index = Int.random(in: 0..<bytes.count, using: &self)
            switch Int.random(in: 0..<3, using: &self) {
            case 0: bytes[index] = UInt8.random(in: 0...255, using: &self)
            case 1: bytes.remove(at: index)
            default: bytes.insert(bytes[index], at: index)
            }
        }
        return bytes
    }
}
