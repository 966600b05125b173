import Pawl
import PawlCore
import PawlDisk
import PawlSystem

/// A job and its result so far.
struct PipeRecord: Sendable {
    /// Its index in the input, without blank lines.
    var number: Int
    var job: Result<PipeJob, PipeJob.Refusal>
    var result: PipeResult
    /// The received content.
    var content: SampleContent?
    var response: DownloadResponse?
    /// Whether an earlier run stored the file.
    var isThere = false
    /// The file of an earlier sample with this content.
    var copied: String?
    /// The bytes in memory that were counted for it while it waited.
    var held = 0
    /// Whether its content was requested for it.
    var isPrimary = false
    /// Whether the sink is only to look up if the job's file exists, before anything is requested.
    var isLookup = false

    /// The line of the result.
    func line(isTimed: Bool = true) -> [UInt8] {
        switch job {
        case .success(let job): result.line(of: job, isTimed: isTimed)
        case .failure(let refusal): PipeResult.line(of: refusal)
        }
    }
}

/// Stores samples.
protocol SampleSink: Sendable {
    /// The number of threads, and the number of samples in a batch.
    var threads: Int { get }
    var batch: Int { get }
    /// Stores the contents of the records, and completes their results.
    ///
    /// A failure ends the run.
    func store(_ records: [PipeRecord]) throws(Failure) -> [PipeRecord]
}

extension SampleSink {
    var threads: Int { 1 }
    // Each may have an open file.
    var batch: Int { 256 }
}

/// Stores nothing: only addresses and digests are checked.
struct NoSink: SampleSink {
    func store(_ records: [PipeRecord]) throws(Failure) -> [PipeRecord] {
        var records = records
        for index in records.indices {
            guard let content = records[index].content else { continue }
            records[index].result.describe(content)
            records[index].content = nil
        }
        return records
    }
}

extension PipeResult {
    /// Adds size and digest; a content that cannot be read is a failure.
    mutating func describe(_ content: SampleContent) {
        bytes = content.length
        do throws(Failure) { sha256 = Hexadecimal.text(try content.sha256()) } catch {
            fail(error)
        }
    }

    /// Whether the described content has the checksum; `content` is called only if another digest is needed.
    func has(
        _ checksum: Checksum,
        in content: () throws(Failure) -> SampleContent
    ) throws(Failure) -> Bool {
        if checksum.algorithm == .sha256 { return sha256 == Hexadecimal.text(checksum.digest) }
        return try content().has(checksum)
    }

    mutating func fail(_ failure: Failure) {
        status = .failed
        code = failure.code.rawValue
        reason = failure.description
    }
}

/// The threads that store samples, in batches.
final class SinkThread: Sendable {
    private let sink: any SampleSink
    private let inbox: PipeInbox
    private struct State {
        var waiting: [PipeRecord] = []
        /// The load of waiting and of active samples.
        var load = 0
    }

    private static let room = 32 << 20

    private let state = Monitor(State())

    init(_ sink: any SampleSink, _ inbox: PipeInbox) {
        self.sink = sink
        self.inbox = inbox
        for _ in 0..<sink.threads {
            SystemThread.detached("pawl-sink", blocksSignals: true) { [self] in run() }
        }
    }

    func store(_ records: [PipeRecord]) {
        state.with { state in
            state.waiting += records
            state.load += records.reduce(0) { $0 + $1.load }
        }
    }

    /// Whether further samples may be requested; otherwise a slow sink would exhaust memory.
    var hasRoom: Bool { state.read { $0.load < Self.room } }

    private func run() {
        while true {
            let batch: [PipeRecord]? = state.wait(until: nil) { state in
                guard !state.waiting.isEmpty else { return nil }
                defer { state.waiting.removeFirst(min(state.waiting.count, sink.batch)) }
                return Array(state.waiting.prefix(sink.batch))
            }
            guard let batch else { continue }
            do throws(Failure) {
                let stored = try sink.store(batch)
                state.with { $0.load -= batch.reduce(0) { $0 + $1.load } }
                inbox.post(.stored(stored))
            } catch {
                return inbox.post(.sinkFailed(error))
            }
        }
    }
}

extension PipeRecord {
    /// Its cost while it waits: bytes of memory, or more for an open file, because those are limited.
    fileprivate var load: Int { content.map { $0.isInFile ? 128 << 10 : $0.memory } ?? 0 }
}
