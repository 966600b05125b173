/// A serial queue for the work of unauthenticated clients: all of them together use at most one of many threads, and
/// authenticated clients are served meanwhile.
final class UnauthenticatedLane: Sendable {
    /// Work items that may wait.
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

    /// `false` if too many wait; the work is then dropped.
    func add(_ piece: @escaping Work) -> Bool {
        switch work.yield(piece) {
        case .enqueued: true
        case .dropped, .terminated: false
        @unknown default: false
        }
    }
}
