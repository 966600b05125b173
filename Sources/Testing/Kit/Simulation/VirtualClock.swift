package import PawlBase

/// A clock that a timeline advances.
package struct VirtualClock: Clock {
    private let timeline: Timeline

    package init(_ timeline: Timeline) { self.timeline = timeline }

    package var now: Instant { timeline.now }

    /// 2030-01-01, in seconds since 1970: the time at the timeline's instant 0.
    package static let start: Int64 = 1_893_456_000

    package var wallTime: UnixTime { UnixTime(seconds: Self.start + timeline.now.nanoseconds / 1_000_000_000) }
}
