#if Queue
import PawlBase
import PawlCore
import PawlEngine
import PawlJournal
import PawlQueue
import PawlStreams
import PawlSystem

// Streams of the queue: a download whose run is a thread that joins segments, which the engine requests.
extension QueueKeeper {
    /// The run of a record that is a stream; `nil` for one that is a file.
    func makeStream(
        of record: QueueRecord, _ engineID: DownloadID, _ cell: ProgressCell
    ) throws(Failure) -> QueuedStream? {
        let stored = StoredOptions(text: record.options)
        guard let stream = stored.stream else { return nil }
        var options = stored.options
        (options.folder, options.mirrors) = (path(of: record), Array(record.sources.dropFirst()))
        let order = StreamWork.Order(
            source: record.sources[0], address: try WebAddress.parse(record.sources[0]).address,
            origin: stored.formerSources.first ?? record.sources[0], options: options, stream: stream,
            names: stored.parts)
        return QueuedStream(order, cell, ports.disk, thread, settingsCache, engineID)
    }

    // MARK: what its thread reports

    fileprivate func heard(_ news: StreamNews, from engineID: DownloadID) {
        guard let id = ids[engineID] else { return }
        switch news {
        case .notice(let text): notify(id, .notice(DownloadNotice(LocalizableMessage(untranslated: text))))
        case .response(let response): noteResponse(response, of: id)
        case .phase(let phase):
            if phase == .publishing { perform(machine.publishing(id)) }
            if machine.rest(of: id) == nil { notify(id, .state(phase)) }
        case .began(let name, let place, let resumedAt, let isFirst):
            starts.end(id)
            edit(id) { record in
                record.change { $0.parts.note(QueuedStreamFile(place: place, name: name)) }
                record.startedAt = record.startedAt ?? ports.clock.wallTime
                if isFirst { record.name = name }
                notePlace(of: &record)
            }
            guard isFirst else { return }
            completions.append { [broadcaster, response = runs[id]?.response] _ in
                broadcaster.dispatcher.started(Download.ID(rawValue: id.rawValue), nil, resumedAt, response)
            }
            notify(id, .started(name: name, total: nil, resumedAt: resumedAt))
        }
    }

    fileprivate func willPublish(
        _ publishing: Publishing?, _ further: [QueuedStreamFile], from engineID: DownloadID,
        _ completion: @escaping @Sendable (Result<Void, Failure>) -> Void
    ) {
        guard let id = ids[engineID] else { return completion(.success(())) }
        // After a kill they are known as this download's.
        edit(id) { $0.change { stored in for part in further { stored.parts.note(part) } } }
        if let publishing { return self.publishing(id, publishing, completion) }
        completions.append { failure in completion(failure.map { .failure($0) } ?? .success(())) }
    }

    fileprivate func ended(_ end: Result<StreamWork.Outcome, StreamEnd>, from engineID: DownloadID) {
        guard let id = ids[engineID] else { return }
        switch end {
        case .success(let outcome):
            edit(id) { record in
                let folder = path(of: record)
                record.change { stored in
                    stored.finished = outcome.stamp
                    stored.keep([outcome.file.path] + outcome.file.others, ports.disk, in: folder)
                }
            }
            self.end(id, .success(outcome.file))
        case .failure(.stopped): stopped(id)
        case .failure(.failed(let failure)): self.end(id, .failure(failure))
        case .failure(.notStream):
            edit(id) { $0.change { ($0.stream, $0.detectsStreams) = (nil, false) } }
            runAgain(id)
        }
    }

    /// A file turned out to be a playlist: its download goes on as a stream.
    ///
    /// `false` where the failure is another one.
    func becomesStream(_ id: QueueID, after failure: Failure) -> Bool {
        guard failure.isOfOtherType, closing.isEmpty, !isLeaving(id) else { return false }
        edit(id) { $0.change { $0.stream = StreamOptions() } }
        runAgain(id)
        return true
    }

    /// It goes on in its slot, as something else.
    private func runAgain(_ id: QueueID) {
        leave(id)
        begin(id)
    }

    // MARK: its further files

