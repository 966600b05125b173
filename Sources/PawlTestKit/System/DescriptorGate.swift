import Glibc
import Synchronization

/// Keeps new descriptors out of programs that are started at the same moment.
///
/// The calls that create them close-on-exec are hidden from Swift, so creating one and starting a program exclude
/// each other: a socket that a child inherits would never look closed to its peer.
enum DescriptorGate {
    private static let latch = Mutex(())

    static func pass<Result, Failure: Error>(
        _ body: () throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        try latch.withLock { _ throws(Failure) in try body() }
    }

    /// A pipe that no child inherits: its read end, then its write end.
    static func makePipe() throws(SetupFailure) -> [Int32] {
        try pass { () throws(SetupFailure) in
            var ends: [Int32] = [0, 0]
            guard unsafe pipe(&ends) == 0 else { throw SetupFailure("pipe") }
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            return ends
        }
    }
}
