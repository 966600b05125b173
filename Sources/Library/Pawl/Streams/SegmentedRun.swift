#if Features
import PawlBase
import PawlCore
import PawlEngine
import PawlJournal
import PawlStreams
import PawlSystem
import Synchronization

/// A stream as one download: a thread of its own reads playlists and joins segments.
final class SegmentedRun: DownloadOwner {
    private struct State {
        weak var download: Download?
        /// Of the thread that runs.
        var inbox: StreamInbox?
        var stopped: Latch?
        var hasEnded = false
        /// Its files, as they were begun; one that is complete has a stamp.
        var files: [QueuedStreamFile] = []
    }

    private let order: StreamWork.Order
    private let cell: ProgressCell
    private let board: EventBoard
    private let disk: any Disk
    private weak let downloader: Downloader?
    private let state = Mutex(State())

    init(_ order: StreamWork.Order, _ cell: ProgressCell, _ downloader: Downloader) {
        (self.order, self.cell, self.downloader) = (order, cell, downloader)
        (board, disk) = (downloader.board, downloader.disk)
    }

    func attach(_ download: Download) { state.withLock { $0.download = download } }

    // MARK: DownloadOwner

    func resume(_ id: Download.ID) {
        let begun = state.withLock { state -> (Download, StreamInbox, Latch)? in
            guard let download = state.download, state.inbox == nil, !state.hasEnded else { return nil }
            let (inbox, latch) = (StreamInbox(), Latch())
            (state.inbox, state.stopped) = (inbox, latch)
            return (download, inbox, latch)
        }
        guard let (download, inbox, latch) = begun else { return }
        SystemThread.detached("pawl-stream", blocksSignals: true) { [self] in
            work(download, inbox)
            latch.open()
        }
    }

    func pause(_ id: Download.ID) { state.withLock { $0.inbox }?.stop() }

    /// Stops it, and returns when what was received is on disk.
    func stop() {
        let latch = state.withLock { state in
            state.inbox?.stop()
            return state.stopped
        }
        latch?.pass()
    }

    func remove(_ download: Download, keepingFile: Bool) async throws(PawlError) {
        pause(download.id)
        await state.withLock { $0.stopped }?.opened()
        let files = state.withLock { $0.files }
        let (isFinished, wasThere) =
            if case .success(let file) = download.outcome { (true, file.wasThere) } else { (false, false) }
        do throws(Failure) {
            for file in files where !isFinished || !keepingFile && !wasThere { try removeFile(file) }
        } catch { throw PawlError(error) }
        board.removedAtRest(download)
    }

    private func removeFile(_ file: QueuedStreamFile) throws(Failure) {
        let place = FileLocation(
            disk: disk, folder: order.options.folder, sources: [order.address], formerSources: [file.place])
        if let stamp = file.stamp {
            try place.removeFile(file.name, stamp: stamp, length: stamp.length)
        } else if disk.holdsPart(of: file.name, in: order.options.folder) {
            try place.removePartial(of: file.name)
        }
    }

    fileprivate func note(_ file: QueuedStreamFile) { state.withLock { $0.files.note(file) } }

    func letGo(_ id: Download.ID) {
        state.withLock { $0.inbox }?.stop()
        downloader?.forget(self, id)
    }

    // MARK: the thread

    private func work(_ download: Download, _ inbox: StreamInbox) {
        let listener = RunListener(download, board) { [weak self] in self?.note($0) }
        let work = StreamWork(order, cell, disk, listener)
        let end: Result<StreamWork.Outcome, StreamEnd>
        do throws(StreamEnd) {
            guard let downloader else { throw .stopped }
            let requests: StreamRequests
            do throws(Failure) {
                requests = try StreamRequests(order.source, order.options, by: DownloaderFetching(downloader))
            } catch { throw .failed(error) }
            end = .success(try work.run(requests, inbox))
        } catch { end = .failure(error) }
        state.withLock { state in
            state.inbox = nil
            if case .success(let outcome) = end { state.files = outcome.files(of: state.files) }
            if case .failure(.stopped) = end {} else { state.hasEnded = true }
        }
        switch end {
        case .success(let outcome):
            work.end(in: .finished)
            board.report(.finished(outcome.file), of: download, stamp: outcome.stamp)
        case .failure(.stopped):
            work.end(in: .paused)
            board.report(.state(.paused), of: download)
        case .failure(.failed(let failure)):
            work.end(in: .failed)
            let error = PawlError(failure, of: order.source)
            var last = download.snapshot
            last.error = error
            download.show(last, box: nil, leaving: nil)
            board.report(.failed(error), of: download)
        case .failure(.notStream): downloader?.fetchAsFile(order, for: download)
        }
    }
}

/// Turns what a stream's thread tells into the events of a download.
private final class RunListener: StreamListener {
    private let download: Download
    private let board: EventBoard
    private let note: (QueuedStreamFile) -> Void

    init(_ download: Download, _ board: EventBoard, note: @escaping (QueuedStreamFile) -> Void) {
        (self.download, self.board, self.note) = (download, board, note)
    }

    func hear(_ news: StreamNews) {
        switch news {
        case .notice(let text):
            board.report(.notice(DownloadNotice(LocalizableMessage(untranslated: text))), of: download)
        case .began(let name, let place, let resumedAt, let isFirst):
            note(QueuedStreamFile(place: place, name: name))
            guard isFirst else { return }
            board.report(.started(name: name, total: nil, resumedAt: resumedAt), of: download)
        case .phase, .response: break
        }
    }

    func willPublish(_ publishing: Publishing?, further: [QueuedStreamFile]) {}
}

extension StreamWork.Outcome {
    /// What is known of its files now.
    fileprivate func files(of begun: [QueuedStreamFile]) -> [QueuedStreamFile] {
        let names = ([file.path] + file.others).map { $0.pathParts().last.map(String.init) ?? "" }
        return zip(names, [stamp] + further).compactMap { name, stamp in
            let place = begun.first { $0.name.hasSameBytes(as: name) }?.place
            return place.map { QueuedStreamFile(place: $0, name: name, stamp: stamp) }
        }
    }
}

extension Downloader {
    /// Nothing is kept of it any more.
    func forget(_ run: SegmentedRun, _ id: Download.ID) {
        streams.withLock { $0[id.rawValue] = nil }
        scheduler.forget(DownloadID(rawValue: id.rawValue))
    }
}
#endif
