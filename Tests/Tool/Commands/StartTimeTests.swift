import Glibc
import PawlBase
import Testing

@testable import PawlServiceCommands

@Suite struct StartTimeTests {
    @Test(arguments: [
        ("23:00", StartTime.timeOfDay(hour: 23, minute: 0)), ("7:05", .timeOfDay(hour: 7, minute: 5)),
        ("2026-12-01 06:00", .date(year: 2026, month: 12, day: 1, hour: 6, minute: 0)),
        ("2026-12-01T06:00", .date(year: 2026, month: 12, day: 1, hour: 6, minute: 0)), ("+90s", .after(90)),
        ("+2h", .after(7200)), ("+30m", .after(1800)), ("+1d", .after(86_400)),
    ]) func `times are read in their usual forms`(text: String, time: StartTime) throws {
        #expect(try StartTime.parse(text) == time)
    }

    @Test(arguments: [
        "", "later", "24:00", "12:60", "1:2", "+", "+h", "+-1h", "+1w", "-1h", "+999999999d", "2026-13-01 06:00",
        "2026-12-32 06:00", "26-12-01 06:00", "2026-12-01", "2026-12-01 06:00 x", "12:00:00",
    ]) func `others are refused with the forms that are`(text: String) {
        let failure = #expect(throws: Failure.self) { try StartTime.parse(text) }
        #expect(failure?.why.contains("HH:MM") == true)
    }

    @Test func `a time of day is the next one, a date must be ahead and exist`() throws {
        let now = Int64(time(nil))
        for hour in [0, 6, 12, 18, 23] {
            let start = try StartTime.timeOfDay(hour: hour, minute: 30).seconds(now: now)
            // A day with a change to summer time has 23 or 25 hours.
            #expect(start > now && start <= now + 25 * 3600)
            var moment = time_t(start)
            var parts = unsafe tm()
            unsafe localtime_r(&moment, &parts)
            #expect(unsafe (parts.tm_hour, parts.tm_min, parts.tm_sec) == (Int32(hour), 30, 0))
        }
        #expect(try StartTime.after(60).seconds(now: 5) == 65)
        let past = StartTime.date(year: 2020, month: 1, day: 1, hour: 0, minute: 0)
        #expect(#expect(throws: Failure.self) { try past.seconds(now: now) }?.why == "it has passed")
        let none = StartTime.date(year: 2999, month: 2, day: 30, hour: 0, minute: 0)
        #expect(#expect(throws: Failure.self) { try none.seconds(now: now) }?.why == "there is no such day")
        #expect(try StartTime.date(year: 2999, month: 2, day: 28, hour: 0, minute: 0).seconds(now: now) > now)
    }
}
