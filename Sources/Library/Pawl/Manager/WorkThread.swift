import PawlBase
import Synchronization

/// A value confined to its own thread.
protocol ThreadBound: AnyObject {
    /// When the thread has something to do without new work; `nil` for never.
    var deadline: Instant? { get }
    var hasEnded: Bool { get }
    /// Called when the queued work is done.
    func settle()
}

/// A thread that owns a value, and its serial work queue, which any thread may post to.
final class WorkThread<Owner: ThreadBound>: Sendable {
    typealias Work = @Sendable (Owner) -> Void

    private struct Queue {
        var work: [Work] = []
        /// Ends the thread's wait; `nil` before it runs and afterwards.
        var wake: (@Sendable () -> Void)?
        var isOver = false

        mutating func take() -> [Work] {
            defer { work = [] }
            return work
        }
    }

    private let queue = Mutex(Queue())

    /// Posts work; `false` when it will not be executed.
    @discardableResult func post(_ item: @escaping Work) -> Bool {
        let (isHeard, wake) = queue.withLock { queue in
            guard !queue.isOver else { return (false, (@Sendable () -> Void)?.none) }
            queue.work.append(item)
            // The first item has ended the wait already.
            return (true, queue.work.count == 1 ? queue.wake : nil)
        }
        wake?()
        return isHeard
    }

    /// Executes posted work until the owner has ended; in between the thread waits at `poller`.
    func run(_ owner: Owner, at poller: any Poller) {
        queue.withLock { $0.wake = poller.wake }
        while !owner.hasEnded {
            var work = queue.withLock { $0.take() }
            if work.isEmpty {
                poller.wait(until: owner.deadline)
                work = queue.withLock { $0.take() }
            }
            for item in work { item(owner) }
            owner.settle()
        }
        let rest = queue.withLock { queue in
            queue.isOver = true
            queue.wake = nil
            return queue.take()
        }
        for item in rest { item(owner) }
        owner.settle()
    }
}
