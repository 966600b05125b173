import Glibc
import PawlBase
import PawlSystem
import Synchronization

/// Writes results on a thread of its own, so that a slow reader delays only further jobs.
final class ResultWriter: Sendable {
    private struct State {
        var pending: [UInt8] = []
        /// Whether the inbox is to be notified of room.
        var isAwaited = false
    }

    /// The number of unwritten bytes above which no further jobs are read.
    private static let room = 1 << 20

    /// `PIPE_BUF` of Linux, see pipe(7).
    private static let atomicSize = 4096

    private let state = Mutex(State())
    private let queue = WorkQueue("pawl-output", .kept)
    private let descriptor: Int32
    private let inbox: PipeInbox

    init(_ descriptor: Int32, _ inbox: PipeInbox) {
        self.descriptor = descriptor
        self.inbox = inbox
    }

    /// Adds a line, without its line feed; after a failed write none is kept.
    func append(_ line: [UInt8]) {
        guard !queue.isClosed else { return }
        let isFirst = state.withLock { state in
            defer {
                state.pending += line
                state.pending.append(UInt8(ascii: "\n"))
            }
            return state.pending.isEmpty
        }
        if isFirst { queue.submit { [self] in write() } }
    }

    /// Whether there is room for more; if not, the inbox is notified when there is.
    var hasRoom: Bool {
        state.withLock { state in
            let hasRoom = state.pending.count < Self.room || queue.isClosed
            if !hasRoom { state.isAwaited = true }
            return hasRoom
        }
    }

    /// Waits until everything is written; `false` if the deadline passes first.
    func drain(until deadline: Instant?) -> Bool { queue.rest().pass(until: deadline) }

    /// Whether the reader has closed the pipe.
    var isClosed: Bool { WholeWrite.isUnread(descriptor) }

    private func write() {
        let bytes = state.withLock { state in
            defer { state.pending = [] }
            return state.pending
        }
        guard write(all: bytes) else { return queue.close() }
        let isAwaited = state.withLock { state in
            defer { state.isAwaited = false }
            return state.isAwaited
        }
        if isAwaited { inbox.post(.outputDrained) }
    }

    private func write(all bytes: [UInt8]) -> Bool {
        var start = 0
        while start < bytes.count {
            let end = Self.piece(of: bytes, from: start)
            do throws(SystemError) { try WholeWrite.perform(bytes[start..<end], to: descriptor) } catch {
                inbox.post(.outputFailed(ResultWriter.failure(error.text)))
                return false
            }
            start = end
        }
        return true
    }

    /// The end of the lines that a pipe takes as a whole, else of one longer line: a run that is killed leaves no line
    /// in part, and several runs may share a pipe.
    static func piece(of bytes: [UInt8], from start: Int) -> Int {
        let lineFeed = UInt8(ascii: "\n")
        let limit = min(start + atomicSize, bytes.count)
        let last = bytes[start..<limit].lastIndex(of: lineFeed) ?? bytes[limit...].firstIndex(of: lineFeed)
        return last.map { $0 + 1 } ?? bytes.count
    }

    static func failure(_ why: String) -> Failure {
        Failure(
            .inputOutput, "cannot write", at: "the results", because: why,
            remedy: "run it again: finished files are not requested again")
    }
}
