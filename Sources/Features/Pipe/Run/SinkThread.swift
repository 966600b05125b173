import PawlBase
import PawlSystem

/// The threads that store samples, in batches.
final class SinkThread: Sendable {
    private let sink: any SampleSink
    private let inbox: PipeInbox
    private struct State {
        var waiting: [PipeRecord] = []
        /// The index of the first record that no thread has taken.
        var next = 0
        /// The load of waiting and of active samples.
        var load = 0

        /// Moves records out: a copy of each would count a dozen references.
        mutating func take(_ count: Int) -> [PipeRecord]? {
            guard next < waiting.count else { return nil }
            guard next > 0 || waiting.count > count else {
                defer { waiting = [] }
                return waiting
            }
            let end = min(next + count, waiting.count)
            let batch = Array(waiting[next..<end])
            next = end
            if next * 2 >= waiting.count {
                waiting.removeFirst(next)
                next = 0
            }
            return batch
        }
    }

    fileprivate static let room = 8 << 20

    /// The load of an open file: a few of them may wait, at most a sixteenth of the descriptors of this process.
    fileprivate static let fileLoad = max(128 << 10, room / max(1, SystemDescriptors.limit / 16))

    private let state = Monitor(State())

    init(_ sink: any SampleSink, _ inbox: PipeInbox) {
        self.sink = sink
        self.inbox = inbox
        for _ in 0..<sink.threads { SystemThread.detached("pawl-sink", blocksSignals: true) { [self] in run() } }
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
            guard var batch = state.wait(until: nil, for: { $0.take(sink.batch) }) else { continue }
            let load = batch.reduce(0) { $0 + $1.load }
            do throws(Failure) {
                try sink.store(&batch)
                state.with { $0.load -= load }
                inbox.post(.stored(batch))
            } catch { return inbox.post(.sinkFailed(error)) }
        }
    }
}

extension PipeRecord {
    /// Its cost while it waits: bytes of memory, or more for an open file, because those are limited.
    fileprivate var load: Int { content.map { $0.ownsFile ? SinkThread.fileLoad : $0.memory } ?? 0 }
}
