/// A length of time in nanoseconds. (Swift's `Duration` counts attoseconds in 128 bits, too slow for every
/// tick.)
package struct Interval: Hashable, Comparable, Sendable {
    package var nanoseconds: Int64

    package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }
    /// More than three centuries are clamped, and NaN is zero.
    package static func seconds(_ value: Double) -> Interval { Interval(clamping: value * 1e9) }
    package static func milliseconds(_ value: Int64) -> Interval { Interval(nanoseconds: value * 1_000_000) }
    private init(clamping nanoseconds: Double) {
        // Half of what fits, so that a sum of two fits as well.
        let longest = Double(Int64.max / 2)
        self.init(nanoseconds: nanoseconds.isNaN ? 0 : Int64(min(max(nanoseconds, -longest), longest)))
    }

    package static let zero = Interval(nanoseconds: 0)

    package var seconds: Double { Double(nanoseconds) / 1e9 }

    package static func < (left: Interval, right: Interval) -> Bool { left.nanoseconds < right.nanoseconds }
    package static func * (span: Interval, factor: Double) -> Interval {
        Interval(clamping: Double(span.nanoseconds) * factor)
    }
}

extension Interval {
    /// What does not fit is clamped.
    package init(_ duration: Duration) { self = .seconds(duration.seconds) }
}

extension Duration {
    package init(_ interval: Interval) { self = .nanoseconds(interval.nanoseconds) }

    /// More than 30,000 years are clamped, where `seconds(_:)` would trap, and NaN is zero.
    package init(clampingSeconds seconds: Double) {
        self = .seconds(seconds.isNaN ? 0 : min(max(seconds, -1e12), 1e12))
    }

    /// Whole seconds are exact, as the quotient of two durations is not.
    package var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}

/// A reading of a monotonic clock, in nanoseconds since an arbitrary origin.
package struct Instant: Hashable, Comparable, Sendable {
    package var nanoseconds: Int64

    package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    package static func < (left: Instant, right: Instant) -> Bool { left.nanoseconds < right.nanoseconds }
    package static func + (moment: Instant, span: Interval) -> Instant {
        Instant(nanoseconds: moment.nanoseconds.addingReportingOverflow(span.nanoseconds).partialValue)
    }
    package static func - (later: Instant, earlier: Instant) -> Interval {
        Interval(nanoseconds: later.nanoseconds.subtractingReportingOverflow(earlier.nanoseconds).partialValue)
    }
}

/// Seconds since 1970-01-01T00:00:00Z, as file times and HTTP dates count them.
package struct UnixTime: Hashable, Comparable, Sendable {
    package var seconds: Int64

    package init(seconds: Int64) { self.seconds = seconds }
    package static func < (left: UnixTime, right: UnixTime) -> Bool { left.seconds < right.seconds }
}
