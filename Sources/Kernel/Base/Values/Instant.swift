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
