package import PawlBase
import PawlCore
package import PawlJournal
import Synchronization

/// A download whose bytes a program consumes while they arrive: in order, without a file, at most a few of them waiting.
package final class BodyDisk: UnstoredDisk {
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

    fileprivate struct State: Sendable {
        var chunks: [[UInt8]] = []
        /// The first chunk that was not taken.
        var next = 0
        var waiting = 0
        /// The bytes that arrived, those before the stream included.
        var tail: ContentTail
        var position: Position?
        var isOver = false
        /// The digests that the plan asks for.
        var algorithms: [HashAlgorithm] = []
    }

    fileprivate let state: Mutex<State>
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
        let tail = ContentTail(position?.tail ?? [], length: position?.offset ?? 0, keeping: BodyDisk.longestTail)
        var first = State(tail: tail)
        first.position = position
        state = Mutex(first)
    }

    /// The digests that will be requested, besides those that the first response states.
    package func expect(_ algorithms: [HashAlgorithm]) { state.withLock { $0.algorithms = algorithms } }

    /// Takes the next bytes; `nil` when none are waiting.
    package func take() -> [UInt8]? {
        state.withLock { state in
            guard state.next < state.chunks.count else { return nil }
            let chunk = state.chunks[state.next]
            state.next += 1
            if state.next == state.chunks.count {
                state.chunks.removeAll(keepingCapacity: true)
                state.next = 0
            }
            state.waiting -= chunk.count
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
            state.chunks = []
            state.next = 0
            state.waiting = 0
        }
    }

    fileprivate var hasRoom: Bool { state.withLock { $0.isOver || $0.waiting < Self.room } }

    fileprivate func put(_ bytes: UnsafeRawBufferPointer, at offset: Int64) {
        state.withLock { state in
            precondition(offset == state.tail.length, "one connection writes in order")
            unsafe state.tail.append(bytes)
            guard !state.isOver else { return }
            state.chunks.append(unsafe [UInt8](bytes))
            state.waiting += bytes.count
        }
        onBytes()
    }

    fileprivate func note(_ facts: JournalFacts) {
        state.withLock { state in
            let position = state.position
            state.position = Position(offset: position?.offset ?? 0, facts: facts, tail: position?.tail ?? [])
        }
    }

    package func claim(_ claim: Claim, adopts: (LoadedJournal) -> Bool) throws(Failure) -> ClaimResult {
        let written = state.withLock { $0.tail.length }
        if written > 0, let facts = state.withLock({ $0.position?.facts }) {
            var facts = facts
            if !(resumed?.facts.sources).hasSameBytes(as: claim.facts.sources) { facts.sources = claim.facts.sources }
            let journal = LoadedJournal(facts: facts, done: ByteRangeSet([ByteRange(0, written)]))
            return .found(BodyPartial(self, claim.name, hasher: nil), journal)
        }
        note(claim.facts)
        let stated = claim.facts.representation.digests.map(\.checksum.algorithm)
        let planned = state.withLock { $0.algorithms }
        let all = HashAlgorithm.allCases.filter { planned.contains($0) || stated.contains($0) }
        return .fresh(BodyPartial(self, claim.name, hasher: all.isEmpty ? nil : makeHasher(all)))
    }

    package func unfinished(of source: String, in folder: String) -> String? {
        state.withLock { $0.tail.length } > 0 ? "body" : nil
    }
}

/// Nothing that the program has taken can be undone.
private final class BodyPartial: UnstoredPartial {
    let name: String
    let hasJournal = true
    private let disk: BodyDisk
    /// `nil` where the bytes before are not received again.
    private let hasher: (any ContentHasher)?

    init(_ disk: BodyDisk, _ name: String, hasher: (any ContentHasher)?) {
        self.disk = disk
        self.name = name
        self.hasher = hasher
    }

    var hasRoom: Bool { disk.hasRoom }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(Failure) {
        unsafe hasher?.feed(bytes)
        unsafe disk.put(bytes, at: offset)
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Failure) {
        let tail = disk.state.withLock { $0.tail }
        guard unsafe tail.read(into: buffer, at: offset) else { throw isGone }
    }

    func startOver(_ facts: JournalFacts) throws(Failure) {
        guard disk.state.withLock({ $0.tail.length }) == 0 else { throw isGone }
        disk.note(facts)
    }

    private var isGone: Failure {
        Failure(
            .cannotResume, "cannot continue", at: "the stream",
            because: "bytes of it were already taken, and the server cannot continue after them",
            remedy: "start again from the beginning")
    }

    func publish(length: Int64, modified: UnixTime?, completion: @escaping @Sendable (Result<String, Failure>) -> Void)
    { completion(.success("")) }

    /// The program has the bytes already; it learns at the end whether they were right.
    func digests(
        _ algorithms: [HashAlgorithm], length: Int64,
        completion: @escaping @Sendable (Result<[Checksum], Failure>) -> Void
    ) {
        let computed = hasher?.finish() ?? []
        completion(.success(computed.filter { algorithms.contains($0.algorithm) }))
    }

    func record(_ facts: JournalFacts, done: ByteRangeSet) throws(Failure) { disk.note(facts) }
    func beginJournal(_ facts: JournalFacts, done: ByteRangeSet) throws(Failure) { disk.note(facts) }
    func close(keeping facts: JournalFacts, done: ByteRangeSet) throws(Failure) { disk.note(facts) }
}
