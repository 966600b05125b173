#if Features
import PawlBase
import PawlCore
import PawlStreams
import PawlSystem

/// Downloads one file of a stream: carries out what ``StreamMachine`` decides.
///
/// For one thread.
final class StreamTransfer {
    /// What it needs of the stream.
    struct Terms {
        let requests: StreamRequests
        let inbox: StreamInbox
        let options: DownloadOptions
        let width: Int
        let allowedGaps: Int
        /// Makes the part file of the file, once its container is known.
        let open: (StreamFile) throws(Failure) -> OpenedOutput?
        /// Requests the playlist again, and returns the same file of it.
        let askAgain: () throws(StreamEnd) -> StreamFile
        let report: (StreamReport) -> Void
    }

    struct Result {
        /// It has all bytes, and not its name; `nil` for a file that was there.
        var output: (any StreamOutput)?
        var path: String
        /// What it is of, as the playlist was last.
        var file: StreamFile
        /// Segments that are left out, by number, with the reason.
        var gaps: [String] = []
    }

    /// Its number among the files of the stream.
    let number: Int
    private let terms: Terms
    /// Where the playlist of a programme is that is being recorded.
    private var live: LiveSource?
    private var isAskingLive = false
    /// A playlist of it has come over TLS.
    private var requiresTLS: Bool
    private var machine: StreamMachine
    private var container: StreamTrack.Container?
    private var output: (any StreamOutput)?
    private var bytes: [Int: StreamRequests.Content] = [:]
    private var keys: [WebAddress: [UInt8]] = [:]
    private var stops: [Int: @Sendable () -> Void] = [:]
    private var stopLive: (@Sendable () -> Void)?
    private var keyStops: [WebAddress: @Sendable () -> Void] = [:]
    private var gaps: [String] = []
    private var subtitles = WebVTTJoin()
    /// Lengths and sums of what came without an end, to be compared with what comes next.
    private var unproven: [Int: [UInt64]] = [:]
    private(set) var received: Int64 = 0
    /// Requests of an earlier epoch are void.
    private var epoch = 0
    /// Set at the end.
    private(set) var result: Result?

    init(_ number: Int, _ file: StreamFile, _ terms: Terms, _ live: LiveSource? = nil) {
        self.number = number
        self.terms = terms
        self.live = live
        requiresTLS = file.requiresTLS
        container = file.container
        // The name of the file depends on the container: the first segment comes alone, since a file of that name may be there.
        let width = file.container == nil ? 1 : terms.width
        machine = StreamMachine(file, width: width, allowedGaps: terms.allowedGaps, isOpen: live != nil)
    }

    func begin() throws(StreamEnd) {
        let (next, gaps) = try continued()
        guard result == nil else { return }
        try perform(machine.begin(at: next, gaps: gaps))
        if let end = live?.recording.end { try perform(ends(end)) }
    }

    /// Called a few times a second.
    func turn() throws(StreamEnd) {
        report()
        askLive()
    }

    /// Ends a recording with what is on disk; throws if that is nothing.
    func cut() throws(StreamEnd) {
        cancel()
        guard output != nil else { throw .stopped }
        terms.report(.notice("the recording ends here, as was wanted"))
        try perform(machine.cut())
    }

    /// Ends it: what is on disk is kept.
    func abandon() {
        cancel()
        output?.close()
    }

    /// Takes up what an earlier run has left.
    private func continued() throws(StreamEnd) -> (next: Int, gaps: [Int]) {
        let opened: OpenedOutput?
        do throws(Failure) { opened = try terms.open(machine.file) } catch { throw .failed(error) }
        guard let opened else { return (0, []) }
        return try use(opened)
    }

    private func use(_ opened: OpenedOutput) throws(StreamEnd) -> (next: Int, gaps: [Int]) {
        switch opened {
        case .present(let path):
            result = Result(output: nil, path: path, file: machine.file)
            return (0, [])
        case .file(let output, var next, var gaps, let notice):
            self.output = output
            machine.width = terms.width
            container = container ?? output.container
            let lost = gaps.count { !machine.file.items[$0].segment.isGap }
            var reason: String?
            // Which cues are in the file is not known any more; they are few bytes.
            if container == .webVTT, next > 0 { reason = "subtitles are not continued" }
            if !machine.file.allows(lost, of: terms.allowedGaps) {
                reason = "segments were left out, which is not allowed now"
            }
            if let reason {
                do throws(Failure) { try output.startOver(machine.file) } catch { throw .failed(error) }
                (next, gaps) = (0, [])
                terms.report(.notice("\(reason): the download starts over"))
            }
            for index in gaps { note(gap: index, "it was left out before") }
            if let notice { terms.report(.notice(notice)) }
            terms.report(.started(name: output.name, resumedAt: output.offset))
            return (next, gaps)
        }
    }

    // MARK: messages

