package import PawlBase
package import PawlJournal
import Synchronization

/// Computes digests of bytes, or of what they contain where they have a coding; `nil` where that cannot be decoded, none
/// where they are not of that coding.
package typealias MemoryDigests = @Sendable ([HashAlgorithm], _ bytes: [UInt8], _ coding: String?) -> [Checksum]?

/// One small download's bytes in memory, never more than a limit (B1).
package final class MemoryDisk: UnstoredDisk {
    fileprivate let limit: Int64
    fileprivate let content = Mutex<[UInt8]>([])

    fileprivate let digests: MemoryDigests?
    fileprivate let isOverdue: @Sendable () -> Bool

    /// `digests` is needed where the content has a checksum; no byte is accepted once it `isOverdue`.
    package init(
        limit: Int64, digests: MemoryDigests? = nil, isOverdue: @escaping @Sendable () -> Bool = { false }
    ) {
        self.limit = limit
        self.digests = digests
        self.isOverdue = isOverdue
    }

    package var bytes: [UInt8] { content.withLock { $0 } }

    package func claim(_ claim: Claim, adopts: (LoadedJournal) -> Bool) throws(Failure) -> ClaimResult {
        .fresh(MemoryPartial(self, claim))
    }
}

/// A part file without a file: nothing outlives the process, so there is no journal.
private final class MemoryPartial: UnstoredPartial {
    let name: String
    private let disk: MemoryDisk
    private let source: String

    init(_ disk: MemoryDisk, _ claim: Claim) {
        self.disk = disk
        name = claim.name
        source = claim.facts.sources.first ?? claim.name
    }

    private func check(_ length: Int64) throws(Failure) {
        guard length > disk.limit else { return }
        throw Failure(
            .tooLarge, "cannot hold in memory", at: Redaction.address(source),
            because: "it has at least \(length) bytes, the limit is \(disk.limit)",
            remedy: "raise the limit, or download to a file")
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(Failure) {
        try check(offset + Int64(bytes.count))
        guard !disk.isOverdue() else {
            throw Failure(.tooSlow, "cannot hold in memory", at: Redaction.address(source), because: "it took too long")
        }
        disk.content.withLock { unsafe $0.write(bytes, at: Int(offset)) }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Failure) {
        disk.content.withLock { content in
            unsafe content.withUnsafeBytes { bytes in
                let range = Int(offset)..<(Int(offset) + buffer.count)
                unsafe buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[range]))
            }
        }
    }

    func reserve(_ total: Int64) throws(Failure) { try check(total) }

    func startOver(_ facts: JournalFacts) throws(Failure) { disk.content.withLock { $0.removeAll() } }

    func publish(length: Int64, modified: UnixTime?, completion: @escaping @Sendable (Result<String, Failure>) -> Void)
    {
        disk.content.withLock { content in content.removeSubrange(min(content.count, Int(length))...) }
        completion(.success(""))
    }

    func decodedDigests(
        _ algorithms: [HashAlgorithm], coding: String, length: Int64,
        completion: @escaping @Sendable (Result<[Checksum]?, Failure>) -> Void
    ) {
        completion(.success(disk.digests?(algorithms, Array(disk.bytes.prefix(Int(length))), coding)))
    }

    func digests(
        _ algorithms: [HashAlgorithm], length: Int64,
        completion: @escaping @Sendable (Result<[Checksum], Failure>) -> Void
    ) {
        completion(.success(disk.digests?(algorithms, Array(disk.bytes.prefix(Int(length))), nil) ?? []))
    }
}

extension [UInt8] {
    /// As `pwrite`: overwrites what is there, with zeros between the end and `offset`.
    package mutating func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
        let end = offset + bytes.count
        guard offset != count else { return unsafe append(contentsOf: bytes) }
        if count < end { append(contentsOf: [UInt8](repeating: 0, count: end - count)) }
        unsafe withUnsafeMutableBytes { place in
            unsafe UnsafeMutableRawBufferPointer(rebasing: place[offset..<end]).copyMemory(from: bytes)
        }
    }
}
