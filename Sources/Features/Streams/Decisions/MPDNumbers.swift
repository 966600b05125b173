import PawlBase

/// Numbers, times and ranges in an MPD.
enum MPDNumbers {
    /// Ten years, in microseconds: nothing lasts longer.
    private static let longest: Int64 = 3650 * 86400 * 1_000_000

    static func number(_ text: String?) -> Int64? { text.flatMap { Array($0.utf8).decimalNumber } }

    /// A duration of XML Schema such as `PT1H2M3.5S`, in microseconds; years and months have no fixed length, and may only
    /// be 0.
    static func duration(_ text: String) -> Int64? {
        var rest = Array(text.utf8)[...]
        guard rest.popFirst() == UInt8(ascii: "P"), !rest.isEmpty else { return nil }
        var units = dateUnits
        var total: Int64 = 0
        while !rest.isEmpty {
            if rest.first == UInt8(ascii: "T") {
                guard units.first?.name != UInt8(ascii: "H"), rest.count > 1 else { return nil }
                rest = rest.dropFirst()
                units = timeUnits
                continue
            }
            let whole = rest.prefix(while: \.isDigit)
            rest = rest[whole.endIndex...]
            var fraction: ArraySlice<UInt8> = []
            if rest.first == .dot {
                fraction = rest.dropFirst().prefix(while: \.isDigit)
                rest = rest[fraction.endIndex...]
            }
            guard let letter = rest.popFirst(), let place = units.firstIndex(where: { $0.name == letter }),
                let number = whole.decimalNumber, fraction.isEmpty || letter == UInt8(ascii: "S")
            else { return nil }
            let unit = units[place].microseconds
            units = units[(place + 1)...]
            guard number <= longest / max(unit, 1), unit > 0 || number == 0 else { return nil }
            total += number * unit + microseconds(fraction)
            guard total <= longest else { return nil }
        }
        return total
    }

    private typealias Unit = (name: UInt8, microseconds: Int64)
    private static let dateUnits: ArraySlice<Unit> = [
        (UInt8(ascii: "Y"), 0), (UInt8(ascii: "M"), 0), (UInt8(ascii: "D"), 86400 * 1_000_000),
    ]
    private static let timeUnits: ArraySlice<Unit> = [
        (UInt8(ascii: "H"), 3600 * 1_000_000), (UInt8(ascii: "M"), 60 * 1_000_000), (UInt8(ascii: "S"), 1_000_000),
    ]

    private static func microseconds(_ fraction: ArraySlice<UInt8>) -> Int64 {
        let digits = fraction.prefix(6)
        return digits.reduce(0) { $0 * 10 + Int64($1 - 0x30) }
            * [1_000_000, 100_000, 10_000, 1000, 100, 10, 1][digits.count]
    }

    /// A date of XML Schema such as `2026-11-21T12:00:00.5Z`; without a zone it is in UTC.
    static func date(_ text: String) -> UnixTime? {
        let bytes = Array(text.utf8)
        guard bytes.count >= 19, bytes[4] == .dash, bytes[7] == .dash, bytes[10] == UInt8(ascii: "T"),
            bytes[13] == .colon, bytes[16] == .colon, let year = bytes[0..<4].decimalNumber,
            let month = bytes[5..<7].decimalNumber, let day = bytes[8..<10].decimalNumber,
            let hour = bytes[11..<13].decimalNumber, let minute = bytes[14..<16].decimalNumber,
            let second = bytes[17..<19].decimalNumber, year >= 1970, 1...12 ~= month, 1...31 ~= day, hour < 24,
            minute < 60, second < 61
        else { return nil }
        var rest = bytes[19...]
        if rest.first == .dot { rest = rest.dropFirst().drop(while: \.isDigit) }
        var offset: Int64 = 0
        if rest.first == .plus || rest.first == .dash {
            let digits = rest.dropFirst().filter { $0 != .colon }
            guard digits.count == 4, let number = digits.decimalNumber else { return nil }
            offset = (number / 100 * 60 + number % 100) * (rest.first == .dash ? -60 : 60)
        } else if !rest.isEmpty, !rest.elementsEqual("Z".utf8) {
            return nil
        }
        let time = hour * 3600 + minute * 60 + second - offset
        return UnixTime(seconds: UnixTime.days(year: year, month: month, day: day) * 86_400 + time)
    }

    /// `first-last`, both inclusive (RFC 9110 §14.1.2).
    static func range(_ text: String) -> ByteRange? {
        let ends = Array(text.utf8).pieces(between: .dash)
        guard ends.count == 2, let first = ends[0].decimalNumber, let last = ends[1].decimalNumber, last < .max else {
            return nil
        }
        return ByteRange(named: first, last + 1)
    }

    /// Ticks of a timescale in microseconds.
    static func microseconds(_ ticks: Int64, per timescale: Int64) -> Int64 {
        Int64(clamping: Int128(ticks) * 1_000_000 / Int128(timescale))
    }

    /// How many times `duration` ticks begin within a time.
    ///
    /// What is left after the last whole one counts from a millisecond on: no frame is shorter, and times are rounded.
    static func count(_ duration: Int64, per timescale: Int64, in microseconds: Int64) -> Int64 {
        let (time, one) = (Int128(microseconds) * Int128(timescale), Int128(duration) * 1_000_000)
        let (whole, rest) = time.quotientAndRemainder(dividingBy: one)
        return Int64(clamping: whole + (rest >= 1000 * Int128(timescale) ? 1 : 0))
    }
}
