package import PawlBase
package import PawlJournal
import Synchronization

/// One small download's bytes in memory, never more than a limit (B1).
package final class MemoryDisk: UnstoredDisk {
    fileprivate let limit: Int64
    fileprivate let content = Mutex<[UInt8]>([])

    fileprivate let digest: (@Sendable (HashAlgorithm, [UInt8]) -> [UInt8])?
    fileprivate let isOverdue: @Sendable () -> Bool

    /// `digest` is needed where the content has a checksum; no byte is accepted once it `isOverdue`.
    package init(
        limit: Int64, digest: (@Sendable (HashAlgorithm, [UInt8]) -> [UInt8])? = nil,
        isOverdue: @escaping @Sendable () -> Bool = { false }
    ) {
        self.limit = limit
        self.digest = digest
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
        var bytes: [UInt8]? = Array(disk.bytes.prefix(Int(length)))
        var plain: [UInt8] = []
        var inflate = Inflate(limit: MemoryPartial.longestDecoded) {
            defer { bytes = nil }
            return bytes
        } emit: {
            plain += $0
        }
        guard let digest = disk.digest, Inflate.supports(coding) else { return completion(.success(nil)) }
        do throws(Inflate.Fault) { try inflate.decode(coding) } catch {
            return completion(.success(error == .tooLong ? nil : []))
        }
        completion(.success(algorithms.map { Checksum(algorithm: $0, digest: digest($0, plain)) }))
    }

    private static let longestDecoded: Int64 = 64 << 20

    func digests(
        _ algorithms: [HashAlgorithm], length: Int64,
        completion: @escaping @Sendable (Result<[Checksum], Failure>) -> Void
    ) {
        guard let digest = disk.digest else { return completion(.success([])) }
        let bytes = Array(disk.bytes.prefix(Int(length)))
        completion(.success(algorithms.map { Checksum(algorithm: $0, digest: digest($0, bytes)) }))
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
