import PawlCore
import PawlEngine

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

// Slots and limits: what was said last holds after a restart too, unless the configuration says otherwise.
extension QueueKeeper {
    private enum Setting {
        static let slots = "slots"
        static let rate = "rate limit"
        static let timetable = "timetable"
    }

    func restoreLimits(_ configuration: DownloadManager.Configuration) throws(Failure) {
        if configuration.slots == nil, let slots = try store.setting(Setting.slots).flatMap({ Int($0) }) {
            perform(machine.change(slots: slots))
        }
        // The limit is the service's own.
        if configuration.isGuest { return }
        let kept = try store.setting(Setting.rate)
        let rate = configuration.rateLimit ?? kept.flatMap { Int64($0) }
        engine.limit(to: rate.flatMap { $0 > 0 ? $0 : nil })
        let former = try store.setting(Setting.timetable)
        let text = configuration.timetable ?? former ?? ""
        timetable = text.isEmpty ? nil : try RateTimetable(parsing: text)
        followTimetable()
    }

    func change(slots: Int) {
        settings[Setting.slots] = "\(slots)"
        perform(machine.change(slots: slots))
    }

    func limit(to rate: Int64?) {
        settings[Setting.rate] = rate.map { "\($0)" } ?? ""
        engine.limit(to: rate)
    }

    func change(timetable text: String?) throws(Failure) {
        timetable = try text.map { text throws(Failure) in try RateTimetable(parsing: text) }
        settings[Setting.timetable] = text ?? ""
        nextLimit = nil
        engine.limit(to: nil)
        followTimetable()
    }

    /// Sets the limit that holds now, and remembers when to look again.
    func followTimetable() {
        guard let timetable else { return }
        let wall = ports.clock.wallTime
        let time = LocalTime(wall, offset: Self.zoneOffset(at: wall))
        engine.limit(to: timetable.rate(at: time))
        // Summer time begins and ends in between.
        let day = Span.seconds(86_400)
        nextLimit = ports.clock.now + min(timetable.nextChange(after: time) ?? day, day)
    }

    private static func zoneOffset(at time: UnixTime) -> Int {
        var seconds = time_t(time.seconds)
        var local = unsafe tm()
        unsafe localtime_r(&seconds, &local)
        return unsafe Int(local.tm_gmtoff)
    }
}
