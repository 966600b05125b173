extension UnixTime {
    /// Parses an HTTP date (RFC 9110 §5.6.7): `Sun, 06 Nov 1994 08:49:37 GMT` and the two older forms, and
    /// the departures that are common and clear: no or a wrong weekday, no or a numeric zone, one-digit
    /// numbers.
    ///
    /// `now` resolves years of two digits: one that would be more than 50 years ahead is in the past. Without
    /// it 70 and later are in the last century (RFC 6265 §5.1.1).
    package init?(httpDate text: ArraySlice<UInt8>, now: UnixTime? = nil) {
        guard text.count <= 64, let parts = DateParts(text) else { return nil }
        var year = parts.year
        if parts.hasShortYear { year = Self.fullYear(year, now: now) }
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let lengths: [Int64] = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        guard 1...lengths[parts.month] ~= parts.day else { return nil }
        let days = Self.days(year: year, month: Int64(parts.month) + 1, day: parts.day)
        self.init(seconds: days * 86_400 + parts.secondOfDay - parts.zoneOffset)
    }

    package init?(httpDate text: String, now: UnixTime? = nil) { self.init(httpDate: Array(text.utf8)[...], now: now) }

    /// The form that all senders must generate, IMF-fixdate.
    package var httpDate: String {
        let second = (seconds % 86_400 + 86_400) % 86_400
        let days = seconds / 86_400 - (seconds % 86_400 < 0 ? 1 : 0)
        let (year, month, day) = Self.civil(days)
        let weekday = Int(((days % 7) + 11) % 7)
        func two(_ number: Int64) -> String { (number < 10 ? "0" : "") + "\(number)" }
        let yearText = String(repeating: "0", count: max(0, 4 - "\(year)".utf8.count)) + "\(year)"
        let time = "\(two(second / 3600)):\(two(second / 60 % 60)):\(two(second % 60))"
        return "\(Self.weekdays[weekday]), \(two(day)) \(DateParts.months[Int(month) - 1]) \(yearText) \(time) GMT"
    }

    private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]

    private static func fullYear(_ short: Int64, now: UnixTime?) -> Int64 {
        guard let now else { return short + (short >= 70 ? 1900 : 2000) }
        let thisYear = civil(now.seconds / 86_400).year
        let year = thisYear - thisYear % 100 + short
        return year > thisYear + 50 ? year - 100 : year
    }

    /// Days since 1970-01-01 in the Gregorian calendar, with years that begin in March so that the leap day
    /// is last (Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms").
    package static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
        let marchYear = month <= 2 ? year - 1 : year
        let era = (marchYear >= 0 ? marchYear : marchYear - 399) / 400
        let yearOfEra = marchYear - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    package static func civil(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        let day = dayOfYear - (153 * marchMonth + 2) / 5 + 1
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
    }
}

/// The parts of a date in any of the three forms: one month by name, one time with colons, then the day and
/// the year in this order among the numbers.
private struct DateParts {
    static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    var day: Int64
    /// From 0.
    var month: Int
    var year: Int64
    var hasShortYear: Bool
    var secondOfDay: Int64
    /// Seconds east of Greenwich.
    var zoneOffset: Int64 = 0

    init?(_ text: ArraySlice<UInt8>) {
        if let preferred = DateParts(preferred: text) { self = preferred } else { self.init(tolerant: text) }
    }

    /// The preferred form exactly, which nearly every date has: read in place, since each response contains
    /// two.
    private init?(preferred text: ArraySlice<UInt8>) {
        let start = text.startIndex
        func number(_ offset: Int, _ count: Int) -> Int64? {
            var value: Int64 = 0
            for byte in text[(start + offset)..<(start + offset + count)] {
                guard byte.isDigit else { return nil }
                value = value * 10 + Int64(byte - 0x30)
            }
            return value
        }
        guard text.count == 29, text[start + 3] == .comma, text[(start + 25)...].elementsEqual(" GMT".utf8),
            text[start + 4] == .space, text[start + 7] == .space, text[start + 11] == .space,
            text[start + 16] == .space, text[start + 19] == .colon, text[start + 22] == .colon,
            let month = Self.month(text[(start + 8)..<(start + 11)]), let day = number(5, 2), let year = number(12, 4),
            let hour = number(17, 2), let minute = number(20, 2), let second = number(23, 2),
            let secondOfDay = Self.secondOfDay(hour, minute, second)
        else { return nil }
        self.init(day: day, month: month, year: year, hasShortYear: false, secondOfDay: secondOfDay)
    }