    func hear(_ message: StreamInbox.Message) throws(StreamEnd) {
        guard result == nil else { return }
        switch message {
        case .document: break
        case .playlist(let found): try hearLive(found)
        case .segment(let index, let epoch, let result):
            guard epoch == self.epoch else { return }
            stops[index] = nil
            switch result {
            case .success(let content):
                let count = content.body.count
                received += Int64(count)
                bytes[index] = content
                // More than that is not in memory.
                try perform(machine.fetched(index, bytes: min(count, SegmentSpool.memory)))
            case .failure(let failure): try perform(machine.failed(index, failure))
            }
        case .key(let address, let epoch, let result):
            guard epoch == self.epoch else { return }
            keyStops[address] = nil
            switch result {
            case .success(let content):
                keys[address] = content.bytes
                try perform(machine.keyFetched(address))
            case .failure(let failure): try perform(machine.keyFailed(address, failure))
            }
        }
    }

    private func perform(_ actions: [StreamMachine.Action]) throws(StreamEnd) {
        var epoch = epoch
        for action in actions {
            // What was decided before it started over is void.
            guard result == nil, epoch == self.epoch else { return }
            switch action {
            case .fetch(let index): fetch(index)
            case .fetchKey(let address): fetchKey(address)
            case .append(let index): try append(index)
            case .compare(let index): try compare(index)
            case .skip(let index, let why): try skip(index, why)
            case .askAgain: try askAgain()
            case .startOver(let why):
                try startOver(why)
                epoch = self.epoch
            case .finish: try finish()
            case .fail(let failure):
                // That its reader is gone too says nothing more.
                try? output?.settle()
                throw .failed(failure)
            }
        }
    }

    private func fetch(_ index: Int) {
        let segment = machine.file.items[index].segment
        stops[index] = terms.requests.fetchSegment(segment, requiresTLS: requiresTLS) {
            [inbox = terms.inbox, epoch, number] in inbox.post(.segment(index, epoch: epoch, $0), for: number)
        }
    }

    private func fetchKey(_ address: WebAddress) {
        keyStops[address] = terms.requests.fetchKey(address, requiresTLS: requiresTLS) {
            [inbox = terms.inbox, epoch, number] in
            inbox.post(.key(address, epoch: epoch, $0), for: number)
        }
    }

    private func append(_ index: Int) throws(StreamEnd) {
        guard let content = bytes.removeValue(forKey: index) else { preconditionFailure("an item has arrived") }
        let plain: SegmentBytes
        do throws(Failure) { plain = try judged(content, index) } catch {
            return try perform(machine.rejected(error))
        }
        if output == nil {
            try makeOutput()
            if result != nil { return }
        }
        unproven[index] = nil
        output?.container = container
        do throws(Failure) { try output?.append(plain, next: index + 1) } catch { throw .failed(error) }
        try perform(machine.appended())
    }

    /// Compares what an item has now with the end of the part file.
    private func compare(_ index: Int) throws(StreamEnd) {
        guard let content = bytes.removeValue(forKey: index), let output else {
            preconditionFailure("an item that is on disk has arrived")
        }
        // Cues are not on disk as they came.
        var isSame = true
        if container != .webVTT {
            let plain: SegmentBytes
            do throws(Failure) { plain = try judged(content, index) } catch {
                return try perform(machine.rejected(error))
            }
            do throws(Failure) { isSame = try output.ends(with: plain) } catch { throw .failed(error) }
        }
        try perform(machine.compared(areEqual: isSame))
    }

    /// Makes the part file, now that the first item has shown the container.
    private func makeOutput() throws(StreamEnd) {
        var file = machine.file
        file.container = container
        let opened: OpenedOutput?
        do throws(Failure) { opened = try terms.open(file) } catch { throw .failed(error) }
        guard let opened else { preconditionFailure("the container is known") }
        // Another run may have begun it in the meantime.
        guard try use(opened).next > 0, result == nil else { return }
        do throws(Failure) { try output?.startOver(machine.file) } catch { throw .failed(error) }
    }

