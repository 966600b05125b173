import PawlBase

/// Addresses with alternatives and sequences, as aria2's `--parameterized-uri` expands them: `{a,b}`, `[1-3]`,
/// `[001-100:2]`, `[a-z]`; curl's are the same but for some details.
package enum ParameterizedAddress {
    /// Why a text cannot be expanded.
    package struct Fault: Error, Hashable, Sendable { package let words: String }

    /// Addresses of one text, at most.
    package static let most = 100_000
    /// Bytes of all of them together, at most.
    private static let mostBytes = 64 << 20

    /// An address, and what each alternative or sequence is in it.
    struct Expansion: Hashable, Sendable {
        fileprivate(set) var bytes: [UInt8] = []
        fileprivate(set) var values: [[UInt8]] = []

        var text: String { String(decoding: bytes, as: UTF8.self) }
    }

    private enum Form { case aria2, curl }

    private enum Part {
        case text([UInt8])
        case choices([[UInt8]])
    }

    /// All addresses in order; the last part varies fastest.
    ///
    /// Throws for an open bracket, a damaged sequence, and
    /// more than ``most`` addresses.
    package static func expand(_ text: String) throws(Fault) -> [String] {
        try product(of: try parts(of: text, .aria2)).map(\.text)
    }

    /// As curl expands them: a bracket or brace behind a backslash, `[]` and an IPv6 address are none of a pattern.
    static func expandedAsByCurl(_ text: String) throws(Fault) -> [Expansion] {
        try product(of: try parts(of: text, .curl))
    }

    private static func parts(of text: String, _ form: Form) throws(Fault) -> [Part] {
        var parts: [Part] = []
        var plain: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.first {
            if form == .curl, let literal = literal(at: rest) {
                // Without the backslash.
                plain += literal.first == .backslash ? literal.dropFirst() : literal
                rest = rest[literal.endIndex...]
                continue
            }
            rest = rest.dropFirst()
            let choices: [[UInt8]]
            switch byte {
            case UInt8(ascii: "{"):
                let body = try body(&rest, until: UInt8(ascii: "}"))
                choices = body.split(separator: .comma, omittingEmptySubsequences: form == .aria2).map(Array.init)
                guard !choices.isEmpty, !body.isEmpty else { throw Fault(words: "empty {} is not allowed") }
            case UInt8(ascii: "["): choices = try sequence(try body(&rest, until: UInt8(ascii: "]")))
            case _:
                if form == .curl, special.contains(byte) {
                    throw Fault(words: "\(Character(Unicode.Scalar(byte))) has no beginning")
                }
                plain.append(byte)
                continue
            }
            parts += [.text(plain), .choices(choices)]
            plain = []
        }
        return parts + [.text(plain)]
    }

    private static let special = Array("{}[]".utf8)

    /// What begins with a special character and is none of a pattern.
    private static func literal(at rest: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        if rest.first == .backslash {
            return rest.dropFirst().first.map(special.contains) == true ? rest.prefix(2) : nil
        }
        guard rest.first == UInt8(ascii: "["), let end = rest.firstIndex(of: UInt8(ascii: "]")) else { return nil }
        let body = rest[..<end].dropFirst()
        let isAddress = body.count { $0 == .colon } > 1
        return body.isEmpty || isAddress ? rest[...end] : nil
    }

    private static func product(of parts: [Part]) throws(Fault) -> [Expansion] {
        var results = [Expansion()]
        for part in parts {
            switch part {
            case .text(let plain):
                guard results.count * (results[0].bytes.count + plain.count) <= mostBytes else {
                    throw Fault(words: "its addresses are too long together")
                }
                for index in results.indices { results[index].bytes += plain }
            case .choices(let choices):
                let (count, overflow) = results.count.multipliedReportingOverflow(by: choices.count)
                let bytes = results[0].bytes.count + (choices.map(\.count).max() ?? 0)
                guard !overflow, count <= most, count * bytes <= mostBytes else {
                    throw Fault(words: "it means more than \(most) addresses")
                }
                results = results.flatMap { start in
                    choices.map { Expansion(bytes: start.bytes + $0, values: start.values + [$0]) }
                }
            }
        }
        return results
    }

    private static func body(_ rest: inout ArraySlice<UInt8>, until end: UInt8) throws(Fault) -> ArraySlice<UInt8> {
        guard let close = rest.firstIndex(of: end) else {
            throw Fault(words: "missing \(Character(Unicode.Scalar(end)))")
        }
        defer { rest = rest[(close + 1)...] }
        return rest[..<close]
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
