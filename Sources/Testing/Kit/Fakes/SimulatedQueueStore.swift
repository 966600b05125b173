package import PawlBase
package import PawlQueue

/// A store of a simulated queue, which outlives the processes that open it.
package protocol SimulatedQueueStore: QueueStore {
    /// Passes every write to `body` first.
    func intercept(_ body: @escaping @Sendable ([QueueChange]) -> MemoryQueueStore.Interception)
    /// Opens it for a process; the one before has ended.
    func open() throws(Failure)
    /// The process has ended so.
    func crash(_ kind: FakeDisk.Crash)
    /// All records, as far as they can be read.
    var all: [QueueRecord] { get }
}

extension MemoryQueueStore: SimulatedQueueStore {
    package func open() {}
    package func crash(_ kind: FakeDisk.Crash) {}
}