    /// The plain bytes of an item, if they can be its.
    private func judged(_ content: StreamRequests.Content, _ index: Int) throws(Failure) -> SegmentBytes {
        let item = machine.file.items[index]
        let segment = item.segment
        func refused(_ code: Failure.Code, _ why: String) -> Failure {
            Failure(code, "cannot use", at: segment.address.redacted, because: why)
        }
        if let range = segment.range, Int64(content.body.count) != range.end - range.start {
            throw refused(.badResponse, "the response has another length than the playlist states")
        }
        // Before it is decrypted where it is.
        try confirm(content, number: index, at: segment.address)
        var plain = content.body
        if let key = segment.key {
            let found = try plain.decrypted(key: keys[key.address] ?? [], vector: key.initializationVector)
            guard let found else {
                throw refused(.checksumMismatch, "it cannot be decrypted: wrong key, or damaged bytes")
            }
            plain = found
        }
        let (known, flaw) = try unsafe plain.withBytes { bytes in
            let known = unsafe container ?? SegmentCheck.container(of: bytes)
            let flaw = unsafe SegmentCheck.failure(
                of: bytes, container: known, isInitialization: item.isInitialization,
                isSelfInitializing: item.isSelfInitializing, duration: content.isUnproven ? segment.duration : 0)
            return (known, flaw)
        }
        if let flaw { throw refused(.badResponse, flaw) }
        container = known
        switch (known, plain) {
        case (.webVTT, .memory(let text)):
            var join = subtitles
            if let offset = item.timestampOffset { join.begin(at: offset) }
            do throws(StreamFlaw) { plain = .memory(try join.joined(text)) } catch {
                throw refused(.badResponse, error.why)
            }
            subtitles = join
            return plain
        case (.webVTT, .file): throw refused(.tooLarge, "subtitles have at most \(SegmentSpool.memory) bytes a segment")
        case (.packedAudio, .memory(let bytes)):
            return .memory(Array(ID3Tag.joined(bytes, isFirst: index == 0)))
        case (.packedAudio, .file(let file, _)):
            let tag = try unsafe plain.withBytes { unsafe ID3Tag.length(in: $0) }
            return .file(file, from: index == 0 ? 0 : tag)
        default: return plain
        }
    }

    /// A response that may be cut counts only if it comes twice.
    private func confirm(_ content: StreamRequests.Content, number: Int, at address: WebAddress) throws(Failure) {
        guard content.isUnproven else {
            unproven[number] = nil
            return
        }
        let sum = try content.body.sum()
        guard unproven[number] != sum else { return }
        unproven[number] = sum
        throw Failure(
            .badResponse, "cannot use", at: address.redacted,
            because: "the server does not say where it ends, and no two of its responses were equal")
    }

    private func note(gap index: Int, _ why: String) {
        let number = machine.file.items[...index].count { !$0.isInitialization }
        let text = "segment \(number) is left out: \(why)"
        gaps.append(text)
        terms.report(.notice(text))
    }

    private func skip(_ index: Int, _ why: String) throws(StreamEnd) {
        note(gap: index, why)
        do throws(Failure) { try output?.skip(index) } catch { throw .failed(error) }
    }

    private func askAgain() throws(StreamEnd) {
        do throws(StreamEnd) {
            let file = try terms.askAgain()
            requiresTLS = requiresTLS || file.requiresTLS
            try perform(machine.renewed(file))
        } catch {
            guard case .failed(let failure) = error else { throw error }
            terms.report(.notice("the playlist cannot be requested again: \(failure.why)"))
            try perform(machine.renewalFailed(failure))
        }
    }

    private func startOver(_ why: String) throws(StreamEnd) {
        terms.report(.notice("\(why): the download starts over"))
        cancel()
        bytes = [:]
        gaps = []
        subtitles = WebVTTJoin()
        do throws(Failure) { try output?.startOver(machine.file) } catch { throw .failed(error) }
    }

    // MARK: recording

    private func askLive() {
        guard let live, live.recording.end == nil, !isAskingLive, SystemClock().now >= live.recording.due else {
            return
        }
        isAskingLive = true
        self.live?.asked = SystemClock().now
        stopLive = terms.requests.fetch(live.address, requiresTLS: requiresTLS, limit: HLSPlaylist.longest) {
            [inbox = terms.inbox, number] in inbox.post(.playlist($0), for: number)
        }
    }

    private func hearLive(_ found: Swift.Result<StreamRequests.Content, Failure>) throws(StreamEnd) {
        isAskingLive = false
        guard var source = live else { return }
        if case .success(let content) = found { requiresTLS = requiresTLS || content.address.scheme.isSecure }
        let addition = source.hear(found, now: SystemClock().now)
        live = source
        try perform(machine.extended(by: addition.items, missed: addition.missed))
        if let end = source.recording.end { try perform(ends(end)) }
    }

    private func ends(_ end: LiveRecording.End) -> [StreamMachine.Action] {
        if let notice = end.notice { terms.report(.notice(notice)) }
        return machine.complete()
    }

    private func cancel() {
        epoch += 1
        stopLive?()
        stopLive = nil
        for stop in stops.values { stop() }
        for stop in keyStops.values { stop() }
        (stops, keyStops) = ([:], [:])
    }

    private func finish() throws(StreamEnd) {
        guard let output else {
            throw .failed(
                Failure(
                    .badResponse, "cannot download", at: terms.requests.source.redacted,
                    because: "all segments of the stream are missing"))
        }
        report()
        result = Result(output: output, path: output.path, file: machine.file, gaps: gaps)
        cancel()
    }

    private func report() {
        terms.report(
            .progress(
                written: output?.offset ?? 0, received: received, requests: stops.count, done: machine.next,
                of: machine.file.items.count))
    }
}

/// What a stream's thread tells of a file.
enum StreamReport {
    case started(name: String, resumedAt: Int64)
    case notice(String)
    case progress(written: Int64, received: Int64, requests: Int, done: Int, of: Int)
}
#endif
