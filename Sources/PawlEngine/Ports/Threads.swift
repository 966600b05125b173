/// Starts the threads on which loops run.
package protocol Threads: Sendable {
    func start(_ name: String, _ body: @escaping @Sendable () -> Void)
}
