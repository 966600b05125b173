package import PawlBase
import PawlCore
package import PawlJournal
import Synchronization

/// A download whose bytes a program consumes while they arrive: in order, without a file, at most a few of them waiting.
///
/// Nothing that the program has taken can be undone.
package final class BodySink: ByteSink, Sendable {
    /// The bytes that may wait for the program before the network is paused.
    private static let room = 512 << 10
    /// Enough to prove that another response has the same content.
    private static let longestTail = Int(DownloadMachine.overlap)

    /// What a later stream continues from.
    package struct Position: Hashable, Sendable {
        /// The bytes that the program has taken.
        package var offset: Int64
        /// What they are a part of.
        package var facts: JournalFacts
        /// The last of them.
        package var tail: [UInt8]

        package init(offset: Int64, facts: JournalFacts, tail: [UInt8]) {
            self.offset = offset
            self.facts = facts
            self.tail = tail
        }
    }

    private struct State: Sendable {
        var chunks = ChunkQueue()
        /// The bytes that arrived, those before the stream included.
        var tail: ContentTail
        var position: Position?
        var isOver = false
        /// The digests that the plan asks for.
        var algorithms: [HashAlgorithm] = []
        /// `nil` where the bytes before are not received again.
        var hasher: (any ContentHasher)?
    }

    private let state: Mutex<State>
    private let resumed: Position?
    private let makeHasher: @Sendable ([HashAlgorithm]) -> any ContentHasher
    /// Called on the loop's thread when bytes arrived.
    private let onBytes: @Sendable () -> Void

    package init(
        resuming position: Position? = nil, makeHasher: @escaping @Sendable ([HashAlgorithm]) -> any ContentHasher,
        onBytes: @escaping @Sendable () -> Void
    ) {
        resumed = position
        self.makeHasher = makeHasher
        self.onBytes = onBytes
        let tail = ContentTail(position?.tail ?? [], length: position?.offset ?? 0, keeping: BodySink.longestTail)
        var first = State(tail: tail)
        first.position = position
        state = Mutex(first)
    }

    /// The digests that will be requested, besides those that the first response states.
    package func request(_ algorithms: [HashAlgorithm]) { state.withLock { $0.algorithms = algorithms } }

    /// Takes the next bytes; `nil` when none are waiting.
    package func take() -> [UInt8]? {
        state.withLock { state in
            guard let chunk = state.chunks.take() else { return nil }
            if var position = state.position {
                position.offset += Int64(chunk.count)
                position.tail = Array((position.tail + chunk).suffix(Self.longestTail))
                state.position = position
            }
            return chunk
        }
    }

    /// Where another stream continues: after the bytes that were taken; `nil` before the first response.
    package var position: Position? { state.withLock { $0.position } }

    /// Bytes that arrive from now on are dropped.
    package func close() {
        state.withLock { state in
            state.isOver = true
            state.chunks = ChunkQueue()
        }
    }

    // MARK: ByteSink

    package var destination: Destination {
        .sink(SinkMaker(isBegun: { [self] in length > 0 }, begin: begin))
    }

    private func begin(_ claim: Claim) -> SinkStart {
        let (written, facts) = state.withLock { ($0.tail.length, $0.position?.facts) }
        if written > 0, var facts {
            if !(resumed?.facts.sources).hasSameBytes(as: claim.facts.sources) { facts.sources = claim.facts.sources }
            state.withLock { $0.hasher = nil }
            return .found(self, LoadedJournal(facts: facts, done: ByteRangeSet([ByteRange(0, written)])))
        }
        note(claim.facts)
        let all = claim.facts.algorithms(besides: state.withLock { $0.algorithms })
        let hasher = all.isEmpty ? nil : makeHasher(all)
        state.withLock { $0.hasher = hasher }
        return .fresh(self)
    }

    package var length: Int64 { state.withLock { $0.tail.length } }
    package var hasRoom: Bool { state.withLock { $0.isOver || $0.chunks.bytes < Self.room } }

    package func write(_ bytes: UnsafeRawBufferPointer) throws(Failure) {
        // Not under the lock: the program need not wait for it.
        unsafe state.withLock { $0.hasher }?.feed(bytes)
        state.withLock { state in
            unsafe state.tail.append(bytes)
            guard !state.isOver else { return }
            state.chunks.append(unsafe [UInt8](bytes))
        }
        onBytes()
    }

    package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Failure) {
        let tail = state.withLock { $0.tail }
        guard unsafe tail.read(into: buffer, at: offset) else { throw isGone }
    }

    package func note(_ facts: JournalFacts) {
        state.withLock { state in
            let position = state.position
            state.position = Position(offset: position?.offset ?? 0, facts: facts, tail: position?.tail ?? [])
        }
    }

    package func startOver(_ facts: JournalFacts) throws(Failure) {
        guard length == 0 else { throw isGone }
        note(facts)
    }

    private var isGone: Failure {
        Failure(
            .cannotResume, "cannot continue", at: "the stream",
            because: "bytes of it were already taken, and the server cannot continue after them",
            remedy: "start again from the beginning")
    }

    /// The program has the bytes already; it learns at the end whether they were right.
    package func digests(
        _ algorithms: [HashAlgorithm], length: Int64,
        completion: @escaping @Sendable (Result<[Checksum], Failure>) -> Void
    ) {
        let computed = state.withLock { $0.hasher }?.finish() ?? []
        completion(.success(computed.filter { algorithms.contains($0.algorithm) }))
    }

    package func finish(length: Int64, completion: @escaping @Sendable (Result<String, Failure>) -> Void) {
        completion(.success(""))
    }

    package func close(keeping facts: JournalFacts?) { if let facts { note(facts) } }
}

/// Bytes that wait, in the pieces in which they came.
struct ChunkQueue: Sendable {
    /// Those before `next` were taken, and are empty.
    private var chunks: [[UInt8]] = []
    private var next = 0
    /// How many wait.
    private(set) var bytes = 0

    /// How many pieces it has room for.
    var places: Int { chunks.count }
    /// The bytes that it keeps in memory.
    var kept: Int { chunks.reduce(0) { $0 + $1.count } }

    mutating func append(_ chunk: [UInt8]) {
        chunks.append(chunk)
        bytes += chunk.count
    }

    /// The first; it is not kept, even where the queue never becomes empty.
    mutating func take() -> [UInt8]? {
        guard next < chunks.count else { return nil }
        var chunk: [UInt8] = []
        swap(&chunk, &chunks[next])
        next += 1
        bytes -= chunk.count
        if next == chunks.count || next >= 64 {
            chunks.removeFirst(next)
            next = 0
        }
        return chunk
    }
}
