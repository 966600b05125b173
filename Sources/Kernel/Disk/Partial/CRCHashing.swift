import CPawlSystem
import PawlBase
import PawlJournal
import PawlSystem
import Synchronization

/// Computes the CRCs of one part file on workers, following the writes of all lanes.
///
/// CRCs of parts in any order are combined, so that only the last bytes have to be read at the end.
final class CRCHashing: Sendable {
    typealias Completion = ContentHashing.Completion

    private let file: OpenFile
    private let path: String
    private let workers: WorkQueue
    private let state = Mutex(State())

    private typealias Wanted = (length: Int64, completion: Completion)

    private struct State {
        var algorithms: [HashAlgorithm] = []
        var segments = CRCSegments()
        /// Bytes that may be read.
        var done = ByteRangeSet()
        /// How many bytes were written since the last look for something to read.
        var unread: Int64 = 0
        var wanted: Wanted?
        var isRunning = false
        var idle: RunningHash?
        /// The range that a worker is reading; `isSpoiled` if it was overwritten meanwhile.
        var reading: ByteRange?
        var isSpoiled = false

        mutating func restart(_ algorithms: [HashAlgorithm]) {
            self.algorithms = algorithms
            segments = CRCSegments()
            done = ByteRangeSet()
            isSpoiled = true
        }

        mutating func invalidate(_ range: ByteRange) {
            segments.remove(range)
            if let reading, reading.start < range.end, range.start < reading.end { isSpoiled = true }
        }

        mutating func startsRunning() -> Bool {
            guard !isRunning else { return false }
            isRunning = true
            return true
        }
    }

    init(file: OpenFile, path: String, workers: WorkQueue) {
        self.file = file
        self.path = path
        self.workers = workers
    }

    static func canCompute(_ algorithms: [HashAlgorithm]) -> Bool {
        !algorithms.isEmpty && algorithms.allSatisfy { RunningHash.crcKind($0) != nil }
    }

    func hashAhead(_ algorithms: [HashAlgorithm], done: ByteRangeSet) {
        let starts = state.withLock { state -> Bool in
            if state.algorithms != algorithms { state.restart(algorithms) }
            state.done = done
            state.unread = 0
            return state.segments.next(in: done, isFinal: false) != nil && state.startsRunning()
        }
        if starts { go() }
    }

    func digests(_ algorithms: [HashAlgorithm], length: Int64, completion: @escaping Completion) {
        let starts = state.withLock { state -> Bool in
            if state.algorithms != algorithms { state.restart(algorithms) }
            state.segments.remove(ByteRange(length, .max))
            state.done = ByteRangeSet([ByteRange(0, length)])
            state.wanted = (length, completion)
            return state.startsRunning()
        }
        if starts { go() }
    }

    /// The bytes of `range` were written: they are read while the processor's caches have them, not at the next tick.
    func wrote(_ range: ByteRange) {
        let starts = state.withLock { state -> Bool in
            state.invalidate(range)
            guard !state.algorithms.isEmpty else { return false }
            state.done.insert(range)
            state.unread += range.count
            guard state.unread >= CRCSegments.shortest, !state.isRunning else { return false }
            state.unread = 0
            return state.segments.next(in: state.done, isFinal: false) != nil && state.startsRunning()
        }
        if starts { go() }
    }

    /// The bytes of `range` are not there any more.
    func discarded(_ range: ByteRange) {
        state.withLock { state in
            state.invalidate(range)
            state.done.remove(range)
        }
    }

    /// How many written bytes are still to be read.
    var remaining: Int64 { state.withLock { $0.segments.missing(in: $0.done) } }

    /// Discards all values: the bytes have changed.
    func reset() {
        let wanted = state.withLock { state in
            defer { state.wanted = nil }
            state.restart([])
            return state.wanted
        }
        wanted?.completion(.failure(ContentHashing.stopped(path)))
    }

    private func go() { workers.submit { [self] in if takeTurn() { go() } } }

    /// Checks one range.
    ///
    /// Returns `true` when there is more to do.
    private func takeTurn() -> Bool {
        let (range, algorithms) = state.withLock { state -> (ByteRange?, [HashAlgorithm]) in
            state.reading =
                state.algorithms.isEmpty ? nil : state.segments.next(in: state.done, isFinal: state.wanted != nil)
            state.isSpoiled = false
            return (state.reading, state.algorithms)
        }
        guard let range else { return settle() }
        let hash = hash(algorithms, at: range.start)
        var failure: Failure?
        do throws(Failure) {
            while hash.position < range.end {
                try hash.feed(file, path: path, upTo: min(range.end, hash.position + Int64(RunningHash.room)))
            }
        } catch { failure = error }
        let values = hash.crcValues
        let wanted = state.withLock { state -> Wanted? in
            state.reading = nil
            state.idle = hash
            if failure == nil {
                if !state.isSpoiled { state.segments.insert(range, values) }
                return nil
            }
            defer { state.wanted = nil }
            state.restart([])
            return state.wanted
        }
        if let failure, let wanted { wanted.completion(.failure(failure)) }
        return true
    }

    /// The hash of the last turn, with its buffer: a new one for each range would be a mapping that comes and goes, for
    /// which the kernel stops all threads.
    private func hash(_ algorithms: [HashAlgorithm], at position: Int64) -> RunningHash {
        let idle = state.withLock { state in
            defer { state.idle = nil }
            return state.idle
        }
        guard let idle, idle.algorithms == algorithms else { return RunningHash(algorithms, at: position) }
        idle.restart(at: position)
        return idle
    }

    /// Nothing is left to read: completes digests that were requested.
    private func settle() -> Bool {
        let finished = state.withLock { state -> (Completion, [Checksum])? in
            state.isRunning = false
            if state.wanted != nil { state.idle = nil }
            guard let wanted = state.wanted, !state.algorithms.isEmpty else { return nil }
            let kinds = state.algorithms.map { RunningHash.crcKind($0) ?? 0 }
            let values =
                wanted.length == 0
                ? kinds.map { _ in 0 }
                : state.segments.combined(length: wanted.length) { place, first, second, length in
                    pawl_crc_combined(kinds[place], first, second, UInt64(length))
                }
            guard let values else { return nil }
            state.wanted = nil
            return (wanted.completion, zip(state.algorithms, values).map { RunningHash.checksum($0, $1) })
        }
        if let (completion, checksums) = finished { completion(.success(checksums)) }
        return false
    }
}
