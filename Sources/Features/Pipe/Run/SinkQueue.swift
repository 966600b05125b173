import PawlBase
import PawlSystem
import Synchronization

/// Stores samples on the sink's threads, in batches.
final class SinkQueue: Sendable {
    private let sink: any SampleSink
    private let inbox: PipeInbox
    private let waiting = Mutex<[PipeRecord]>([])
    /// The load of waiting and of active samples.
    private let load = Atomic<Int>(0)
    private let queue: WorkQueue
    private static let room = 8 << 20

    /// The load of an open file: a few of them may wait, at most a sixteenth of the descriptors of this process.
    private static let fileLoad = max(128 << 10, room / max(1, SystemDescriptors.limit / 16))

    init(_ sink: any SampleSink, _ inbox: PipeInbox) {
        self.sink = sink
        self.inbox = inbox
        queue = WorkQueue("pawl-sink", .kept, threads: sink.threads)
    }

    func store(_ records: [PipeRecord]) {
        load.add(Self.load(of: records), ordering: .relaxed)
        waiting.withLock { $0 += records }
        // An earlier job may take them too; then this one finds nothing.
        for _ in stride(from: 0, to: records.count, by: sink.batch) { queue.submit { [self] in storeBatch() } }
    }

    /// Whether further samples may be requested; otherwise a slow sink would exhaust memory.
    var hasRoom: Bool { load.load(ordering: .relaxed) < Self.room }

    private func storeBatch() {
        var batch = waiting.withLock { waiting in
            // Moved out, if possible: a copy of each would count a dozen references.
            guard waiting.count > sink.batch else {
                defer { waiting = [] }
                return waiting
            }
            defer { waiting.removeFirst(sink.batch) }
            return Array(waiting[..<sink.batch])
        }
        guard !batch.isEmpty else { return }
        let load = Self.load(of: batch)
        do throws(Failure) {
            try sink.store(&batch)
            self.load.subtract(load, ordering: .relaxed)
            inbox.post(.stored(batch))
        } catch {
            queue.close()
            inbox.post(.sinkFailed(error))
        }
    }

    /// Their cost while they wait: bytes of memory, or more for an open file, because those are limited.
    private static func load(of records: [PipeRecord]) -> Int {
        records.reduce(0) { $0 + ($1.content.map { $0.ownsFile ? fileLoad : $0.memory } ?? 0) }
    }
}
