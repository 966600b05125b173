package import PawlBase
package import PawlJournal
import Synchronization

/// Computes digests of bytes, or of what they contain where they have a coding; `nil` where that cannot be decoded, none
/// where they are not of that coding.
package typealias MemoryDigests = @Sendable ([HashAlgorithm], _ bytes: [UInt8], _ coding: String?) -> [Checksum]?

/// One small download's bytes in memory, never more than a limit (B1): nothing outlives the process.
package final class MemorySink: ByteSink, Sendable {
    private struct State {
        var bytes: [UInt8] = []
        var source = ""
    }

    private let limit: Int64
    private let state = Mutex(State())
    private let digests: MemoryDigests?
    private let isOverdue: @Sendable () -> Bool

    /// `digests` is needed where the content has a checksum; no byte is accepted once it `isOverdue`.
    package init(
        limit: Int64, digests: MemoryDigests? = nil, isOverdue: @escaping @Sendable () -> Bool = { false }
    ) {
        self.limit = limit
        self.digests = digests
        self.isOverdue = isOverdue
    }

    package var destination: Destination {
        .sink(
            SinkMaker { [self] claim in
                state.withLock { $0 = State(source: claim.facts.sources.first ?? claim.name) }
                return .fresh(self)
            })
    }

    package var bytes: [UInt8] { state.withLock { $0.bytes } }
    package var length: Int64 { state.withLock { Int64($0.bytes.count) } }
    private var source: String { state.withLock { Redaction.address($0.source) } }

    package func reserve(_ total: Int64) throws(Failure) {
        guard total > limit else { return }
        throw Failure(
            .tooLarge, "cannot hold in memory", at: source,
            because: "it has at least \(total) bytes, the limit is \(limit)",
            remedy: "raise the limit, or download to a file")
    }

    package func write(_ bytes: UnsafeRawBufferPointer) throws(Failure) {
        try reserve(length + Int64(bytes.count))
        guard !isOverdue() else {
            throw Failure(.tooSlow, "cannot hold in memory", at: source, because: "it took too long")
        }
        state.withLock { unsafe $0.bytes.append(contentsOf: bytes) }
    }

    package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Failure) {
        state.withLock { state in
            unsafe state.bytes.withUnsafeBytes { bytes in
                let range = Int(offset)..<(Int(offset) + buffer.count)
                unsafe buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[range]))
            }
        }
    }

    package func startOver(_ facts: JournalFacts) throws(Failure) { truncate(to: 0) }

    package func finish(length: Int64, completion: @escaping @Sendable (Result<String, Failure>) -> Void) {
        truncate(to: Int(length))
        completion(.success(""))
    }

    package func close(keeping facts: JournalFacts?) { truncate(to: 0) }

    private func truncate(to length: Int) {
        state.withLock { $0.bytes.removeSubrange(min($0.bytes.count, length)...) }
    }

    package func decodedDigests(
        _ algorithms: [HashAlgorithm], coding: String, length: Int64,
        completion: @escaping @Sendable (Result<[Checksum]?, Failure>) -> Void
    ) {
        completion(.success(digests?(algorithms, Array(bytes.prefix(Int(length))), coding)))
    }

    package func digests(
        _ algorithms: [HashAlgorithm], length: Int64,
        completion: @escaping @Sendable (Result<[Checksum], Failure>) -> Void
    ) {
        completion(.success(digests?(algorithms, Array(bytes.prefix(Int(length))), nil) ?? []))
    }
}
