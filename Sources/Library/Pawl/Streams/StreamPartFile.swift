#if Features
import PawlBase
import PawlDisk
import PawlJournal
import PawlStreams
import PawlSystem

/// The part file of one file of a stream, which grows in order, and the mark of it in its journal.
///
/// For one thread.
final class StreamPartFile: StreamOutput {
    private let partial: any JournalledFile
    private let source: String
    private var mark: StreamMark
    private(set) var offset: Int64 = 0
    /// Nothing more is done with it: it has its name, was closed or discarded.
    private var isOver = false
    /// Another program writes it, when its segments are complete: it stays although it is empty.
    private var isReserved = false
    /// Bytes that are not known to be durable.
    private var unsynced: Int64 = 0
    /// Of all bytes so far.
    private var sum = newSum

    /// So many bytes are written between two syncs.
    private static let stride: Int64 = 32 << 20
    private static var newSum: RunningHash { RunningHash([.crc64nvme]) }

    private init(_ partial: any JournalledFile, _ source: String, _ mark: StreamMark) {
        self.partial = partial
        self.source = source
        self.mark = mark
    }

    /// Makes the file that others are joined to, without bytes.
    static func reserve(
        _ identity: String, as name: String, of source: String, _ options: DownloadOptions, on disk: any Disk
    ) throws(Failure) -> OpenedOutput {
        let opened = try open(StreamFile(identity: identity), as: name, of: source, options, on: disk)
        if case .file(let output as StreamPartFile, _, _, _) = opened { output.isReserved = true }
        return opened
    }

    /// `source`: tells the file apart from other downloads of the folder.
    static func open(
        _ file: StreamFile, as name: String, of source: String, _ options: DownloadOptions, on disk: any Disk
    ) throws(Failure) -> OpenedOutput {
        let fresh = StreamMark(identity: file.identity)
        let policy = IfExists(options.existingFile)
        var claim = Claim(
            folder: options.folder, name: name, ifExists: policy == .resume ? .rename : policy,
            facts: facts(fresh, source, name))
        claim.isChosen = options.fileName != nil
        let identity = file.identity
        claim.content = { fingerprint(identity, source) }
        switch try disk.claim(claim, adopts: { _ in false }) {
        case .skipped(let path): return .present(path: path)
        case .existing(let partial, _):
            try partial.restoreOriginal()
            return .present(path: partial.path)
        case .fresh(let partial):
            let output = StreamPartFile(partial, source, fresh)
            try partial.beginJournal(output.facts, done: ByteRangeSet())
            return .file(output, next: 0, gaps: [], notice: nil)
        case .found(let partial, let loaded):
            let output = StreamPartFile(partial, source, fresh)
            let tag = loaded.facts.representation.validators.entityTag?.opaque
            guard let mark = tag.flatMap(StreamMark.init), mark.identity == file.identity else {
                try output.startOver(file)
                let notice = "the playlist has changed since: the download starts over"
                return .file(output, next: 0, gaps: [], notice: loaded.done.isEmpty ? nil : notice)
            }
            let step = mark.step(within: loaded.done)
            guard try output.hasBytes(of: step) else {
                try output.startOver(file)
                let notice = "the part file was changed since: the download starts over"
                return .file(output, next: 0, gaps: [], notice: notice)
            }
            (output.offset, output.mark.steps, output.mark.container) = (step.offset, [step], mark.container)
            output.mark.gaps = mark.gaps.filter { $0 < step.next }
            return .file(output, next: step.next, gaps: output.mark.gaps, notice: nil)
        }
    }

    var name: String { partial.name }
    var path: String { partial.path }
    private var done: ByteRangeSet { offset > 0 ? ByteRangeSet([ByteRange(0, offset)]) : ByteRangeSet() }
    private var facts: JournalFacts { Self.facts(mark, source, partial.name) }

    private static func facts(_ mark: StreamMark, _ source: String, _ name: String) -> JournalFacts {
        JournalFacts(sources: [source], representation: representation(mark.text, source), name: name)
    }

    /// The mark takes the place of an entity tag: equal ones are the same bytes.
    private static func representation(_ tag: String, _ source: String) -> Representation {
        Representation(records: [
            ValidatorRecord(
                source: source, host: "stream", validators: Validators(entityTag: EntityTag(opaque: tag, isWeak: false))
            )
        ])
    }

    private static func fingerprint(_ identity: String, _ source: String) -> ContentFingerprint? {
        representation(StreamMark(identity: identity).text, source).fingerprint(of: source, selection: .whole)
    }

