package import PawlBase
import PawlDisk
import PawlSystem
import Synchronization

/// An unnamed file that is only appended to.
package final class SampleLog: Sendable {
    /// The size of the buffer.
    private let room: Int

    private struct State: Sendable {
        var pending: [UInt8] = []
        var written: Int64 = 0
    }

    private let own: OwnFile
    private let folder: SpoolFolder
    private let state = Mutex(State())

    /// `isBuffered`: bytes are written many at a time, and ``content(from:length:)`` is not used.
    package init(in folder: SpoolFolder, isBuffered: Bool = true) throws(Failure) {
        self.folder = folder
        room = isBuffered ? 256 << 10 : 0
        own = OwnFile(try folder.open(), in: folder)
    }

    package func append(_ bytes: [UInt8]) throws(Failure) {
        let isFull = state.withLock { state in
            state.pending += bytes
            return state.pending.count >= room
        }
        if isFull { try flush() }
    }

    private func flush() throws(Failure) {
        let (bytes, start) = state.withLock { state in
            defer {
                state.written += Int64(state.pending.count)
                state.pending = []
            }
            return (state.pending, state.written)
        }
        try folder.check { () throws(SystemError) in try own.file.write(bytes, at: start) }
    }

    package var length: Int64 { state.withLock { $0.written + Int64($0.pending.count) } }

    /// A part of what was written.
    package func content(from start: Int64, length: Int64) -> SampleContent {
        SampleContent(file: own.file, start: start, length: length)
    }

    /// What was written.
    package func content() throws(Failure) -> SampleContent {
        try flush()
        return SampleContent(own, length: state.withLock { $0.written })
    }
}
