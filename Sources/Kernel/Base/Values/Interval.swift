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
