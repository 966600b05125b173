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

/// Starts the threads on which loops run.
package protocol Threads: Sendable {
    /// When the system refuses a thread, the body waits until it allows one.
    func start(_ name: String, _ body: @escaping @Sendable () -> Void)
    /// Throws when the system refuses a thread, for callers that can say so.
    func launch(_ name: String, _ body: @escaping @Sendable () -> Void) throws(Failure)
}

extension Threads {
    package func launch(_ name: String, _ body: @escaping @Sendable () -> Void) throws(Failure) { start(name, body) }
}

/// What the process may still open.
package protocol Descriptors: Sendable {
    /// Whether a download may open what it needs; a reserve stays for everything that cannot wait.
    var haveRoom: Bool { get }
}

/// A monitor of network connectivity.
package protocol Reachability: AnyObject, Sendable {
    /// Whether any route leads beyond the loopback interface.
    var isOnline: Bool { get }
    /// Calls `handler` with the new state, on any thread, whenever it changes, until `stop`.
    func start(_ handler: @escaping @Sendable (Bool) -> Void)
    func stop()
}
