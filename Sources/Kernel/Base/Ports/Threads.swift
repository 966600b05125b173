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
