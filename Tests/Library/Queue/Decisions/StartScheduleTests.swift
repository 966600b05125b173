import PawlBase
import PawlQueue
import Testing

@Suite struct StartScheduleTests {
    private func id(_ number: UInt64) -> QueueID { QueueID(rawValue: number) }
    private func time(_ seconds: Int64) -> UnixTime { UnixTime(seconds: seconds) }

    @Test func `each starts at its time, the earliest first, and once`() {
        var schedule = StartSchedule()
        schedule.set(id(1), to: time(30))
        schedule.set(id(2), to: time(10))
        schedule.set(id(3), to: time(20))
        #expect(schedule.next == time(10) && schedule.time(of: id(3)) == time(20))
        #expect(schedule.takeDue(now: time(9)) == [])
        #expect(schedule.takeDue(now: time(20)) == [id(2), id(3)])
        #expect(schedule.takeDue(now: time(20)) == [])
        #expect(schedule.next == time(30))
        schedule.set(id(1), to: time(40))
        #expect(schedule.takeDue(now: time(30)) == [], "the later time replaces the earlier")
        #expect(schedule.remove(id(1)) && !schedule.remove(id(1)) && schedule.isEmpty)
    }

    @Test func `it survives as a text, and words that are not its own are ignored`() {
        var schedule = StartSchedule()
        schedule.set(id(0xAB), to: time(1_796_030_211))
        schedule.set(id(.max), to: time(5))
        #expect(schedule.text == "ab:1796030211 ffffffffffffffff:5")
        #expect(StartSchedule(text: schedule.text) == schedule)
        let odd = StartSchedule(text: "0:5 x:5 1 1: 1:x 1:5:6 :5 2:99999999999999999999 3:7")
        #expect(odd.text == "3:7")
    }
}
