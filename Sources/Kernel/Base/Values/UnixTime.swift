/// Seconds since 1970-01-01T00:00:00Z, as file times and HTTP dates count them.
package struct UnixTime: Hashable, Comparable, Sendable {
    package var seconds: Int64

    package init(seconds: Int64) { self.seconds = seconds }
    package static func < (left: UnixTime, right: UnixTime) -> Bool { left.seconds < right.seconds }
}
