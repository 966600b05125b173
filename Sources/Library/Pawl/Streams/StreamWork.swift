#if Features
import PawlBase
import PawlCore
import PawlEngine
import PawlJournal
import PawlStreams
import PawlSystem

/// What a stream's thread tells its owner.
enum StreamNews: Sendable {
    case notice(String)
    /// The playlist came with this response.
    case response(DownloadResponse)
    /// Bytes of a file follow; `place`: what its journal has as its source, `isFirst`: its name is that of the stream.
    case began(name: String, place: String, resumedAt: Int64, isFirst: Bool)
    case phase(DownloadState)
}

/// The owner of a stream, on the stream's thread.
protocol StreamListener: AnyObject {
    func hear(_ news: StreamNews)
    /// Everything is on disk, and the files get their names next; blocks until that is noted.
    ///
    /// `publishing`: the one with the stream's name, unless that was there; `further`: the others.
    func willPublish(_ publishing: Publishing?, further: [QueuedStreamFile]) throws(Failure)
}

/// What a stream's thread does from the playlist to the files.
///
/// For one thread; the cell is read by others.
final class StreamWork {
    /// What is to be done, and where.
    struct Order: Sendable {
        /// The given URL.
        var source: String
        var address: WebAddress
        /// What tells part files of this stream from others: the URL that it had first.
        var origin: String
        var options: DownloadOptions
        var stream: StreamOptions
        /// The names that files of it have, or had when they were begun.
        var names: [QueuedStreamFile] = []
        /// What gets the bytes instead of files.
        var target: StreamTarget?
        /// What the thread that writes to it has to say.
        var onNotice: @Sendable (String) -> Void = { _ in }
    }

    /// What became of it.
    struct Outcome: Sendable {
        /// The first file, which has the stream's name.
        var file: DownloadedFile
        var stamp: FileStamp?
        /// Those of the others.
        var further: [FileStamp?]
    }

    private let order: Order
    private let cell: ProgressCell
    private let disk: any Disk
    private let listener: any StreamListener
    private var sample = ProgressSample()
    private var meter = SpeedMeter()
    private let begun = SystemClock().now
    private struct Progress {
        var written: Int64 = 0
        var received: Int64 = 0
        var requests = 0
        var done = 0
        var total: Int
    }

    /// Of each file.
    private var progress: [Progress] = []
    private var isRecording = false
    /// Why several files are not joined, where that was tried.
    private var whyApart: String?

    private var options: DownloadOptions { order.options }

    init(_ order: Order, _ cell: ProgressCell, _ disk: any Disk, _ listener: any StreamListener) {
        (self.order, self.cell, self.disk, self.listener) = (order, cell, disk, listener)
    }

    func run(_ requests: StreamRequests, _ inbox: StreamInbox) throws(StreamEnd) -> Outcome {
        show(.probing)
        let duration = order.stream.live.map { Int64(clamping: $0.components.seconds) * 1_000_000 }
        let reader = StreamReader(
            requests: requests, inbox: inbox, choice: order.stream.choice, duration: duration)
        let found = try reader.read()
        if let response = found.response { listener.hear(.response(response)) }
        for notice in found.notices { tell(notice) }
        isRecording = !found.live.isEmpty
        var files = found.files
        if let target = order.target, files.count > 1 {
            throw .failed(
                Failure(
                    .badOption, "cannot write the stream", at: target.name,
                    because:
                        "it becomes \(files.count) files: sound and pictures are apart, or its initialization changes",
                    remedy: "download to files"))
        }
        let reserved = try reserve(&files)
        if case .present(let path) = reserved { return presentOutcome(path) }
        progress = files.map { Progress(total: $0.items.count) }
        show(.transferring)
        let transfers = files.enumerated().map { number, file in
            let terms = StreamTransfer.Terms(
                requests: requests, inbox: inbox, options: options, width: width,
                allowedGaps: order.stream.allowedGaps,
                open: { [self] (file) throws(Failure) in try open(file) },
                askAgain: { () throws(StreamEnd) in try Self.sameFile(as: file, in: try reader.read().files, requests)
                },
                report: { [self] in hear($0, of: number, file) })
            return StreamTransfer(number, file, terms, found.live[file.track])
        }
        do throws(StreamEnd) {
            // A programme that is running passes in all its files at once.
            if isRecording {
                try drive(transfers, inbox)
            } else {
                for transfer in transfers { try drive([transfer], inbox) }
            }
            let results = transfers.compactMap(\.result)
            if case .file(let joined as StreamPartFile, _, _, _) = reserved,
                let outcome = try join(results, to: joined, inbox)
            {
                return outcome
            }
            return try finish(results)
        } catch {
            for transfer in transfers { transfer.abandon() }
            if case .file(let joined, _, _, _) = reserved { joined.close() }
            throw error
        }
    }

