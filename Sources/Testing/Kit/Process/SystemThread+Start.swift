package import PawlSystem

extension SystemThread {
    /// Starts a thread to be joined; a test cannot continue without it.
    package static func start(
        _ name: String = "test-thread", blocksSignals: Bool = false, _ body: @escaping @Sendable () -> Void
    ) -> SystemThread {
        guard let thread = SystemThread(name, blocksSignals: blocksSignals, body) else {
            preconditionFailure("no thread \(name)")
        }
        return thread
    }
}