    private init(day: Int64, month: Int, year: Int64, hasShortYear: Bool, secondOfDay: Int64) {
        self.day = day
        self.month = month
        self.year = year
        self.hasShortYear = hasShortYear
        self.secondOfDay = secondOfDay
    }

    private init?(tolerant text: ArraySlice<UInt8>) {
        var month: Int?
        var second: Int64?
        var numbers: [ArraySlice<UInt8>] = []
        for token in Self.tokens(text) {
            if token.contains(.colon) {
                guard second == nil, let time = Self.time(token) else { return nil }
                second = time
            } else if token.first == .plus || token.first == .dash {
                guard second != nil, let offset = Self.offset(token) else { return nil }
                zoneOffset = offset
            } else if token.allSatisfy(\.isDigit) {
                numbers.append(token)
            } else if let named = Self.month(token), month == nil {
                month = named
            } else if !Self.isIgnored(token) {
                return nil
            }
        }
        guard let month, let second, numbers.count == 2, numbers[0].count <= 2, let day = numbers[0].decimalNumber,
            let year = numbers[1].decimalNumber, numbers[1].count == 2 || numbers[1].count == 4
        else { return nil }
        self.day = day
        self.month = month
        self.year = year
        hasShortYear = numbers[1].count == 2
        secondOfDay = second
    }

    /// Words separated by white space and commas; `06-Nov-94` is three.
    private static func tokens(_ text: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
        text.split { $0.isWhiteSpace || $0 == .comma }.flatMap { word in
            word.first?.isDigit == true ? word.split(separator: .dash) : [word]
        }
    }

    private static func time(_ token: ArraySlice<UInt8>) -> Int64? {
        let parts = token.pieces(between: .colon)
        let numbers = parts.compactMap { $0.count <= 2 ? $0.decimalNumber : nil }
        return parts.count == 3 && numbers.count == 3 ? secondOfDay(numbers[0], numbers[1], numbers[2]) : nil
    }

    /// 60 is a leap second, which Unix time counts as the next one.
    private static func secondOfDay(_ hour: Int64, _ minute: Int64, _ second: Int64) -> Int64? {
        hour < 24 && minute < 60 && second <= 60 ? hour * 3600 + minute * 60 + second : nil
    }

    private static func offset(_ token: ArraySlice<UInt8>) -> Int64? {
        let digits = token.dropFirst()
        guard digits.count == 4, let number = digits.decimalNumber, number % 100 < 60, number < 2400 else { return nil }
        let seconds = number / 100 * 3600 + number % 100 * 60
        return token.first == .dash ? -seconds : seconds
    }

    private static func month(_ token: ArraySlice<UInt8>) -> Int? {
        guard token.count == 3 else { return nil }
        let letters = token.reduce(UInt32(0)) { $0 << 8 | UInt32($1.lowercased) }
        return monthCodes.firstIndex(of: letters)
    }

    private static let monthCodes = months.map { $0.utf8.reduce(UInt32(0)) { $0 << 8 | UInt32($1.lowercased) } }

    /// Weekdays, and the names of the only zone.
    ///
    /// Other names of a zone would silently shift the time.
    private static func isIgnored(_ token: ArraySlice<UInt8>) -> Bool {
        let zones: [StaticString] = ["gmt", "utc", "z", "ut"]
        if zones.contains(where: token.isCaseInsensitively) { return true }
        let names = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"]
        return token.count >= 3 && names.contains { $0.utf8.starts(with: token.map(\.lowercased)) }
    }
}