    /// Whether the first bytes are those that were written, so that damage of any kind is noticed.
    private func hasBytes(of step: StreamMark.Step) throws(Failure) -> Bool {
        if step.offset > 0 {
            _ = try unsafe read(ByteRange(0, step.offset)) { part, _ in
                unsafe sum.feed(part)
                return true
            }
        }
        return step.sum == nil || step.sum == sum.crcValues[0]
    }

    /// What its segments are.
    var container: StreamTrack.Container? {
        get { mark.container }
        set { mark.container = newValue }
    }

    /// Whether these bytes are its last ones.
    func ends(with bytes: SegmentBytes) throws(Failure) -> Bool {
        let start = offset - Int64(bytes.count)
        guard start >= 0 else { return false }
        return try unsafe bytes.withBytes { (buffer) throws(Failure) in
            try unsafe read(ByteRange(start, offset)) { part, place in
                unsafe buffer[Int(place - start)...].starts(with: part)
            }
        }
    }

    /// Reads a range in parts, as long as the function wants more; returns whether that were all.
    private func read(
        _ range: ByteRange, _ body: (UnsafeRawBufferPointer, Int64) -> Bool
    ) throws(Failure) -> Bool {
        var buffer = [UInt8](repeating: 0, count: Int(min(range.end - range.start, 1 << 20)))
        var offset = range.start
        while offset < range.end {
            let count = Int(min(Int64(buffer.count), range.end - offset))
            var result: Result<Bool, Failure> = .success(false)
            unsafe buffer.withUnsafeMutableBytes { whole in
                let part = unsafe UnsafeMutableRawBufferPointer(rebasing: whole[..<count])
                do throws(Failure) {
                    try unsafe partial.read(into: part, at: offset)
                    result = unsafe .success(body(UnsafeRawBufferPointer(part), offset))
                } catch { result = .failure(error) }
            }
            guard try result.get() else { return false }
            offset += Int64(count)
        }
        return true
    }

    /// Adds a segment; a kill from here on costs it only if it comes before this returns.
    func append(_ bytes: SegmentBytes, next: Int) throws(Failure) {
        try unsafe bytes.withBytes { (buffer) throws(Failure) in
            try unsafe partial.write(buffer, at: offset)
            unsafe sum.feed(buffer)
        }
        offset += Int64(bytes.count)
        unsynced += Int64(bytes.count)
        step(to: next)
        try partial.record(facts, done: done)
        if unsynced >= Self.stride { try checkpoint() }
    }

    /// Notes that an item is left out.
    func skip(_ index: Int) throws(Failure) {
        mark.gaps.append(index)
        step(to: index + 1)
        try partial.record(facts, done: done)
    }

    private func step(to next: Int) {
        let durable = mark.steps.last
        mark.steps =
            [StreamMark.Step(next: next, offset: offset, sum: sum.crcValues[0])] + (durable.map { [$0] } ?? [])
    }

    private func checkpoint() throws(Failure) {
        let latch = ResultLatch<Void>()
        partial.checkpoint(done) { latch.open($0) }
        try latch.pass()
        unsynced = 0
        mark.steps = Array(mark.steps.prefix(1))
    }

    func startOver(_ file: StreamFile) throws(Failure) {
        (mark, mark.container) = (StreamMark(identity: file.identity), mark.container)
        (offset, unsynced, sum) = (0, 0, Self.newSum)
        try partial.startOver(facts)
        try partial.beginJournal(facts, done: ByteRangeSet())
    }

    /// The path of the part file.
    var partPath: String { FolderPath.parent(of: partial.path) + "/" + FileName.partial(of: partial.name) }

    /// Another program has written so many bytes.
    func wasWritten(length: Int64) { offset = length }

    /// Syncs the file and gives it its name; returns the path.
    ///
    /// `isWhole`: nothing is left out, so that the same stream is the same file.
    func publish(_ identity: String, isWhole: Bool) throws(Failure) -> String {
        if isWhole, mark.gaps.isEmpty { partial.remember(Self.fingerprint(identity, source)) }
        let latch = ResultLatch<String>()
        partial.publish(length: offset, modified: nil) { latch.open($0) }
        let path = try latch.pass()
        isOver = true
        return path
    }

    /// What is there stays for another run.
    func close() {
        guard !isOver else { return }
        guard offset > 0 || isReserved else { return discard() }
        isOver = true
        try? partial.close(keeping: facts, done: done)
    }

    func discard() {
        guard !isOver else { return }
        isOver = true
        partial.discard()
    }
}
#endif
