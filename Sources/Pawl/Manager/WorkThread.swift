import PawlCore
import PawlSystem

/// A value confined to its own thread.
protocol ThreadBound: AnyObject {
    /// How long the thread may sleep when idle; `nil` for an unlimited time.
    var patience: Interval? { get }
    var hasEnded: Bool { get }
    /// Called when the queued work is done.
    func settle()
}

/// A thread that owns a value, and its serial work queue, which any thread may post to.
final class WorkThread<Owner: ThreadBound>: Sendable {
    typealias Work = @Sendable (Owner) -> Void

    private struct Queue {
        var work: [Work] = []
        var isOver = false

        mutating func take() -> [Work] {
            defer { work = [] }
            return work
        }
    }

    private let queue = Monitor(Queue())

    /// Posts work; `false` when it will not be executed.
    @discardableResult
    func post(_ item: @escaping Work) -> Bool {
        queue.with(waking: .one) { queue in
            if !queue.isOver { queue.work.append(item) }
            return !queue.isOver
        }
    }

    /// Executes posted work until the owner has ended.
    func run(_ owner: Owner) {
        while !owner.hasEnded {
            let deadline = owner.patience.map { SystemClock().now + $0 }
            let work = queue.wait(until: deadline) { $0.work.isEmpty ? nil : $0.take() }
            for item in work ?? [] { item(owner) }
            owner.settle()
        }
        let rest = queue.with { queue in
            queue.isOver = true
            return queue.take()
        }
        for item in rest { item(owner) }
        owner.settle()
    }
}
