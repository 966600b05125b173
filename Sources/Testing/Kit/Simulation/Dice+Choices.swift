import PawlBase

extension Dice: RandomNumberGenerator {}

extension Dice {
    package mutating func chance(_ odds: Double) -> Bool { fraction() < odds }
    package mutating func below(_ limit: Int) -> Int { Int(next() % UInt64(limit)) }
    package mutating func number(_ range: ClosedRange<Int>) -> Int { range.lowerBound + below(range.count) }
    package mutating func bytes(_ range: ClosedRange<Int64>) -> Int64 {
        range.lowerBound + Int64(next() % UInt64(range.upperBound - range.lowerBound + 1))
    }
    package mutating func pick<Value>(_ values: [Value]) -> Value { values[below(values.count)] }
    /// Small numbers are as likely as large ones.
    package mutating func magnitude(_ limit: Int) -> Int {
        let bits = number(0...(Int.bitWidth - limit.leadingZeroBitCount))
        return min(limit, 1 + below(1 << bits))
    }
}
