#if Features
import PawlBase
import PawlDisk
import PawlJournal
import PawlStreams
import PawlSystem

/// Where the bytes of one file of a stream go, in order.
///
/// For one thread.
protocol StreamOutput: AnyObject {
    var name: String { get }
    var path: String { get }
    /// How many bytes it has.
    var offset: Int64 { get }
    /// What its segments are.
    var container: StreamTrack.Container? { get set }
    /// Adds a segment; `next`: the item that follows.
    func append(_ bytes: SegmentBytes, next: Int) throws(Failure)
    /// Notes that an item is left out.
    func skip(_ index: Int) throws(Failure)
    /// Whether these bytes are its last ones.
    func ends(with bytes: SegmentBytes) throws(Failure) -> Bool
    /// Discards what it has.
    func startOver(_ file: StreamFile) throws(Failure)
    /// It is complete: returns its path. `isWhole`: nothing is left out.
    func publish(_ identity: String, isWhole: Bool) throws(Failure) -> String
    /// Waits until all that was added is where it belongs, before a failure ends it.
    func settle() throws(Failure)
    /// What is there stays for another run, if one can continue it.
    func close()
    func discard()
}

extension StreamOutput {
    func settle() {}
}

enum OpenedOutput {
    /// `next`: the item that follows; `notice`: why what was there cannot be continued.
    case file(any StreamOutput, next: Int, gaps: [Int], notice: String?)
    case present(path: String)
}

/// Standard output, a device or a named pipe: nothing of it can be taken back, or continued by another run.
final class StreamPipe: StreamOutput {
    private let sink: any ByteSink
    private let target: StreamTarget
    /// Length and sum of the segment that was written last.
    private var last: [UInt64] = []
    var container: StreamTrack.Container?

    init(_ target: StreamTarget, of source: String, notice: @escaping @Sendable (String) -> Void) throws(Failure) {
        self.target = target
        let facts = JournalFacts(sources: [source], name: target.name)
        let claim = Claim(folder: ".", name: target.name, ifExists: .overwrite, facts: facts)
        guard case .sink(let maker) = StreamSink.destination(target, algorithms: [], notice: notice),
            case .fresh(let sink) = try maker.begin(claim)
        else { preconditionFailure("a pipe begins empty") }
        self.sink = sink
    }

    var name: String { target.name }
    var path: String { target.name }
    var offset: Int64 { sink.length }

    /// Blocks while its reader is slow.
    func append(_ bytes: SegmentBytes, next: Int) throws(Failure) {
        try unsafe bytes.withBytes { (buffer) throws(Failure) in
            for start in stride(from: 0, to: buffer.count, by: Self.piece) {
                let end = min(buffer.count, start + Self.piece)
                try unsafe write(UnsafeRawBufferPointer(rebasing: buffer[start..<end]))
            }
        }
        last = try bytes.sum()
    }

    private static let piece = 1 << 20

    private func write(_ bytes: UnsafeRawBufferPointer) throws(Failure) {
        try unsafe sink.write(bytes)
        if !sink.hasRoom { try settle() }
    }

    func settle() throws(Failure) {
        let latch = ResultLatch<[Checksum]>()
        // Its thread comes to that when it has written the bytes.
        sink.digests([], length: offset) { latch.open($0) }
        _ = try latch.pass()
    }

    func skip(_ index: Int) {}
    func ends(with bytes: SegmentBytes) throws(Failure) -> Bool { last == (try bytes.sum()) }

    func startOver(_ file: StreamFile) throws(Failure) {
        try sink.startOver(JournalFacts(sources: [], name: target.name))
    }

    func publish(_ identity: String, isWhole: Bool) throws(Failure) -> String {
        let latch = ResultLatch<String>()
        sink.finish(length: offset) { latch.open($0) }
        return try latch.pass()
    }

    func close() {}
    func discard() {}
}

/// A result of another thread that this one waits for.
final class ResultLatch<Value: Sendable>: Sendable {
    private let state = Monitor<Result<Value, Failure>?>(nil)

    func open(_ result: Result<Value, Failure>) { state.with { $0 = result } }

    func pass() throws(Failure) -> Value {
        while true { if let result = state.wait(until: nil, for: { $0 }) { return try result.get() } }
    }
}
#endif
