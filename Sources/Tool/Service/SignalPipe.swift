import Glibc
import PawlBase
import PawlSystem

/// A pipe by which the signal thread wakes a thread that waits in `poll`.
final class SignalPipe: Sendable {
    /// Readable when a signal was posted.
    let descriptor: Int32
    private let writer: Int32

    init() throws(Failure) {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else {
            throw Failure(.inputOutput, "cannot start", at: "pawl", because: "pipe: \(SystemError.last.text)")
        }
        for end in ends {
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
        }
        (descriptor, writer) = (ends[0], ends[1])
    }

    deinit {
        close(descriptor)
        close(writer)
    }

    func post(_ number: Int32) {
        var byte = UInt8(truncatingIfNeeded: number)
        _ = unsafe write(writer, &byte, 1)
    }

    func take() -> [Int32] {
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = unsafe read(descriptor, &bytes, bytes.count)
        return bytes.prefix(max(0, count)).map(Int32.init)
    }
}
