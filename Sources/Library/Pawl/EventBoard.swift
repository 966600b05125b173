import PawlBase
import PawlCore
import PawlEngine
import PawlJournal
import PawlQueue
import PawlSystem
import Synchronization

/// Dispatches engine events to their downloads and to the caller's closure.
final class EventBoard: Sendable {
    private struct State {
        var downloads: [UInt64: Download] = [:]
        var refusesNew = false
    }

    private let state = Mutex(State())
    private let onEvent: @Sendable (DownloadEvent) -> Void
    /// Who hears of the downloads that are parts of others.
    private let listeners = Mutex<[UInt64: @Sendable (DownloadEvent) -> Void]>([:])
    private let hasListeners = Atomic(false)

    init(onEvent: @escaping @Sendable (DownloadEvent) -> Void) { self.onEvent = onEvent }

    /// Keeps the download until its end; `false` after ``refuseNew()``.
    func add(_ download: Download) -> Bool {
        state.withLock { state in
            guard !state.refusesNew else { return false }
            state.downloads[download.id.rawValue] = download
            return true
        }
    }

    /// Sends the events of a download that is a part of another to `listener` instead; to be called before it runs.
    func divert(_ download: Download, to listener: @escaping @Sendable (DownloadEvent) -> Void) {
        listeners.withLock { $0[download.id.rawValue] = listener }
        hasListeners.store(true, ordering: .releasing)
    }

    private func send(_ event: DownloadEvent) {
        if hasListeners.load(ordering: .acquiring) {
            let listener = listeners.withLock { listeners in
                event.kind.isEnd ? listeners.removeValue(forKey: event.id.rawValue) : listeners[event.id.rawValue]
            }
            if let listener { return listener(event) }
        }
        onEvent(event)
    }

    /// Reports an event of a download that no engine runs.
    func report(_ kind: DownloadEvent.Kind, of download: Download, stamp: FileStamp? = nil) {
        onEvent(DownloadEvent(id: download.id, kind: kind))
        if case .state(let state) = kind, state.isAtRest { download.rested() }
        guard kind.isEnd else { return }
        _ = state.withLock { $0.downloads.removeValue(forKey: download.id.rawValue) }
        download.end(kind, stamp: stamp)
    }

    func refuseNew() { state.withLock { $0.refusesNew = true } }

    /// Ends every wait for a download that has not ended.
    func close(because why: String) {
        let left = state.withLock { state in
            defer { state.downloads = [:] }
            return state.downloads
        }
        // Outside the lock: the last reference to a download calls the engine.
        for download in left.values { download.close(because: why) }
    }

    /// Ends every wait for a download that will not run again; `false` if it was removed before.
    @discardableResult func removed(_ download: Download) -> Bool {
        _ = state.withLock { $0.downloads.removeValue(forKey: download.id.rawValue) }
        _ = listeners.withLock { $0.removeValue(forKey: download.id.rawValue) }
        return download.remove(because: "it was removed")
    }

    /// Reports it too: the engine does not report the removal of a download that does not run.
    func removedAtRest(_ download: Download) {
        if removed(download) { onEvent(DownloadEvent(id: download.id, kind: .state(.removed))) }
    }

    /// A notice of the disk that belongs to no single download.
    func notice(_ text: String) {
        onEvent(
            DownloadEvent(
                id: Download.ID(rawValue: 0), kind: .notice(DownloadNotice(LocalizableMessage(untranslated: text)))))
    }

    func post(_ report: EngineEvent) {
        let event = DownloadEvent(id: Download.ID(rawValue: report.id.rawValue), kind: report.kind)
        send(event)
        if case .state(let state) = event.kind, state.isAtRest {
            self.state.withLock { $0.downloads[report.id.rawValue] }?.rested()
        }
        guard event.kind.isEnd else { return }
        // The board keeps it alive only until its end.
        let download = state.withLock { $0.downloads.removeValue(forKey: report.id.rawValue) }
        download?.end(event.kind, stamp: report.stamp)
    }
}

extension EngineEvent {
    var kind: DownloadEvent.Kind {
        switch update {
        case .phase(let phase): .state(phase)
        case .started(let total, let resumedAt): .started(name: name, total: total, resumedAt: resumedAt)
        case .notice(let message): .notice(DownloadNotice(message))
        case .retrying(let failure, let after): .retry(PawlError(failure), delay: Duration(after))
        case .finished(let length, let wasThere): .finished(file(length: length, wasThere: wasThere))
        case .failed(let failure): .failed(error(failure))
        }
    }

    /// The finished file of this event.
    func file(length: Int64, wasThere: Bool) -> DownloadedFile {
        DownloadedFile(
            path: path, length: length, received: received, duration: Duration(elapsed), wasThere: wasThere,
            response: response, content: content, verification: FileVerification(verification))
    }
}