    /// Removes the part files of a stream's further files; where it has not finished, also what had its name already.
    func removeFurtherParts(of record: QueueRecord, isFinished: Bool) throws(Failure) {
        let folder = path(of: record)
        for part in StoredOptions(text: record.options).parts where !part.name.hasSameBytes(as: record.name ?? "") {
            if let stamp = part.stamp, !isFinished {
                let file = FinishedFile(stamp: stamp, length: stamp.length, sources: [part.place])
                try ports.disk.remove(part.name, in: folder, if: file)
            }
            if ports.disk.holdsPart(of: part.name, in: folder) { try removePartial(of: record, named: part.name) }
        }
    }
}

/// A file of a stream in the queue, as its record has it.
struct QueuedStreamFile: Hashable, Sendable {
    /// What its journal has as its source.
    var place: String
    var name: String
    /// It has its name, and this stamp.
    var stamp: FileStamp?

    init(place: String, name: String, stamp: FileStamp? = nil) {
        (self.place, self.name, self.stamp) = (place, name, stamp)
    }

    /// One line: the parts between tabs, which no URL has.
    var text: String { "\(place)\t\(stamp?.text ?? "")\t\(name)" }

    init?(text: String) {
        let parts = text.utf8.split(separator: UInt8(ascii: "\t"), maxSplits: 2, omittingEmptySubsequences: false).map {
            String(Substring($0))
        }
        guard parts.count == 3 else { return nil }
        self.init(place: parts[0], name: parts[2], stamp: FileStamp(text: parts[1]))
    }
}

extension [QueuedStreamFile] {
    /// In place of what was known of it.
    mutating func note(_ part: QueuedStreamFile) {
        removeAll { $0.place == part.place }
        append(part)
    }
}

extension StoredOptions {
    /// It has finished with the files of these paths; of others only what is left of them is known.
    fileprivate mutating func keep(_ paths: [String], _ disk: any Disk, in folder: String) {
        let names = paths.compactMap { $0.pathParts().last.map(String.init) }
        parts.removeAll { part in
            part.stamp == nil && !names.containsBytes(of: part.name) && !disk.holdsPart(of: part.name, in: folder)
        }
        for index in parts.indices where names.containsBytes(of: parts[index].name) {
            parts[index].stamp = disk.stamp(of: parts[index].name, in: folder)
        }
    }
}

/// One run of a stream in the queue.
final class QueuedStream: StreamListener, Sendable {
    private let order: StreamWork.Order
    private let cell: ProgressCell
    private let disk: any Disk
    private weak let thread: WorkMailbox<QueueKeeper>?
    private let settingsCache: TransferSettingsCache
    private let id: DownloadID
    private let inbox = StreamInbox()

    init(
        _ order: StreamWork.Order, _ cell: ProgressCell, _ disk: any Disk, _ thread: WorkMailbox<QueueKeeper>,
        _ settingsCache: TransferSettingsCache, _ id: DownloadID
    ) {
        (self.order, self.cell, self.disk) = (order, cell, disk)
        (self.thread, self.settingsCache, self.id) = (thread, settingsCache, id)
    }

    /// Begins; the keeper hears of its end.
    func start() { SystemThread.detached("pawl-stream", blocksSignals: true) { [self] in run() } }

    func stop() { inbox.stop() }

    private func run() {
        guard let thread else { return }
        let work = StreamWork(order, cell, disk, self)
        let end: Result<StreamWork.Outcome, StreamEnd>
        do throws(StreamEnd) {
            let requests: StreamRequests
            do throws(Failure) {
                requests = try StreamRequests(
                    order.source, order.options, by: QueueFetching(thread, settingsCache, for: id))
            } catch { throw .failed(error) }
            end = .success(try work.run(requests, inbox))
        } catch { end = .failure(error) }
        switch end {
        case .success: work.end(in: .finished)
        case .failure(.failed): work.end(in: .failed)
        case .failure(.stopped), .failure(.notStream): work.end(in: .paused)
        }
        thread.post { [id] in $0.ended(end, from: id) }
    }

    // MARK: StreamListener

    func hear(_ news: StreamNews) { thread?.post { [id] in $0.heard(news, from: id) } }

    func willPublish(_ publishing: Publishing?, further: [QueuedStreamFile]) throws(Failure) {
        let latch = ResultLatch<Void>()
        let isHeard =
            thread?.post { [id] in $0.willPublish(publishing, further, from: id) { latch.open($0) } } ?? false
        if isHeard { try latch.pass() }
    }
}
#endif
