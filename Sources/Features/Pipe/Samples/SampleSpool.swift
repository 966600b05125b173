package import PawlBase
import PawlDisk
import PawlEngine
package import PawlJournal
import PawlSystem
import Synchronization

/// The bytes of one download: in memory up to a limit, then in an unnamed file; without a journal.
package final class SampleSpool: ByteSink, Sendable {
    /// The number of bytes kept in memory.
    private static let memory: Int64 = 256 << 10

    private struct State: Sendable {
        var source = ""
        var bytes: [UInt8] = []
        var own: OwnFile?
        var length: Int64 = 0
    }

    private let state = Mutex(State())
    private let limit: Int64
    private let isCut: Bool
    private let folder: SpoolFolder

    /// More than `limit` bytes are a failure (`tooLarge`); with `isCut` the first ones are kept then.
    package init(limit: Int64 = .max, isCut: Bool = false, in folder: SpoolFolder) {
        self.limit = limit
        self.isCut = isCut
        self.folder = folder
    }

    package var destination: Destination {
        .sink(
            SinkMaker(mayBeginAnew: true) { [self] (claim) throws(Failure) in
                try truncate(to: 0)
                state.withLock { $0.source = claim.facts.sources.first ?? claim.name }
                return .fresh(self)
            })
    }

    /// What was received.
    package var content: SampleContent {
        state.withLock { state in
            if let own = state.own { return SampleContent(own, length: state.length) }
            return SampleContent(bytes: state.bytes)
        }
    }

    package var length: Int64 { state.withLock { $0.length } }

    package func reserve(_ total: Int64) throws(Failure) {
        if !isCut { try check(total) }
        let kept = min(total, limit)
        guard kept <= Self.memory else { return }
        // The bytes are not moved while they grow.
        state.withLock { $0.bytes.reserveCapacity(Int(max(0, kept))) }
    }

    private func check(_ length: Int64) throws(Failure) {
        guard length > limit else { return }
        throw Failure(
            .tooLarge, "cannot accept", at: Redaction.address(state.withLock { $0.source }),
            because: "it has at least \(length) bytes, the limit is \(limit)")
    }

    package func write(_ bytes: UnsafeRawBufferPointer) throws(Failure) {
        let start = length
        let end = start + Int64(bytes.count)
        if !isCut { try check(end) }
        let kept = min(bytes.count, Int(clamping: max(0, limit - start)))
        try unsafe append(UnsafeRawBufferPointer(rebasing: bytes[..<kept]))
        try check(end)
    }

    private func append(_ bytes: UnsafeRawBufferPointer) throws(Failure) {
        try change { state throws(Failure) in
            if state.own == nil, state.length + Int64(bytes.count) > Self.memory {
                let file = try folder.open()
                try folder.check { () throws(SystemError) in try file.write(state.bytes, at: 0) }
                state.own = OwnFile(file)
                state.bytes = []
            }
            if let file = state.own?.file {
                try folder.check { () throws(SystemError) in try unsafe file.write(bytes, at: state.length) }
            } else {
                unsafe state.bytes.append(contentsOf: bytes)
            }
            state.length += Int64(bytes.count)
        }
    }

    private func truncate(to length: Int64) throws(Failure) {
        try change { state throws(Failure) in
            guard length < state.length else { return }
            if let file = state.own?.file {
                try folder.check { () throws(SystemError) in try file.truncate(to: length) }
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

    package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Failure) {
        let content = content
        guard
            try folder.check({ () throws(SystemError) in try unsafe content.read(into: buffer, at: offset) })
                == buffer.count
        else { throw Failure(.inputOutput, "cannot read", at: folder.path, because: "the file is cut short") }
    }

    package func startOver(_ facts: JournalFacts) throws(Failure) { try truncate(to: 0) }

    package func finish(length: Int64, completion: @escaping @Sendable (Result<String, Failure>) -> Void) {
        do throws(Failure) {
            try truncate(to: length)
            completion(.success(""))
        } catch { completion(.failure(error)) }
    }

    package func digests(
        _ algorithms: [HashAlgorithm], length: Int64,
        completion: @escaping @Sendable (Result<[Checksum], Failure>) -> Void
    ) {
        do throws(Failure) { completion(.success(try content.digests(algorithms, length: length))) } catch {
            completion(.failure(error))
        }
    }

    /// Another run begins anew.
    package func close(keeping facts: JournalFacts?) {}
}
