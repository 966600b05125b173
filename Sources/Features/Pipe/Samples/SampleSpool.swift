package import PawlBase
import PawlDisk
import PawlEngine
package import PawlJournal
import PawlSystem
import Synchronization

/// The bytes of one download: in memory up to a limit, then in an unnamed file.
package final class SampleSpool: UnstoredDisk {
    /// The number of bytes kept in memory.
    private static let memory: Int64 = 256 << 10

    fileprivate struct State: Sendable {
        var bytes: [UInt8] = []
        var own: OwnFile?
        var length: Int64 = 0
    }

    fileprivate let state = Mutex(State())
    fileprivate let limit: Int64
    fileprivate let isCut: Bool
    private let folder: SpoolFolder

    /// More than `limit` bytes are a failure (`tooLarge`); with `isCut` the first ones are kept then.
    package init(limit: Int64 = .max, isCut: Bool = false, in folder: SpoolFolder) {
        self.limit = limit
        self.isCut = isCut
        self.folder = folder
    }

    package var allowsAnew: Bool { true }

    /// What was received.
    package var content: SampleContent {
        state.withLock { state in
            if let own = state.own { return SampleContent(own, length: state.length) }
            return SampleContent(bytes: state.bytes)
        }
    }

    /// Avoids that the bytes are moved while they grow.
    fileprivate func reserve(_ total: Int64) {
        guard total <= Self.memory else { return }
        state.withLock { $0.bytes.reserveCapacity(Int(max(0, total))) }
    }

    fileprivate func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(Failure) {
        let end = offset + Int64(bytes.count)
        // The closure of `withLock` cannot throw a `Failure`.
        let failure: Failure? = state.withLock { state in
            do throws(Failure) {
                if state.own == nil, end > Self.memory {
                    let file = try folder.open()
                    try folder.check { () throws(SystemError) in try file.write(state.bytes, at: 0) }
                    state.own = OwnFile(file)
                    state.bytes = []
                }
                if let file = state.own?.file {
                    try folder.check { () throws(SystemError) in try unsafe file.write(bytes, at: offset) }
                } else {
                    unsafe state.bytes.write(bytes, at: Int(offset))
                }
                state.length = max(state.length, end)
                return nil
            } catch { return error }
        }
        if let failure { throw failure }
    }

    fileprivate func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Failure) {
        let content = content
        guard
            try folder.check({ () throws(SystemError) in try unsafe content.read(into: buffer, at: offset) })
                == buffer.count
        else { throw Failure(.inputOutput, "cannot read", at: folder.path, because: "the file is cut short") }
    }

    fileprivate func truncate(to length: Int64) throws(Failure) {
        let failure: Failure? = state.withLock { state in
            do throws(Failure) {
                if let file = state.own?.file {
                    try folder.check { () throws(SystemError) in try file.truncate(to: length) }
                } else {
                    state.bytes.removeSubrange(min(state.bytes.count, Int(length))...)
                }
                state.length = min(state.length, length)
                return nil
            } catch { return error }
        }
        if let failure { throw failure }
    }

    package func claim(_ claim: Claim, adopts: (LoadedJournal) -> Bool) throws(Failure) -> ClaimResult {
        .fresh(SpoolPartial(self, claim))
    }
}

/// A part without a journal.
private final class SpoolPartial: UnstoredPartial {
    let name: String
    private let spool: SampleSpool
    private let source: String

    init(_ spool: SampleSpool, _ claim: Claim) {
        self.spool = spool
        name = claim.name
        source = claim.facts.sources.first ?? claim.name
    }

    private func check(_ length: Int64) throws(Failure) {
        guard length > spool.limit else { return }
        throw Failure(
            .tooLarge, "cannot accept", at: Redaction.address(source),
            because: "it has at least \(length) bytes, the limit is \(spool.limit)")
    }

    func reserve(_ total: Int64) throws(Failure) {
        if !spool.isCut { try check(total) }
        spool.reserve(min(total, spool.limit))
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(Failure) {
        let end = offset + Int64(bytes.count)
        if !spool.isCut { try check(end) }
        let kept = min(bytes.count, Int(clamping: max(0, spool.limit - offset)))
        try unsafe spool.write(UnsafeRawBufferPointer(rebasing: bytes[..<kept]), at: offset)
        try check(end)
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Failure) {
        try unsafe spool.read(into: buffer, at: offset)
    }

    func startOver(_ facts: JournalFacts) throws(Failure) { try spool.truncate(to: 0) }

    func publish(length: Int64, modified: UnixTime?, completion: @escaping @Sendable (Result<String, Failure>) -> Void)
    {
        do throws(Failure) {
            try spool.truncate(to: length)
            completion(.success(""))
        } catch { completion(.failure(error)) }
    }

    func digests(
        _ algorithms: [HashAlgorithm], length: Int64,
        completion: @escaping @Sendable (Result<[Checksum], Failure>) -> Void
    ) {
        do throws(Failure) { completion(.success(try spool.content.digests(algorithms, length: length))) } catch {
            completion(.failure(error))
        }
    }
}
