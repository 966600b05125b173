#if Queue
import Pawl
import Synchronization

/// Passes queue events to a session, on the thread of the session's delegate.
final class SessionBridge: DownloadDelegate, SessionEventReceiver {
    private let session: DownloadSession

    init(session: DownloadSession) { self.session = session }

    func download(_ id: Download.ID, didStart total: Int64?, at offset: Int64, response: DownloadResponse?) {
        session.task(id).map { session.started($0, total, offset, response) }
    }

    func download(_ id: Download.ID, didWrite written: Int64, of total: Int64?) {
        session.task(id).map { session.wrote($0, written, total) }
    }

    func download(_ id: Download.ID, didFinish location: String, response: DownloadResponse?) {
        session.task(id).map { session.finish($0, location, response) }
    }

    func download(_ id: Download.ID, didComplete error: PawlError?) {
        // Without an error it was reported with the finish.
        guard let error else { return }
        session.task(id).map { session.failed($0, error) }
    }

    func download(_ id: Download.ID, didLoad segments: DownloadSnapshot.Segments) {
        session.task(id).map { session.loaded($0, segments) }
    }

    func download(_ id: Download.ID, hasFurther files: [String]) {
        session.task(id)?.facts.withLock { $0.others = files }
    }

    func download(_ id: Download.ID, didCollect metrics: [TransferMetrics]) {
        session.task(id).map { session.collected($0, metrics) }
    }

    func downloadIsWaitingForNetwork(_ id: Download.ID) { session.task(id).map { session.waitsForNetwork($0) } }
}
#endif