    /// How often progress is reported.
    private static let interval = Interval.milliseconds(200)

    /// Blocks until all bytes of these files are on disk.
    private func drive(_ transfers: [StreamTransfer], _ inbox: StreamInbox) throws(StreamEnd) {
        for transfer in transfers { try transfer.begin() }
        while transfers.contains(where: { $0.result == nil }) {
            do throws(StreamEnd) {
                for (number, message) in try inbox.take(until: SystemClock().now + Self.interval) {
                    try transfers.first { $0.number == number }?.hear(message)
                }
                for transfer in transfers where transfer.result == nil { try transfer.turn() }
            } catch {
                guard isRecording, case .stopped = error else { throw error }
                for transfer in transfers where transfer.result == nil { try transfer.cut() }
            }
        }
    }

    private static func sameFile(
        as file: StreamFile, in files: [StreamFile], _ requests: StreamRequests
    ) throws(StreamEnd) -> StreamFile {
        if let same = files.first(where: { $0.track == file.track }) { return same }
        throw .failed(
            Failure(
                .badResponse, "cannot continue", at: requests.source.redacted,
                because: "the playlist no longer has this track"))
    }

    /// Requests at once, where the user gives no number; a limit of the rate is that of each request.
    private var width: Int { options.connections ?? (options.rateLimit == nil ? 6 : 1) }

    // MARK: files

    private func place(of file: StreamFile) -> String {
        // A recording is never continued: another one has other segments.
        let turn = isRecording ? "-\(begun.nanoseconds)" : ""
        return order.origin + "#" + FNV.hex(FNV.hash64(file.track.utf8)) + turn
    }

    private func open(_ file: StreamFile) throws(Failure) -> OpenedOutput? {
        let place = place(of: file)
        if let target = order.target {
            let pipe = try StreamPipe(target, of: place, notice: order.onNotice)
            return .file(pipe, next: 0, gaps: [], notice: nil)
        }
        let name: String
        if let known = order.names.first(where: { $0.place == place }) {
            name = known.name
        } else if let chosen = options.fileName, file.label.isEmpty {
            name = chosen
        } else if let chosen = options.fileName, file.content == .video {
            let (stem, suffix) = StreamFile.parts(of: chosen)
            name = "\(stem).\(file.label)\(suffix)"
        } else if let unfinished = disk.unfinished(of: place, in: options.folder),
            options.fileName.map({ unfinished.hasPrefix(StreamFile.parts(of: $0).stem + ".") }) ?? true
        {
            name = unfinished
        } else if let container = file.container {
            let first = file.items.first { !$0.isInitialization }?.segment.address
            let label = file.label.isEmpty ? "" : "." + file.label
            let suffix = label + container.suffix(for: file.content, first: first)
            name = options.fileName.map { StreamFile.parts(of: $0).stem + suffix } ?? FileName.safe(stem + suffix)
        } else {
            return nil
        }
        return try StreamPartFile.open(file, as: name, of: place, options, on: disk)
    }

    /// The playlist's name without its suffix.
    private var stem: String {
        let address = order.address
        let policy = options.naming == .hash ? NamingPolicy.hash : .url
        let name = NamingPolicy.choose(policy, address: address, head: nil, given: [address], charsets: .system)
        for suffix in [".m3u8", ".m3u", ".mpd"]
        where name.lowercased().utf8.suffix(suffix.utf8.count).elementsEqual(suffix.utf8) {
            let stem = String(decoding: name.utf8.dropLast(suffix.utf8.count), as: UTF8.self)
            return stem.isEmpty ? "stream" : stem
        }
        return name
    }

