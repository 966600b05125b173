import Glibc
import PawlCore
import PawlEngine

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
        rate = (configuration.rateLimit ?? kept.flatMap { Int64($0) }).flatMap { $0 > 0 ? $0 : nil }
        engine.limit(to: rate)
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
        self.rate = rate
        settings[Setting.rate] = rate.map { "\($0)" } ?? ""
        engine.limit(to: rate)
    }

    func change(timetable text: String?) throws(Failure) {
        timetable = try text.map { text throws(Failure) in try RateTimetable(parsing: text) }
        settings[Setting.timetable] = text ?? ""
        (tabled, nextLimit) = (nil, nil)
        engine.limit(to: rate)
        followTimetable()
    }

    /// Sets the limit of this time of day when it has changed, and remembers when to look again.
    ///
    /// At least each minute: the wall clock may be set, and a machine sleeps.
    func followTimetable() {
        guard let timetable else { return }
        let wall = ports.clock.wallTime
        let time = LocalTime(wall, offset: Self.zoneOffset(at: wall))
        let rate = timetable.rate(at: time)
        if tabled != .some(rate) { engine.limit(to: rate) }
        tabled = rate
        let minute = Interval.seconds(60)
        nextLimit = ports.clock.now + min(timetable.nextChange(after: time) ?? minute, minute)
    }

    private static func zoneOffset(at time: UnixTime) -> Int {
        var seconds = time_t(time.seconds)
        var local = unsafe tm()
        unsafe localtime_r(&seconds, &local)
        return unsafe Int(local.tm_gmtoff)
    }
}
