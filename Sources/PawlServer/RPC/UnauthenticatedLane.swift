/// Work for callers who have not shown the secret: one piece after another, so that all of them together take no more
/// than one of many threads, and those who have shown it are served meanwhile.
final class UnauthenticatedLane: Sendable {
    /// Pieces that may wait.
    static let room = 256

    typealias Work = @Sendable () async -> Void
    private let work: AsyncStream<Work>.Continuation

    init() {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Work.self,
            bufferingPolicy: .bufferingOldest(UnauthenticatedLane.room)
        )
        work = continuation
        Task.detached(priority: .low) { for await piece in stream { await piece() } }
    }

    deinit { work.finish() }

    /// `false` when too many wait; then it is not done.
    func add(_ piece: @escaping Work) -> Bool {
        switch work.yield(piece) {
        case .enqueued: true
        case .dropped, .terminated: false
        @unknown default: false
        }
    }
}