    /// Gives all files their names, once all are complete: the one with the stream's name last, since it stands for all.
    private func finish(_ results: [StreamTransfer.Result]) throws(StreamEnd) -> Outcome {
        show(.publishing)
        var paths = results.map(\.path)
        do throws(Failure) {
            let first = results[0].output.map { output in
                Publishing(
                    name: output.name, length: output.offset, source: order.source, stamp: stamp(ofPart: output))
            }
            let further = results.dropFirst().compactMap { result in
                result.output.map {
                    QueuedStreamFile(place: place(of: result.file), name: $0.name, stamp: stamp(ofPart: $0))
                }
            }
            if first != nil || !further.isEmpty { try listener.willPublish(first, further: further) }
            for index in results.indices.reversed() {
                guard let output = results[index].output else { continue }
                paths[index] = try output.publish(
                    results[index].file.identity, isWhole: results[index].gaps.isEmpty)
            }
        } catch { throw .failed(error) }
        for path in paths.dropFirst() { tell("also \(path)") }
        if let reason = whyApart ?? StreamFile.reason(results.map(\.file), at: paths) { tell(reason) }
        return outcome(paths, results)
    }

    /// What the part file will be known by, when it has its name.
    private func stamp(ofPart output: any StreamOutput) -> FileStamp? {
        var stamp = disk.stamp(of: FileName.partial(of: output.name), in: options.folder)
        stamp?.length = output.offset
        return stamp
    }

    private func outcome(_ paths: [String], _ results: [StreamTransfer.Result]) -> Outcome {
        let stamps = paths.map { path in
            let (folder, name) = Self.parts(of: path)
            return order.target == nil ? disk.stamp(of: name, in: folder) : nil
        }
        let stamp = stamps[0]
        var file = DownloadedFile(
            path: paths[0], length: stamp?.length ?? results.first?.output?.offset ?? 0, received: sample.received,
            duration: Duration(SystemClock().now - begun), wasThere: results.allSatisfy { $0.output == nil })
        file.others = Array(paths.dropFirst())
        file.gaps = results.flatMap(\.gaps)
        return Outcome(file: file, stamp: stamp, further: Array(stamps.dropFirst()))
    }

    // MARK: joining by ffmpeg

    /// The file that all become, if that is wanted and possible.
    private func reserve(_ files: inout [StreamFile]) throws(StreamEnd) -> OpenedOutput? {
        guard order.target == nil, let text = order.stream.remux, let container = RemuxPlan.Container(rawValue: text)
        else { return nil }
        // Nothing can be joined, and at the end a notice says why.
        if files.contains(where: { $0.part > 0 && $0.container != .fragments }) { return nil }
        guard StreamRemux.isInstalled else {
            tell("\(StreamRemux.program) is not installed, so that nothing is joined to one file.")
            return nil
        }
        for index in files.indices where files[index].label.isEmpty {
            files[index].label = files[index].content == .audio ? "audio" : "video"
        }
        let identity = StreamFile.identity(of: files, joinedAs: container)
        let place = order.origin + "#" + container.rawValue + (isRecording ? "-\(begun.nanoseconds)" : "")
        do throws(Failure) {
            let name =
                order.names.first { $0.place == place }?.name ?? options.fileName
                ?? disk.unfinished(of: place, in: options.folder)
                ?? FileName.safe(stem + "." + container.rawValue)
            let opened = try StreamPartFile.reserve(identity, as: name, of: place, options, on: disk)
            if case .file(let output, _, _, _) = opened {
                sample.name = output.name
                cell.set(sample)
                listener.hear(.began(name: output.name, place: place, resumedAt: 0, isFirst: true))
            }
            return opened
        } catch { throw .failed(error) }
    }

    private func presentOutcome(_ path: String) -> Outcome { outcome([path], []) }

