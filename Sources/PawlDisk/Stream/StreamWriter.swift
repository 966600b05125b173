import Glibc
import PawlCore
import PawlSystem
import Synchronization

/// Writes in order on its own thread: a slow or missing reader blocks no loop.
final class StreamWriter: Sendable {
    let target: StreamTarget
    private let thread = WorkerPool(threads: 1)
    private let output: Mutex<Output>
    private let waiting = Atomic<Int>(0)
    /// The number of bytes that may wait for the reader before the network is paused.
    private static let room = 4 << 20

    /// The thread's state; other threads read only `failure`.
    private struct Output {
        var descriptor: Int32?
        var failure: Failure?
        var hash: RunningHash?
    }

    init(_ target: StreamTarget, _ algorithms: [HashAlgorithm]) {
        self.target = target
        // A path is opened with the first byte: a named pipe waits for its reader.
        let descriptor = target == .standardOutput ? STDOUT_FILENO : nil
        output = Mutex(Output(descriptor: descriptor, hash: algorithms.isEmpty ? nil : RunningHash(algorithms)))
    }

    var hasRoom: Bool { waiting.load(ordering: .relaxed) < StreamWriter.room }

    /// Throws the failure of earlier bytes.
    func write(_ bytes: UnsafeRawBufferPointer) throws(Failure) {
        if let failure = output.withLock({ $0.failure }) { throw failure }
        let copy = unsafe [UInt8](bytes)
        waiting.add(copy.count, ordering: .relaxed)
        thread.submit {
            self.put(copy)
            self.waiting.subtract(copy.count, ordering: .relaxed)
        }
    }

    /// Completes when the reader has all bytes.
    func drain(_ completion: @escaping @Sendable (Result<Void, Failure>) -> Void) {
        thread.submit {
            // An empty download opens the pipe as well: its reader waits for the end.
            self.put([])
            let failure = self.output.withLock { output in
                if self.target != .standardOutput, let descriptor = output.descriptor {
                    close(descriptor)
                    output.descriptor = nil
                }
                return output.failure
            }
            completion(failure.map { .failure($0) } ?? .success(()))
        }
    }

    /// The digests that were requested when the stream began.
    func digests(_ completion: @escaping @Sendable ([Checksum]) -> Void) {
        thread.submit {
            let hash = self.output.withLock { $0.hash }
            completion(hash?.finish() ?? [])
        }
    }

    private func put(_ bytes: [UInt8]) {
        let (descriptor, hash) = output.withLock { ($0.failure == nil ? $0.descriptor : -1, $0.hash) }
        unsafe bytes.withUnsafeBytes { bytes in
            unsafe hash?.feed(bytes)
            guard let descriptor = descriptor ?? opened(), descriptor >= 0 else { return }
            var sent = 0
            while sent < bytes.count {
                let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[sent...])
                let count = unsafe writeOnce(descriptor, rest)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return fail("cannot write to", errno) }
                sent += count
            }
        }
    }

    private func opened() -> Int32? {
        guard case .path(let path) = target else { return nil }
        let descriptor = unsafe open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else {
            fail("cannot open", errno)
            return nil
        }
        output.withLock { $0.descriptor = descriptor }
        return descriptor
    }

    private func fail(_ what: String, _ error: Int32) {
        let why = error == EPIPE ? "its reader has closed it" : SystemError(number: error).text
        let failure = Failure(.inputOutput, what, at: target.name, because: why)
        output.withLock { $0.failure = failure }
    }
}

/// `write(2)`, which the writer's own method hides.
private func writeOnce(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    unsafe write(descriptor, bytes.baseAddress, bytes.count)
}
