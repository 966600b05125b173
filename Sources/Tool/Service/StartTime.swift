import Glibc
import PawlBase
import PawlTerminal

/// When a download is to start: `23:00` (the next time that it is so late), `2026-12-01 06:00`, `+2h`.
enum StartTime: Hashable {
    case timeOfDay(hour: Int, minute: Int)
    case date(year: Int, month: Int, day: Int, hour: Int, minute: Int)
    /// In seconds from now.
    case after(Int64)

    /// Throws code 28 for what is none of these.
    static func parse(_ text: String) throws(Failure) -> StartTime {
        guard let time = after(text) ?? moment(text) else {
            throw Failure(
                .badOption, "cannot use", at: "the time \(quoted(text))",
                because: "must be HH:MM, YYYY-MM-DD HH:MM, or a time from now such as +30m, +2h or +1d")
        }
        return time
    }

    private static func after(_ text: String) -> StartTime? {
        let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]
        guard text.hasPrefix("+"), let unit = text.last.flatMap({ units[$0] }) else { return nil }
        let digits = text.dropFirst().dropLast()
        // Ten years are enough, and no product of them overflows.
        guard let number = number(digits, digits: 1...9),
            number.multipliedReportingOverflow(by: Int(unit)).partialValue
                <= 10 * 366 * 86_400
        else { return nil }
        return .after(Int64(number) * unit)
    }

    private static func moment(_ text: String) -> StartTime? {
        let parts = text.split { $0 == " " || $0 == "T" }
        guard let last = parts.last, parts.count <= 2 else { return nil }
        let clock = last.split(separator: ":", omittingEmptySubsequences: false)
        guard clock.count == 2, let hour = number(clock[0], digits: 1...2),
            let minute = number(clock[1], digits: 2...2),
            hour < 24, minute < 60
        else { return nil }
        if parts.count == 1 { return .timeOfDay(hour: hour, minute: minute) }
        let date = parts[0].split(separator: "-", omittingEmptySubsequences: false)
        guard date.count == 3, let year = number(date[0], digits: 4...4), let month = number(date[1], digits: 1...2),
            let day = number(date[2], digits: 1...2), (1970...9999).contains(year), (1...12).contains(month),
            (1...31).contains(day)
        else { return nil }
        return .date(year: year, month: month, day: day, hour: hour, minute: minute)
    }

    private static func number(_ text: Substring, digits: ClosedRange<Int>) -> Int? {
        guard digits.contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int(text)
    }

    /// Seconds since 1970, in this machine's time zone; throws code 28 for a time that has passed.
    func seconds(now: Int64) throws(Failure) -> Int64 {
        var moment = time_t(now)
        var parts = unsafe tm()
        unsafe localtime_r(&moment, &parts)
        unsafe parts.tm_sec = 0
        // Summer time is found out for that day.
        unsafe parts.tm_isdst = -1
        switch self {
        case .after(let seconds): return now + seconds
        case .timeOfDay(let hour, let minute):
            unsafe (parts.tm_hour, parts.tm_min) = (Int32(hour), Int32(minute))
            var today = unsafe parts
            let time = unsafe Int64(mktime(&today))
            if time > now { return time }
            unsafe parts.tm_mday += 1
            return unsafe Int64(mktime(&parts))
        case .date(let year, let month, let day, let hour, let minute):
            unsafe (parts.tm_year, parts.tm_mon, parts.tm_mday) = (Int32(year - 1900), Int32(month - 1), Int32(day))
            unsafe (parts.tm_hour, parts.tm_min) = (Int32(hour), Int32(minute))
            let time = unsafe Int64(mktime(&parts))
            // The 31st of a month with 30 days is none.
            let isDay = unsafe parts.tm_mday == Int32(day)
            guard isDay, time > now else {
                throw Failure(
                    .badOption, "cannot use",
                    at:
                        "the time \(year)-\(Self.padded(month))-\(Self.padded(day)) \(Self.padded(hour)):\(Self.padded(minute))",
                    because: isDay ? "it has passed" : "there is no such day")
            }
            return time
        }
    }

    private static func padded(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