    /// `nil` where that is not possible, as a notice says.
    private func join(
        _ results: [StreamTransfer.Result], to joined: StreamPartFile, _ inbox: StreamInbox
    ) throws(StreamEnd) -> Outcome? {
        guard let container = order.stream.remux.flatMap(RemuxPlan.Container.init) else { return nil }
        let files = results.map { result in
            let input = RemuxPlan.Input(
                path: (result.output as? StreamPartFile)?.partPath ?? result.path, content: result.file.content,
                container: result.output?.container ?? result.file.container, language: result.file.language)
            return RemuxPlan.Part(input, of: result.file)
        }
        let inputs: [RemuxPlan.Input]
        do throws(StreamFlaw) {
            inputs = try [RemuxPlan.Input](files, times: StreamRemux.times)
        } catch {
            whyApart = "Nothing is joined to one file: \(error.why)."
            joined.discard()
            return nil
        }
        let plan = RemuxPlan(inputs, to: joined.partPath, as: container)
        do throws(Failure) {
            try StreamRemux.run(plan, size: sample.written, isWanted: { isRecording || !inbox.isStopped })
        } catch {
            if !isRecording, inbox.isStopped { throw .stopped }
            tell("Nothing is joined to one file: \(error.why).")
            joined.discard()
            return nil
        }
        do throws(Failure) {
            let (folder, _) = Self.parts(of: joined.path)
            joined.wasWritten(length: disk.length(of: FileName.partial(of: joined.name), in: folder) ?? 0)
            show(.publishing)
            try listener.willPublish(
                Publishing(
                    name: joined.name, length: joined.offset, source: order.source, stamp: stamp(ofPart: joined)),
                further: [])
            let identity = StreamFile.identity(of: results.map(\.file), joinedAs: container)
            let path = try joined.publish(identity, isWhole: results.allSatisfy(\.gaps.isEmpty))
            for result in results { result.output?.discard() }
            return outcome([path], results)
        } catch { throw .failed(error) }
    }

    // MARK: events

    /// The thread ends in this state.
    func end(in state: DownloadState) {
        (sample.speed, sample.smoothed, sample.connections) = (0, 0, 0)
        if state == .finished { sample.total = sample.written }
        sample.phase = state
        cell.set(sample)
    }

    private func tell(_ text: String) { listener.hear(.notice(text)) }

    private func show(_ state: DownloadState) {
        guard sample.phase != state else { return }
        sample.phase = state
        cell.set(sample)
        listener.hear(.phase(state))
    }

    private func hear(_ report: StreamReport, of index: Int, _ file: StreamFile) {
        switch report {
        case .notice(let text): tell(text)
        case .started(let name, let resumedAt):
            let isFirst = index == 0 && sample.name == nil
            if isFirst { sample.name = name }
            cell.set(sample)
            listener.hear(.began(name: name, place: place(of: file), resumedAt: resumedAt, isFirst: isFirst))
        case .progress(let written, let received, let requests, let done, let count):
            progress[index] = Progress(
                written: written, received: received, requests: requests, done: done, total: count)
            sample.written = progress.reduce(0) { $0 + $1.written }
            sample.received = progress.reduce(0) { $0 + $1.received }
            sample.connections = progress.reduce(0) { $0 + $1.requests }
            let now = SystemClock().now
            meter.note(total: sample.received, now: now)
            (sample.speed, sample.smoothed) = (meter.lastSecond(now: now), meter.smoothed(now: now))
            // How many segments a programme will have had is not known.
            if !isRecording {
                sample.parts = (progress.reduce(0) { $0 + $1.done }, progress.reduce(0) { $0 + $1.total })
            }
            cell.set(sample)
        }
    }

    /// The folder and the name of a path.
    private static func parts(of path: String) -> (folder: String, name: String) {
        guard let slash = path.utf8.lastIndex(of: .slash) else { return (".", path) }
        let folder = slash == path.utf8.startIndex ? "/" : String(path[..<slash])
        return (folder, String(path[path.utf8.index(after: slash)...]))
    }
}
#endif
