import Pawl
package import PawlBase
import PawlEngine
package import PawlJournal
import PawlSystem
import Synchronization

/// The bytes of one download, without a journal.
package final class SampleSpool: ByteSink, Sendable {
    /// The number of bytes kept in memory.
    private static let memory = 256 << 10

    private let spool: Spool<OwnFile>
    private let source = Mutex("")
    private let limit: Int64
    private let isCut: Bool
    private let folder: SpoolFolder

    /// More than `limit` bytes are a failure (`tooLarge`); with `isCut` the first ones are kept then.
    package init(limit: Int64 = .max, isCut: Bool = false, in folder: SpoolFolder) {
        self.limit = limit
        self.isCut = isCut
        self.folder = folder
        spool = Spool(memory: Self.memory) { () throws(Failure) in OwnFile(try folder.open(), in: folder) }
    }

    package var destination: Destination {
        .sink(
            SinkMaker(mayBeginAnew: true) { [self] (claim) throws(Failure) in
                try spool.truncate(to: 0)
                source.withLock { $0 = claim.facts.sources.first ?? claim.name }
                return .fresh(self)
            })
    }

    /// What was received.
    package var content: SampleContent {
        let content = spool.content
        if let own = content.file { return SampleContent(own, length: content.length) }
        return SampleContent(bytes: content.bytes)
    }

    package var length: Int64 { spool.length }

    package func reserve(_ total: Int64) throws(Failure) {
        if !isCut { try check(total) }
        spool.reserve(min(total, limit))
    }

    private func check(_ length: Int64) throws(Failure) {
        guard length > limit else { return }
        throw Failure(
            .tooLarge, "cannot accept", at: Redaction.address(source.withLock { $0 }),
            because: "it has at least \(length) bytes, the limit is \(limit)")
    }

    package func write(_ bytes: UnsafeRawBufferPointer) throws(Failure) {
        let start = length
        let end = start + Int64(bytes.count)
        if !isCut { try check(end) }
        let kept = min(bytes.count, Int(clamping: max(0, limit - start)))
        try unsafe spool.append(UnsafeRawBufferPointer(rebasing: bytes[..<kept]))
        try check(end)
    }

    package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Failure) {
        let content = content
        guard
            try folder.check({ () throws(SystemError) in try unsafe content.read(into: buffer, at: offset) })
                == buffer.count
        else { throw Failure(.inputOutput, "cannot read", at: folder.path, because: "the file is cut short") }
    }

    package func startOver(_ facts: JournalFacts) throws(Failure) { try spool.truncate(to: 0) }

    package func finish(length: Int64, completion: @escaping @Sendable (Result<String, Failure>) -> Void) {
        spool.finish(length: length, completion)
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
