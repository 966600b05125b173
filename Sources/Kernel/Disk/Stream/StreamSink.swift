package import PawlBase
package import PawlJournal

/// A download to a `StreamTarget`: in order, without a part file and a journal.
///
/// Nothing outlives the process, and what was written cannot be undone.
package final class StreamSink: ByteSink {
    private let writer: StreamWriter
    private var tail = ContentTail()

    private init(_ writer: StreamWriter) { self.writer = writer }

    /// `algorithms`: the digests that the download will request, besides those that the first response states; `notice`: called
    /// with what the user should know.
    package static func destination(
        _ target: StreamTarget, algorithms: [HashAlgorithm], notice: @escaping @Sendable (String) -> Void = { _ in }
    ) -> Destination {
        .sink(SinkMaker { .fresh(StreamSink(StreamWriter(target, $0.facts.algorithms(besides: algorithms), notice))) })
    }

    package var length: Int64 { tail.length }
    package var hasRoom: Bool { writer.hasRoom }

    package func write(_ bytes: UnsafeRawBufferPointer) throws(Failure) {
        try unsafe writer.write(bytes)
        unsafe tail.append(bytes)
    }

    package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Failure) {
        guard unsafe tail.read(into: buffer, at: offset) else { throw isGone }
    }

    package func startOver(_ facts: JournalFacts) throws(Failure) { guard tail.length == 0 else { throw isGone } }

    private var isGone: Failure {
        Failure(
            .inputOutput, "cannot restart", at: writer.target.name,
            because: "the download has to start over, and \(tail.length) bytes were already written to it",
            remedy: "download to a file")
    }

    package func digests(
        _ algorithms: [HashAlgorithm], length: Int64,
        completion: @escaping @Sendable (Result<[Checksum], Failure>) -> Void
    ) { writer.digests { digests in completion(.success(digests.filter { algorithms.contains($0.algorithm) })) } }

    package func finish(length: Int64, completion: @escaping @Sendable (Result<String, Failure>) -> Void) {
        let path = writer.target.name
        writer.drain { completion($0.map { path }) }
    }

    /// The reader keeps what it has got.
    package func close(keeping facts: JournalFacts?) {}
}
