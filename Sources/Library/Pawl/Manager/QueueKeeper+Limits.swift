#if Queue
import Glibc
import PawlBase
import PawlEngine
import PawlQueue

// Slots and limits: the last change survives a restart, unless the configuration sets another value.
extension QueueKeeper {
    private enum ValueName {
        static let slots = "slots"
        static let rate = "rate limit"
        static let timetable = "timetable"
    }

    func restoreLimits(_ configuration: DownloadManager.Configuration) throws(Failure) {
        if let slots = configuration.maximumConcurrentDownloads { try Self.check(slots, "slots") }
        if configuration.maximumConcurrentDownloads == nil,
            let slots = try store.value(ValueName.slots).flatMap({ Int($0) })
        {
            perform(machine.apply(.slots(slots)))
        }
        // The limit is the service's own.
        if configuration.isGuest { return }
        let kept = try store.value(ValueName.rate)
        rate =
            try Self.checked(configuration.rateLimit)
            ?? (configuration.rateLimit == nil ? kept.flatMap { Int64($0) } : nil).flatMap { $0 > 0 ? $0 : nil }
        engine.limit(to: rate)
        let former = try store.value(ValueName.timetable)
        let text = configuration.timetable ?? former ?? ""
        timetable = text.isEmpty ? nil : try RateTimetable(parsing: text)
        followTimetable()
    }

    /// Throws code 28 for a number that is not positive.
    static func check(_ number: Int, _ what: String) throws(Failure) {
        guard number < 1 else { return }
        throw Failure(.badOption, "cannot use", at: "\(number) \(what)", because: .atLeast("1"))
    }

    func change(slots: Int) throws(Failure) {
        try Self.check(slots, "slots")
        values[ValueName.slots] = "\(slots)"
        perform(machine.apply(.slots(slots)))
    }

    /// Throws code 28 for a negative limit; 0 is none.
    static func checked(_ rate: Int64?) throws(Failure) -> Int64? {
        guard let rate else { return nil }
        try OptionForm.rate.check(rate, .rateLimit)
        return rate > 0 ? rate : nil
    }

    func limit(to rate: Int64?) throws(Failure) {
        let rate = try Self.checked(rate)
        self.rate = rate
        values[ValueName.rate] = rate.map { "\($0)" } ?? ""
        engine.limit(to: rate)
    }

    func change(timetable text: String?) throws(Failure) {
        timetable = try text.map { text throws(Failure) in try RateTimetable(parsing: text) }
        values[ValueName.timetable] = text ?? ""
        (tabled, nextLimit) = (nil, nil)
        engine.limit(to: rate)
        if timetable == nil { hold(false) }
        followTimetable()
    }

    /// Applies the timetable's current limit if it changed, and schedules the next check.
    ///
    /// At least every minute: the wall clock may be set, and a machine may sleep.
    func followTimetable() {
        guard let timetable else { return }
        let wall = ports.clock.wallTime
        let time = LocalTime(wall, offset: Self.zoneOffset(at: wall))
        let rate = timetable.rate(at: time)
        if tabled != .some(rate) {
            let isPaused = rate == RateTimetable.paused
            if !isPaused { engine.limit(to: rate) }
            hold(isPaused)
        }
        tabled = rate
        let minute = Interval.seconds(60)
        nextLimit = ports.clock.now + min(timetable.nextChange(after: time) ?? minute, minute)
    }

    private func hold(_ isHeld: Bool) { perform(machine.apply(.hold(isHeld))) }

    /// When downloads that the timetable pauses run again; `nil` if it does not pause them now, or never ends that.
    var heldUntil: UnixTime? {
        guard machine.isHeld, let timetable else { return nil }
        let wall = ports.clock.wallTime
        let time = LocalTime(wall, offset: Self.zoneOffset(at: wall))
        return timetable.nextChange(after: time).map { UnixTime(seconds: wall.seconds + Int64($0.seconds)) }
    }

    private static func zoneOffset(at time: UnixTime) -> Int {
        var seconds = time_t(time.seconds)
        var local = unsafe tm()
        unsafe localtime_r(&seconds, &local)
        return unsafe Int(local.tm_gmtoff)
    }
}
#endif
