package import PawlBase

/// A time of the week in the caller's time zone.
package struct LocalTime: Hashable, Sendable {
    /// Minutes since Monday 0:00, below ``minutesOfWeek``.
    package let minuteOfWeek: Int
    /// Seconds into the minute.
    package let second: Int

    package static let minutesOfDay = 24 * 60
    package static let minutesOfWeek = 7 * 24 * 60

    /// `offset` is the zone's, in seconds east of Greenwich, at that time.
    package init(_ time: UnixTime, offset: Int) {
        // The first day of the epoch was a Thursday.
        let seconds = time.seconds + Int64(offset) + 3 * 86_400
        let week = Int64(LocalTime.minutesOfWeek) * 60
        let inWeek = Int(((seconds % week) + week) % week)
        minuteOfWeek = inWeek / 60
        second = inWeek % 60
    }
}
