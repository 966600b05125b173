/// The fuzzer's bytes, handed out as the values that a law needs; past their end everything is zero or empty.
struct FuzzInput {
    private var left: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { left = bytes[...] }

    var isEmpty: Bool { left.isEmpty }

    mutating func byte() -> UInt8 { left.popFirst() ?? 0 }

    mutating func word() -> UInt64 { (0..<8).reduce(0) { word, _ in word << 8 | UInt64(byte()) } }

    /// A number that is small as often as it is large, so that both ends of a format are near.
    mutating func number() -> Int64 {
        let width = byte() & 7
        let word = (0...width).reduce(UInt64(0)) { word, _ in word << 8 | UInt64(byte()) }
        return Int64(word & UInt64(Int64.max))
    }

    mutating func flag() -> Bool { byte() & 1 == 1 }

    /// Everything up to the next zero byte, which separates two texts in seeds.
    mutating func part() -> [UInt8] {
        let part = left.prefix { $0 != 0 }
        left = left[part.endIndex...].dropFirst()
        return Array(part)
    }

    mutating func text() -> String { String(decoding: part(), as: UTF8.self) }

    /// All remaining bytes.
    mutating func rest() -> [UInt8] {
        defer { left = [] }
        return Array(left)
    }
}
