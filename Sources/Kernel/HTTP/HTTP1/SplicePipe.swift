import CPawlSystem
import Glibc
import PawlBase

/// A pipe through which the kernel moves bytes from a socket to a file.
///
/// Empty between uses.
@safe final class SplicePipe {
    /// The most that one `fill` moves: what a journal expects behind its cursors after a kill.
    static let size = Int(ByteRange.longestWrite)

    enum Filling: Hashable {
        case bytes(Int)
        case closed
        case failed(Int32)
    }

    private let reader: Int32
    private let writer: Int32

    init?() {
        var ends: [Int32] = [-1, -1]
        guard unsafe pawl_pipe_make(&ends, Int32(Self.size)) == 0 else { return nil }
        (reader, writer) = (ends[0], ends[1])
    }

    deinit {
        close(reader)
        close(writer)
    }

    /// Moves at most `count` available bytes from `socket` into the pipe.
    func fill(from socket: Int32, _ count: Int) -> Filling {
        while true {
            let moved = pawl_splice_in(socket, writer, min(count, Self.size))
            if moved > 0 { return .bytes(moved) }
            if moved == 0 { return .closed }
            if errno != EINTR { return .failed(errno) }
        }
    }

    /// Writes `count` bytes at `offset` of a file; returns how many the file accepted.
    func empty(_ count: Int, into file: Int32, at offset: Int64) -> Int {
        var done = 0
        while done < count {
            let moved = pawl_splice_out(reader, file, offset + Int64(done), count - done)
            if moved > 0 { done += moved } else if moved == 0 || errno != EINTR { break }
        }
        return done
    }

    /// Reads `count` bytes that a file did not accept.
    func empty(_ count: Int, into buffer: UnsafeMutableRawBufferPointer) {
        guard let base = buffer.baseAddress else { return }
        var done = 0
        while done < count {
            let got = unsafe read(reader, base + done, count - done)
            if got > 0 {
                done += got
            } else {
                // They are in the pipe, which nothing else reads.
                precondition(got < 0 && errno == EINTR, "the pipe lost bytes")
            }
        }
    }
}
