import PawlBase
import PawlCore
import PawlJournal

// Rate limits, and readers without capacity.
extension Runner {
    var isLimited: Bool { limiter.rate != nil || shared.hasLimit }

    /// The least of the limits in force for this download.
    var presentLimit: Int64? { isLimited ? [shared.slowest, limiter.rate].compactMap { $0 }.min() : nil }

    /// How far ahead of the limit a lane may be whose connection sends more than the lane may use.
    private static let precedence = Interval.milliseconds(250)

    /// Bytes sent beyond a lane's end are lost: where several lanes of a download share a limit, those wait whose every
    /// byte is used.
    ///
    /// Those of other downloads must not wait for ever: after a while they are as far ahead of the limit.
    private func patience(of writer: LaneWriter, now: Instant) -> Interval {
        if writer.asksBeyond { return Runner.precedence }
        guard let since = writer.heldSince, now - since >= Runner.precedence else { return .zero }
        return writers.contains(where: \.asksBeyond) ? .zero : Runner.precedence
    }

    /// The pause before a reader without capacity is tried again.
    private static let readerPause = Interval.milliseconds(2)

    /// Whether a rate limit or a slow reader suspends this transfer; it is resumed when its time has come.
    func holdsBack(_ writer: LaneWriter) -> Bool {
        guard place?.hasRoom != false else {
            let now = clock.now
            writer.heldSince = writer.heldSince ?? now
            loop.sleep(writer.transfer, until: now + Runner.readerPause)
            return true
        }
        guard isLimited else { return false }
        let now = clock.now
        let delay = max(shared.delay(of: writer.origin, now: now), limiter.delay(now: now))
        let patience = patience(of: writer, now: now)
        guard delay > patience else { return false }
        writer.heldSince = writer.heldSince ?? now
        loop.sleep(writer.transfer, until: now + Interval(nanoseconds: delay.nanoseconds - patience.nanoseconds))
        return true
    }

    func charge(_ bytes: Int, to origin: Origin) {
        shared.count(bytes)
        guard isLimited else { return }
        let now = clock.now
        shared.charge(bytes, to: origin, now: now)
        limiter.charge(bytes, now: now)
    }
}
