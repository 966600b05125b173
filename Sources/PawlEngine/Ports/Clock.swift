package import PawlCore

/// Reads time.
///
/// The simulated world has its own.
package protocol Clock: Sendable {
    var now: Instant { get }
    var wallTime: UnixTime { get }
}
