import CCrypto
import PawlCore
import PawlSystem
import Synchronization

/// Hashes one part file from its start, on a worker, following the writes.
///
/// Only one worker hashes a file at a time; a turn is a few dozen mebibytes, so that one huge file does not
/// block others.
final class ContentHashing: Sendable {
    typealias Completion = @Sendable (Result<[UInt8], Failure>) -> Void
    private static let turn: Int64 = 32 << 20
    private static let chunk = 256 << 10

    private let file: OpenFile
    private let path: String
    private let workers: WorkerPool
    private let state = Mutex(State())

    private struct State {
        var algorithm: HashAlgorithm?
        /// Bytes that may be read.
        var available: Int64 = 0
        var wanted: (length: Int64, completion: Completion)?
        var isRunning = false
        /// Incremented when the hash so far is void; a running turn then drops its hash.
        var generation = 0
        /// The hash so far, lent to the running turn.
        var hash: RunningHash?

        mutating func restart(_ algorithm: HashAlgorithm?) {
            self.algorithm = algorithm
            generation += 1
            hash = nil
            available = 0
        }

        var hasWork: Bool {
            guard algorithm != nil else { return false }
            return wanted != nil || (hash?.position ?? 0) < available
        }

        mutating func startsRunning() -> Bool {
            guard !isRunning, hasWork else { return false }
            isRunning = true
            return true
        }
    }

    init(file: OpenFile, path: String, workers: WorkerPool) {
        self.file = file
        self.path = path
        self.workers = workers
    }

    func hashAhead(_ algorithm: HashAlgorithm, available: Int64) {
        let starts = state.withLock { state -> Bool in
            if state.algorithm != algorithm { state.restart(algorithm) }
            state.available = max(state.available, available)
            return state.startsRunning()
        }
        if starts { go() }
    }

    func digest(_ algorithm: HashAlgorithm, length: Int64, completion: @escaping Completion) {
        let starts = state.withLock { state -> Bool in
            // Nothing beyond `length` may have been hashed.
            if state.algorithm != algorithm || state.available > length { state.restart(algorithm) }
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
            state.restart(nil)
            return wanted
        }
        wanted?.completion(
            .failure(Failure(.unfinished, "cannot hash", at: path, because: "the download was stopped"))
        )
    }

    private func go() {
        workers.submit { [self] in
            if takeTurn() { go() }
        }
    }

    /// Hashes for one turn.
    ///
    /// Returns `true` when there is more to do.
    private func takeTurn() -> Bool {
        let (algorithm, available, generation, lent) = state.withLock { state in
            defer { state.hash = nil }
            return (state.algorithm, state.available, state.generation, state.hash)
        }
        guard let algorithm else { return settle(nil, generation, failure: nil) }
        let hash = lent ?? RunningHash(algorithm)
        var failure: Failure?
        do throws(Failure) {
            let end = min(available, hash.position + Self.turn)
            while hash.position < end, state.withLock({ $0.generation == generation }) {
                try hash.feed(file, path: path, upTo: min(end, hash.position + Int64(Self.chunk)))
            }
        } catch {
            failure = error
        }
        return settle(hash, generation, failure: failure)
    }

    /// Returns the hash to the state and reports whether to continue; completes a finished digest.
    private func settle(_ hash: RunningHash?, _ generation: Int, failure: Failure?) -> Bool {
        var finished: (Completion, Result<[UInt8], Failure>)?
        let continues = state.withLock { state -> Bool in
            if state.generation != generation {
                state.isRunning = state.hasWork
                return state.isRunning
            }
            state.hash = hash
            if let failure {
                finished = state.wanted.map { ($0.completion, .failure(failure)) }
                state.wanted = nil
                state.restart(nil)
            } else if let hash, let wanted = state.wanted, hash.position == wanted.length {
                finished = (wanted.completion, .success(hash.finish()))
                state.wanted = nil
                state.restart(nil)
            }
            state.isRunning = state.hasWork
            return state.isRunning
        }
        if let (completion, result) = finished { completion(result) }
        return continues
    }
}

/// A digest in progress.
///
/// Used by one worker at a time.
@safe final class RunningHash: @unchecked Sendable {  // Lent to one turn at a time by ContentHashing's mutex.
    private let context: OpaquePointer
    private let algorithm: HashAlgorithm
    private let buffer: UnsafeMutableRawBufferPointer
    private(set) var position: Int64 = 0

    init(_ algorithm: HashAlgorithm) {
        guard let context = unsafe EVP_MD_CTX_new() else { preconditionFailure("out of memory for a digest") }
        unsafe self.context = context
        self.algorithm = algorithm
        unsafe buffer = .allocate(byteCount: 256 << 10, alignment: 64)
        let method =
            switch algorithm {
            case .sha256: unsafe EVP_sha256()
            case .sha512: unsafe EVP_sha512()
            case .sha1: unsafe EVP_sha1()
            case .md5: unsafe EVP_md5()
            case .crc64nvme, .crc32c, .crc32: preconditionFailure("no digest of libcrypto")
            }
        let began = unsafe EVP_DigestInit_ex(context, method, nil)
        precondition(began == 1, "libcrypto does not have \(algorithm.rawValue)")
    }

    deinit {
        unsafe EVP_MD_CTX_free(context)
        unsafe buffer.deallocate()
    }

    /// Hashes the file's bytes from the current position up to `end`, at most one buffer.
    func feed(_ file: OpenFile, path: String, upTo end: Int64) throws(Failure) {
        let part = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[..<Int(end - position)])
        let count: Int
        do throws(SystemError) {
            count = try unsafe file.read(into: part, at: position)
        } catch {
            throw Failure.system(.inputOutput, "cannot read", at: path, error)
        }
        guard count == part.count else { throw FilePartial.cutShort(path) }
        unsafe EVP_DigestUpdate(context, part.baseAddress, count)
        position = end
    }

    func feed(_ bytes: UnsafeRawBufferPointer) {
        unsafe EVP_DigestUpdate(context, bytes.baseAddress, bytes.count)
    }

    func finish() -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: algorithm.length) { digest, count in
            var length: UInt32 = 0
            unsafe EVP_DigestFinal_ex(context, digest.baseAddress, &length)
            count = Int(length)
        }
    }
}
