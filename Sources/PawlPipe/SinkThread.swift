import PawlCore
import PawlDisk
import PawlSystem

/// The threads that store samples, in batches.
final class SinkThread: Sendable {
    private let sink: any SampleSink
    private let inbox: PipeInbox
    private struct State {
        var waiting: [PipeRecord] = []
        /// The load of waiting and of active samples.
        var load = 0
    }

    private static let room = 8 << 20

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
    fileprivate var load: Int { content.map { $0.mayOwnFile ? 128 << 10 : $0.memory } ?? 0 }
}
