/// A serial queue for work that must not take the service's memory or all its threads: whatever is not in it is served
/// meanwhile.
package final class SerialWork: Sendable {
    /// Work items that may wait.
    static let room = 256

    package typealias Work = @Sendable () async -> Void
    private let work: AsyncStream<Work>.Continuation

    package init(priority: TaskPriority) {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Work.self, bufferingPolicy: .bufferingOldest(SerialWork.room))
        work = continuation
        Task.detached(priority: priority) { for await piece in stream { await piece() } }
    }

    deinit { work.finish() }

    /// `false` if too many wait; the work is then dropped.
    package func add(_ piece: @escaping Work) -> Bool {
        switch work.yield(piece) {
        case .enqueued: true
        case .dropped, .terminated: false
        @unknown default: false
        }
    }
}
