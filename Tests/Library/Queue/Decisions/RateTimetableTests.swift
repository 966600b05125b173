import PawlBase
import PawlQueue
import PawlTestKit
import Testing

@Suite struct RateTimetableTests {
    private let mega: Int64 = 1 << 20

    /// Monday is day 0; 2024-01-01 was one.
    private func time(_ day: Int, _ hour: Int, _ minute: Int, second: Int = 0, offset: Int = 0) -> LocalTime {
        let monday: Int64 = 1_704_067_200
        let inWeek = ((day * 24 + hour) * 60 + minute) * 60 + second
        return LocalTime(UnixTime(seconds: monday + Int64(inWeek - offset)), offset: offset)
    }

    @Test func `a limit by day and none by night`() throws {
        for text in ["08:00-18:00 1M, else none", "8:00\u{2013}18:00 1M", " 08:00-18:00  1M ,else 0"] {
            let table = try RateTimetable(parsing: text)
            for day in 0..<7 {
                #expect(table.rate(at: time(day, 7, 59, second: 59)) == nil)
                #expect(table.rate(at: time(day, 8, 0)) == mega)
                #expect(table.rate(at: time(day, 17, 59, second: 59)) == mega)
                #expect(table.rate(at: time(day, 18, 0)) == nil)
            }
            #expect(table.nextChange(after: time(2, 7, 0, second: 30)) == .seconds(59 * 60 + 30))
            #expect(table.nextChange(after: time(6, 18, 0)) == .seconds(14 * 3600))
        }
    }

    @Test func `several intervals, the first match applies, over midnight and over the week's end`() throws {
        let table = try RateTimetable(
            parsing: "Mon-Fri 09:00-17:00 100K, Sat-Sun 0:00-24:00 none, 22:00-06:00 5M, else 500K")
        #expect(table.rate(at: time(4, 12, 0)) == 100 << 10)
        #expect(table.rate(at: time(5, 23, 0)) == nil, "the day's entry comes first")
        #expect(table.rate(at: time(0, 5, 59)) == 5 * mega, "the night that began on Sunday")
        #expect(table.rate(at: time(0, 6, 0)) == 500 << 10)
        let wrapping = try RateTimetable(parsing: "Sun-Mon 22:00-02:00 1M")
        #expect(wrapping.rate(at: time(6, 23, 0)) == mega && wrapping.rate(at: time(0, 1, 0)) == mega)
        #expect(wrapping.rate(at: time(0, 22, 0)) == mega && wrapping.rate(at: time(1, 1, 59)) == mega)
        #expect(wrapping.rate(at: time(1, 2, 0)) == nil && wrapping.rate(at: time(1, 23, 0)) == nil)
    }

    @Test func `the zone's offset shifts the clock, and with it the day`() throws {
        let table = try RateTimetable(parsing: "Tue 00:00-24:00 1M")
        for offset in [-11 * 3600, -1800, 0, 5 * 3600 + 2700, 14 * 3600] {
            #expect(table.rate(at: time(1, 0, 0, offset: offset)) == mega)
            #expect(table.rate(at: time(0, 23, 59, second: 59, offset: offset)) == nil)
            #expect(table.nextChange(after: time(1, 0, 0, offset: offset)) == .seconds(24 * 3600))
        }
        #expect(LocalTime(UnixTime(seconds: -1), offset: 0).minuteOfWeek == 3 * LocalTime.minutesOfDay - 1)
    }

    @Test func `one limit without a time never changes`() throws {
        for text in ["else 1M", "00:00-24:00 1M", "08:00-08:00 1M", "0:00-12:00 1M, 12:00-24:00 1M"] {
            let table = try RateTimetable(parsing: text)
            #expect(table.rate(at: time(3, 3, 3)) == mega)
            #expect(table.nextChange(after: time(3, 3, 3)) == nil)
        }
    }

    @Test func `a limit may be a pause, and 0 is no limit, as everywhere`() throws {
        let table = try RateTimetable(parsing: "08:00-18:00 pause, 18:00-20:00 0, else 1M")
        #expect(table.rate(at: time(0, 9, 0)) == RateTimetable.paused)
        #expect(table.rate(at: time(0, 19, 0)) == nil && table.rate(at: time(0, 21, 0)) == mega)
        #expect(table.nextChange(after: time(0, 9, 0)) == .seconds(9 * 3600))
        #expect(try RateTimetable(parsing: "else Pause").rate(at: time(0, 0, 0)) == RateTimetable.paused)
    }

    @Test(arguments: [
        "", ",", "08:00 1M", "08:00-18:00", "08:00-18:00 fast", "24:00-18:00 1M", "08:60-18:00 1M", "8-18 1M",
        "08:00-25:00 1M", "else 1M, else 2M", "else 1M, 08:00-18:00 1M", "Mun 08:00-18:00 1M",
        "Mon-Tue-Wed 08:00-18:00 1M", "Mon- 08:00-18:00 1M", "08:00-18:00 -5", "08:00-18:00 1M, ",
        "x Mon 08:00-18:00 1M",
    ]) func `an invalid timetable is refused with the reason`(text: String) {
        do throws(Failure) {
            _ = try RateTimetable(parsing: text)
            Issue.record("\"\(text)\" was accepted")
        } catch { #expect(error.code == .badOption && !error.why.isEmpty && error.remedy.text.contains("08:00-18:00")) }
    }

    @Test(arguments: 0..<24 as Range<UInt64>) func `the next change is the first minute with another limit`(
        seed: UInt64
    ) throws {
        var dice = Dice(seed: seed)
        let days = ["", "Mon ", "Sat-Mon ", "Tue-Thu ", "Sun "]
        func entry() -> String {
            let times = (0..<2).map { _ in "\(dice.number(0...23)):\(dice.number(1...5))0" }
            let rate = ["none", "1M", "pause"][dice.number(0...2)]
            return "\(days[dice.number(0...4)])\(times[0])-\(times[1]) \(rate)"
        }
        let entries = (0..<dice.number(1...4)).map { _ in entry() }
        let table = try RateTimetable(parsing: (entries + ["else 3M"]).joined(separator: ", "))
        for _ in 0..<6 {
            let start = dice.number(0...(7 * 1440 - 1))
            func rate(_ minute: Int) -> Int64? { table.rate(at: time(0, 0, minute)) }
            let first = (1...(7 * 1440)).first { rate(start + $0) != rate(start) }
            #expect(table.nextChange(after: time(0, 0, start)) == first.map { .seconds(Double($0) * 60) })
        }
    }
}
