#if Features
import PawlBase
import PawlDisk
import PawlEngine
import PawlJournal
import Synchronization

/// Receives a segment: in memory, and beyond a limit in a file without a name.
final class SegmentSpool: ByteSink, Sendable {
    /// So many bytes are kept in memory.
    static let memory = 16 << 20

    private struct State: Sendable {
        var bytes: [UInt8] = []
        var file: SpooledFile?
        var length: Int64 = 0
    }

    private let folder: String
    private let state = Mutex(State())

    /// `folder`: where the file is, if there has to be one.
    init(in folder: String) { self.folder = folder }

    var destination: Destination {
        .sink(
            SinkMaker { [self] _ in
                state.withLock { $0 = State() }
                return .fresh(self)
            })
    }

    /// What was received.
    var content: SegmentBytes {
        state.withLock { state in state.file.map { .file($0, from: 0) } ?? .memory(state.bytes) }
    }

    var length: Int64 { state.withLock { $0.length } }

    func write(_ bytes: UnsafeRawBufferPointer) throws(Failure) {
        try change { state throws(Failure) in
            if state.file == nil, state.length + Int64(bytes.count) > Int64(Self.memory) {
                let file = try SpooledFile(in: folder)
                try unsafe state.bytes.span.bytes.withUnsafeBytes { (buffer) throws(Failure) in
                    try unsafe file.write(buffer, at: 0)
                }
                (state.file, state.bytes) = (file, [])
            }
            if let file = state.file {
                try unsafe file.write(bytes, at: state.length)
            } else {
                unsafe state.bytes.append(contentsOf: bytes)
            }
            state.length += Int64(bytes.count)
        }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Failure) {
        let (file, bytes) = state.withLock { ($0.file, $0.bytes) }
        if let file { return try unsafe file.read(into: buffer, at: offset) }
        unsafe bytes.withUnsafeBytes { own in
            let range = Int(offset)..<(Int(offset) + buffer.count)
            unsafe buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: own[range]))
        }
    }

    func startOver(_ facts: JournalFacts) throws(Failure) { try truncate(to: 0) }

    private func truncate(to length: Int64) throws(Failure) {
        try change { state throws(Failure) in
            guard length < state.length else { return }
            if let file = state.file {
                try file.truncate(to: length)
            } else {
                state.bytes.removeSubrange(Int(length)...)
            }
            state.length = length
        }
    }

    /// The closure of `withLock` cannot throw a `Failure`.
    private func change(_ body: (inout State) throws(Failure) -> Void) throws(Failure) {
        let failure: Failure? = state.withLock { state in
            do throws(Failure) {
                try body(&state)
                return nil
            } catch { return error }
        }
        if let failure { throw failure }
    }

    /// None of a large one: its bytes are checked before they are joined.
    func digests(
        _ algorithms: [HashAlgorithm], length: Int64,
        completion: @escaping @Sendable (Result<[Checksum], Failure>) -> Void
    ) {
        let bytes = state.withLock { $0.file == nil ? Array($0.bytes.prefix(Int(length))) : nil }
        completion(.success(bytes.flatMap { ContentDigest.digests(algorithms, of: $0, coding: nil) } ?? []))
    }

    func finish(length: Int64, completion: @escaping @Sendable (Result<String, Failure>) -> Void) {
        do throws(Failure) {
            try truncate(to: length)
            completion(.success(""))
        } catch { completion(.failure(error)) }
    }

    func close(keeping facts: JournalFacts?) { state.withLock { $0 = State() } }
}
#endif
