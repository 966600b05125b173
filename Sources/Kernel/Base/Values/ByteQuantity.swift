/// Amounts of bytes in text; K, M, G and T are powers of 1024.
package enum ByteQuantity {
    /// Parses `1500`, `10K`, `1.5M`, `2g`, `10KiB`, `10KB`; fractions of a byte are cut off.
    ///
    /// `nil` when it is no amount or does not fit.
    package static func parse(_ text: String) -> Int64? {
        let bytes = Array(text.utf8).trimmed(\.isBlank)
        let whole = bytes.prefix(while: \.isDigit)
        var rest = bytes[whole.endIndex...]
        var fraction = rest[..<rest.startIndex]
        if rest.first == .dot {
            fraction = rest.dropFirst().prefix(while: \.isDigit)
            rest = rest[fraction.endIndex...]
        }
        guard !(whole.isEmpty && fraction.isEmpty), let unit = unit(rest.trimmed(\.isBlank)) else { return nil }
        // Half a byte is an error.
        guard fraction.allSatisfy({ $0 == 0x30 }) || unit > 1 else { return nil }
        guard let number = whole.isEmpty ? 0 : whole.decimalNumber else { return nil }
        let (product, overflow) = number.multipliedReportingOverflow(by: unit)
        let (sum, carry) = product.addingReportingOverflow(part(fraction, of: unit))
        return overflow || carry ? nil : sum
    }

    /// `999 B`, `1.40 MiB`, `12.3 MiB`: units of 1024, truncated, with at least three significant digits.
    package static func text(_ bytes: Int64) -> String {
        scaled(bytes, ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"])
    }

    /// `999 B/s`, `1.40 MiB/s`: the units of `text`, per second.
    package static func speed(_ bytesPerSecond: Int64) -> String {
        scaled(bytesPerSecond, ["B/s", "KiB/s", "MiB/s", "GiB/s", "TiB/s", "PiB/s", "EiB/s"])
    }

    private static func scaled(_ bytes: Int64, _ units: [String]) -> String {
        let amount = UInt64(max(0, bytes))
        guard amount >= 1024 else { return "\(amount) \(units[0])" }
        var (index, unit) = (1, UInt64(1024))
        while index < units.count - 1, amount / unit >= 1024 {
            index += 1
            unit *= 1024
        }
        let whole = amount / unit
        let decimals = whole < 10 ? 2 : whole < 100 ? 1 : 0
        guard decimals > 0 else { return "\(whole) \(units[index])" }
        let scale: UInt64 = decimals == 2 ? 100 : 10
        // Less than a whole unit, which is at most 2^60, times a hundred: more than 64 bits.
        let part = UInt64(UInt128(amount % unit) * UInt128(scale) / UInt128(unit))
        let digits = String(part)
        return "\(whole)." + String(repeating: "0", count: decimals - digits.count) + "\(digits) \(units[index])"
    }

    private static func unit(_ suffix: ArraySlice<UInt8>) -> Int64? {
        guard let letter = suffix.first?.lowercased else { return 1 }
        let tail = suffix.dropFirst()
        if letter == UInt8(ascii: "b"), tail.isEmpty { return 1 }
        guard tail.isEmpty || tail.isCaseInsensitively("b") || tail.isCaseInsensitively("ib") else { return nil }
        switch letter {
        case UInt8(ascii: "k"): return 1 << 10
        case UInt8(ascii: "m"): return 1 << 20
        case UInt8(ascii: "g"): return 1 << 30
        case UInt8(ascii: "t"): return 1 << 40
        default: return nil
        }
    }

    /// The digits after the point as bytes of `unit`; eighteen represent each byte of a tebibyte.
    private static func part(_ fraction: ArraySlice<UInt8>, of unit: Int64) -> Int64 {
        var numerator: Int128 = 0
        var denominator: Int128 = 1
        for digit in fraction.prefix(18) {
            numerator = numerator * 10 + Int128(digit - 0x30)
            denominator *= 10
        }
        return Int64(numerator * Int128(unit) / denominator)
    }
}

extension Int64 {
    /// The sum of untrusted amounts: an overflow is the greatest value.
    package func addingClamped(_ other: Int64) -> Int64 {
        let (sum, overflows) = addingReportingOverflow(other)
        return overflows ? (other < 0 ? .min : .max) : sum
    }
}
