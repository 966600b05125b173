/// A source of time.
///
/// The simulation has its own.
package protocol Clock: Sendable {
    var now: Instant { get }
    var wallTime: UnixTime { get }
    /// The same in nanoseconds, for what is measured.
    var nanosecondsSince1970: Int64 { get }
}

extension Clock {
    package var nanosecondsSince1970: Int64 {
        wallTime.seconds.multipliedReportingOverflow(by: 1_000_000_000).partialValue
    }
}
