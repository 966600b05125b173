import Glibc
import PawlBase
import PawlSystem
import Synchronization

/// Writes in order on its own thread: a slow or missing reader blocks no loop.
final class StreamWriter: Sendable {
    let target: StreamTarget
    /// Its room is the number of bytes that may wait for the reader before the network is paused.
    private let queue = WorkQueue("pawl-disk", .onDemand, stackSize: 256 << 10, room: 4 << 20)
    private let output: Mutex<Output>
    /// What showed that the target has a reader.
    private let probe = Mutex<Int32?>(nil)

    /// The thread's state; other threads read only `failure`.
    private struct Output {
        var descriptor: Int32?
        var failure: Failure?
        var hash: RunningHash?
    }

    private let notice: @Sendable (String) -> Void

    init(
        _ target: StreamTarget, _ algorithms: [HashAlgorithm], _ notice: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.target = target
        self.notice = notice
        // A path is opened with the first byte: a named pipe waits for its reader.
        let descriptor = target == .standardOutput ? STDOUT_FILENO : nil
        output = Mutex(Output(descriptor: descriptor, hash: algorithms.isEmpty ? nil : RunningHash(algorithms)))
    }

    var hasRoom: Bool { queue.hasRoom }

    /// Throws the failure of earlier bytes.
    func write(_ bytes: UnsafeRawBufferPointer) throws(Failure) {
        if let failure = output.withLock({ $0.failure }) { throw failure }
        let copy = unsafe [UInt8](bytes)
        queue.submit(load: copy.count) { self.put(copy) }
    }

    /// Completes when the reader has all bytes.
    func drain(_ completion: @escaping @Sendable (Result<Void, Failure>) -> Void) {
        queue.submit {
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
        queue.submit {
            let hash = self.output.withLock { $0.hash }
            completion(hash?.finish() ?? [])
        }
    }

    private func put(_ bytes: [UInt8]) {
        let (descriptor, hash) = output.withLock { ($0.failure == nil ? $0.descriptor : -1, $0.hash) }
        unsafe bytes.withUnsafeBytes { bytes in
            unsafe hash?.feed(bytes)
            guard let descriptor = descriptor ?? opened(), descriptor >= 0 else { return }
            do throws(SystemError) { try unsafe WholeWrite.perform(bytes, to: descriptor) } catch {
                fail("cannot write to", error)
            }
        }
    }

    private func opened() -> Int32? {
        guard case .path(let path) = target else { return nil }
        if isUnread(path) { notice("\(path) is a pipe that nothing reads yet: waiting for its reader") }
        let descriptor = unsafe open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else {
            fail("cannot open", .last)
            return nil
        }
        output.withLock { $0.descriptor = descriptor }
        probe.withLock { probe in
            if let probed = probe { close(probed) }
            probe = nil
        }
        return descriptor
    }

    /// Whether opening it would wait for the other end (fifo(7)).
    private func isUnread(_ path: String) -> Bool {
        let descriptor = unsafe open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
        guard descriptor < 0 else {
            // Closed after the other one is opened: the reader must not see an end in between.
            probe.withLock { $0 = descriptor }
            return false
        }
        return errno == ENXIO
    }

    private func fail(_ what: String, _ error: SystemError) {
        let failure =
            if error.number == EPIPE {
                Failure(.inputOutput, what, at: target.name, because: "its reader has closed it")
            } else {
                Failure(
                    .inputOutput, what, at: target.name, because: error.causeForFile,
                    remedy: error.isOfSizeLimit ? .raiseSizeLimit : "")
            }
        output.withLock { $0.failure = failure }
    }
}
