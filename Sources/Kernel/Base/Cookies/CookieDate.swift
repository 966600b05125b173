extension UnixTime {
    /// Parses the date of a cookie (RFC 6265 §5.1.1): parts in any order, between whatever separates them.
    ///
    /// Names of zones and of weekdays count nothing, unlike in other dates of HTTP: the time is always that of Greenwich.
    package init?(cookieDate text: String) {
        var time: (hour: Int64, minute: Int64, second: Int64)?
        var (day, month, year): (Int64?, Int64?, Int64?)
        for token in Array(text.utf8).split(whereSeparator: Self.separatesCookieDate) {
            if time == nil, let found = Self.cookieTime(token) {
                time = found
            } else if day == nil, let found = Self.number(token, 1...2) {
                day = found
            } else if month == nil, let found = Self.cookieMonth(token) {
                month = found
            } else if year == nil, let found = Self.number(token, 2...4) {
                year = found < 70 ? found + 2_000 : found < 100 ? found + 1_900 : found
            }
        }
        guard let time, let day, let month, let year, year >= 1_601, time.hour < 24, time.minute < 60, time.second < 60
        else { return nil }
        let days = Self.days(year: year, month: month, day: day)
        // A day that the month does not have would be one of the next.
        guard Self.civil(days) == (year, month, day) else { return nil }
        self.init(seconds: days * 86_400 + time.hour * 3_600 + time.minute * 60 + time.second)
    }

    private static func separatesCookieDate(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
        default: false
        }
    }

    private static func cookieTime(_ token: ArraySlice<UInt8>) -> (Int64, Int64, Int64)? {
        let parts = token.split(separator: .colon, maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].count <= 2, parts[1].count <= 2, let hour = parts[0].decimalNumber,
            let minute = parts[1].decimalNumber, let second = number(parts[2], 1...2)
        else { return nil }
        return (hour, minute, second)
    }

    /// The digits at the beginning, if there are so many; anything else may follow.
    private static func number(_ token: ArraySlice<UInt8>, _ count: ClosedRange<Int>) -> Int64? {
        let digits = token.prefix(while: \.isDigit)
        return count ~= digits.count ? digits.decimalNumber : nil
    }

    private static func cookieMonth(_ token: ArraySlice<UInt8>) -> Int64? {
        let months: [StaticString] = [
            "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
        ]
        return months.firstIndex { token.prefix(3).isCaseInsensitively($0) }.map { Int64($0) + 1 }
    }
}
