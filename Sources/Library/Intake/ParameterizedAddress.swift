import PawlBase

/// Addresses with alternatives and sequences, as aria2's `--parameterized-uri` expands them: `{a,b}`, `[1-3]`,
/// `[001-100:2]`, `[a-z]`.
package enum ParameterizedAddress {
    /// Why a text cannot be expanded.
    package struct Fault: Error, Hashable, Sendable { package let words: String }

    /// Addresses of one text, at most.
    package static let most = 100_000
    /// Bytes of all of them together, at most.
    private static let mostBytes = 64 << 20

    /// All addresses in order; the last part varies fastest.
    ///
    /// Throws for an open bracket, a damaged sequence, and
    /// more than ``most`` addresses.
    package static func expand(_ text: String) throws(Fault) -> [String] {
        var results: [[UInt8]] = [[]]
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "{"):
                let body = try body(&rest, until: UInt8(ascii: "}"))
                let choices = body.split(separator: .comma).map(Array.init)
                guard !choices.isEmpty else { throw Fault(words: "empty {} is not allowed") }
                results = try product(results, choices)
            case UInt8(ascii: "["):
                results = try product(results, try sequence(try body(&rest, until: UInt8(ascii: "]"))))
            default:
                let plain = [byte] + rest.prefix { $0 != UInt8(ascii: "{") && $0 != UInt8(ascii: "[") }
                rest = rest.dropFirst(plain.count - 1)
                guard results.count * (results[0].count + plain.count) <= mostBytes else {
                    throw Fault(words: "its addresses are too long together")
                }
                for index in results.indices { results[index] += plain }
            }
        }
        return results.map { String(decoding: $0, as: UTF8.self) }
    }

    private static func body(_ rest: inout ArraySlice<UInt8>, until end: UInt8) throws(Fault) -> ArraySlice<UInt8> {
        guard let close = rest.firstIndex(of: end) else {
            throw Fault(words: "missing \(Character(Unicode.Scalar(end)))")
        }
        defer { rest = rest[(close + 1)...] }
        return rest[..<close]
    }

    private static func product(_ left: [[UInt8]], _ right: [[UInt8]]) throws(Fault) -> [[UInt8]] {
        let (count, overflow) = left.count.multipliedReportingOverflow(by: right.count)
        let bytes = (left.first?.count ?? 0) + (right.map(\.count).max() ?? 0)
        guard !overflow, count <= most, count * bytes <= mostBytes else {
            throw Fault(words: "it means more than \(most) addresses")
        }
        return left.flatMap { start in right.map { start + $0 } }
    }

    private static func sequence(_ body: ArraySlice<UInt8>) throws(Fault) -> [[UInt8]] {
        let fault = Fault(words: "invalid sequence [\(Redaction.printable(String(decoding: body, as: UTF8.self)))]")
        let parts = body.split(separator: .colon, omittingEmptySubsequences: false)
        let ends = parts[0].split(separator: .dash, omittingEmptySubsequences: false)
        let step = parts.count == 2 ? parts[1].decimalNumber : 1
        guard parts.count <= 2, ends.count == 2, let step, step > 0 else { throw fault }
        if let low = ends[0].decimalNumber, let high = ends[1].decimalNumber {
            guard low <= high, (high - low) / step < Int64(most) else { throw fault }
            return stride(from: low, through: high, by: Int(clamping: step)).map { number in
                let digits = Array(String(number).utf8)
                return Array(repeating: UInt8(ascii: "0"), count: max(0, ends[0].count - digits.count)) + digits
            }
        }
        let isLower = ends[0].first.map { $0 >= 97 } ?? false
        guard let low = alphabetic(ends[0]), let high = alphabetic(ends[1]), ends[0].count == ends[1].count,
            low <= high, isLower == (ends[1].first.map { $0 >= 97 } ?? false), (high - low) / step < Int64(most)
        else { throw fault }
        let base: UInt8 = isLower ? 97 : 65
        return stride(from: low, through: high, by: Int(clamping: step)).map { number in
            var (left, word) = (number, [UInt8](repeating: base, count: ends[0].count))
            for index in word.indices.reversed() {
                word[index] = base + UInt8(left % 26)
                left /= 26
            }
            return word
        }
    }

    /// A word of one case as a number of base 26; `nil` for anything else and for more than eight.
    private static func alphabetic(_ text: ArraySlice<UInt8>) -> Int64? {
        guard let first = text.first, 1...8 ~= text.count else { return nil }
        let base: UInt8 = first >= 97 ? 97 : 65
        var value: Int64 = 0
        for byte in text {
            guard byte >= base, byte < base + 26 else { return nil }
            value = value * 26 + Int64(byte - base)
        }
        return value
    }
}
