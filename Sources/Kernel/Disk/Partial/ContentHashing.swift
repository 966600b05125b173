import PawlBase
import PawlSystem
import Synchronization

/// Hashes one part file from its start, on a worker, following the writes.
///
/// Only one worker hashes a file at a time; a turn is a few dozen mebibytes, so that one huge file does not
/// block others.
final class ContentHashing: Sendable {
    typealias Completion = @Sendable (Result<[Checksum], Failure>) -> Void
    private static let turn: Int64 = 32 << 20

    private let file: OpenFile
    private let path: String
    private let workers: WorkQueue
    private let state = Mutex(State())

    private struct State {
        /// None while there is nothing to do.
        var algorithms: [HashAlgorithm] = []
        /// Bytes that may be read.
        var available: Int64 = 0
        var wanted: (length: Int64, completion: Completion)?
        var isRunning = false
        /// Incremented when the hash so far is void; a running turn then drops its hash.
        var generation = 0
        /// The hash so far, lent to the running turn.
        var hash: RunningHash?

        mutating func restart(_ algorithms: [HashAlgorithm]) {
            self.algorithms = algorithms
            generation += 1
            hash = nil
            available = 0
        }

        var hasWork: Bool {
            guard !algorithms.isEmpty else { return false }
            return wanted != nil || (hash?.position ?? 0) < available
        }

        mutating func startsRunning() -> Bool {
            guard !isRunning, hasWork else { return false }
            isRunning = true
            return true
        }
    }

    init(file: OpenFile, path: String, workers: WorkQueue) {
        self.file = file
        self.path = path
        self.workers = workers
    }

    func hashAhead(_ algorithms: [HashAlgorithm], available: Int64) {
        let starts = state.withLock { state -> Bool in
            if state.algorithms != algorithms { state.restart(algorithms) }
            state.available = max(state.available, available)
            return state.startsRunning()
        }
        if starts { go() }
    }

    func digests(_ algorithms: [HashAlgorithm], length: Int64, completion: @escaping Completion) {
        let starts = state.withLock { state -> Bool in
            // Nothing beyond `length` may have been hashed.
            if state.algorithms != algorithms || state.available > length { state.restart(algorithms) }
            state.available = length
            state.wanted = (length, completion)
            return state.startsRunning()
        }
        if starts { go() }
    }

    /// Discards the hash: the bytes have changed.
    func reset() {
        let wanted = state.withLock { state in
            let wanted = state.wanted
            state.wanted = nil
            state.restart([])
            return wanted
        }
        wanted?.completion(.failure(Self.stopped(path)))
    }

    static func stopped(_ path: String) -> Failure {
        Failure(
            .unfinished, "cannot hash", at: path,
            because: LocalizableMessage("hashing-stopped", "the download was stopped"))
    }

    private func go() { workers.submit { [self] in if takeTurn() { go() } } }

    /// Hashes for one turn.
    ///
    /// Returns `true` when there is more to do.
    private func takeTurn() -> Bool {
        let (algorithms, available, generation, lent) = state.withLock { state in
            defer { state.hash = nil }
            return (state.algorithms, state.available, state.generation, state.hash)
        }
        guard !algorithms.isEmpty else { return settle(nil, generation, failure: nil) }
        let hash = lent ?? RunningHash(algorithms)
        var failure: Failure?
        do throws(Failure) {
            let end = min(available, hash.position + Self.turn)
            while hash.position < end, state.withLock({ $0.generation == generation }) {
                try hash.feed(file, path: path, upTo: min(end, hash.position + Int64(RunningHash.room)))
            }
        } catch { failure = error }
        return settle(hash, generation, failure: failure)
    }

    /// Returns the hash to the state and reports whether to continue; completes a finished digest.
    private func settle(_ hash: RunningHash?, _ generation: Int, failure: Failure?) -> Bool {
        var finished: (Completion, Result<[Checksum], Failure>)?
        let continues = state.withLock { state -> Bool in
            if state.generation != generation {
                state.isRunning = state.hasWork
                return state.isRunning
            }
            state.hash = hash
            if let failure {
                finished = state.wanted.map { ($0.completion, .failure(failure)) }
                state.wanted = nil
                state.restart([])
            } else if let hash, let wanted = state.wanted, hash.position == wanted.length {
                finished = (wanted.completion, .success(hash.finish()))
                state.wanted = nil
                state.restart([])
            }
            state.isRunning = state.hasWork
            return state.isRunning
        }
        if let (completion, result) = finished { completion(result) }
        return continues
    }
}
