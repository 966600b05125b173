#if Features
import PawlBase
import PawlDisk
import PawlEngine
import PawlJournal

/// Receives a segment.
final class SegmentSpool: ByteSink, Sendable {
    /// So many bytes are kept in memory.
    static let memory = 16 << 20

    private let spool: Spool<SpooledFile>

    /// `folder`: where the file is, if there has to be one.
    init(in folder: String) {
        spool = Spool(memory: Self.memory) { () throws(Failure) in try SpooledFile(in: folder) }
    }

    var destination: Destination {
        .sink(
            SinkMaker { [self] _ in
                spool.removeAll()
                return .fresh(self)
            })
    }

    /// What was received.
    var content: SegmentBytes {
        let content = spool.content
        return content.file.map { .file($0, from: 0) } ?? .memory(content.bytes)
    }

    var length: Int64 { spool.length }

    func write(_ bytes: UnsafeRawBufferPointer) throws(Failure) { try unsafe spool.append(bytes) }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Failure) {
        let content = spool.content
        if let file = content.file { return try unsafe file.read(into: buffer, at: offset) }
        unsafe content.bytes.withUnsafeBytes { own in
            let range = Int(offset)..<(Int(offset) + buffer.count)
            unsafe buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: own[range]))
        }
    }

    func startOver(_ facts: JournalFacts) throws(Failure) { try spool.truncate(to: 0) }

    /// None of a large one: its bytes are checked before they are joined.
    func digests(
        _ algorithms: [HashAlgorithm], length: Int64,
        completion: @escaping @Sendable (Result<[Checksum], Failure>) -> Void
    ) {
        let content = spool.content
        let bytes = content.file == nil ? Array(content.bytes.prefix(Int(length))) : nil
        completion(.success(bytes.flatMap { ContentDigest.digests(algorithms, of: $0, coding: nil) } ?? []))
    }

    func finish(length: Int64, completion: @escaping @Sendable (Result<String, Failure>) -> Void) {
        spool.finish(length: length, completion)
    }

    func close(keeping facts: JournalFacts?) { spool.removeAll() }
}
#endif
