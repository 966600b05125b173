package import PawlCore

/// A source of time.
///
/// The simulation has its own.
package protocol Clock: Sendable {
    var now: Instant { get }
    var wallTime: UnixTime { get }
}
