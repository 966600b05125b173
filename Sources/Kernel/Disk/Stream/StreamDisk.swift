package import PawlBase
package import PawlJournal

/// The disk of a download to a `StreamTarget`: in order, on one connection, without a part file and a journal.
package final class StreamDisk: UnstoredDisk {
    private let target: StreamTarget
    private let algorithms: [HashAlgorithm]
    private let notice: @Sendable (String) -> Void

    /// `algorithms`: the digests that the download will request, besides those that the first response states; `notice`: called
    /// with what the user should know.
    package init(
        to target: StreamTarget, algorithms: [HashAlgorithm], notice: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.target = target
        self.algorithms = algorithms
        self.notice = notice
    }

    package func claim(_ claim: Claim, adopts: (LoadedJournal) -> Bool) throws(Failure) -> ClaimResult {
        let stated = claim.facts.representation.digests.map(\.checksum.algorithm)
        let all = HashAlgorithm.allCases.filter { algorithms.contains($0) || stated.contains($0) }
        return .fresh(StreamPartial(StreamWriter(target, all, notice), name: claim.name))
    }
}

/// Nothing outlives the process, and what was written cannot be undone.
private final class StreamPartial: UnstoredPartial {
    let name: String
    private let writer: StreamWriter
    private var tail = ContentTail()

    init(_ writer: StreamWriter, name: String) {
        self.writer = writer
        self.name = name
    }

    var path: String { writer.target.name }
    var hasRoom: Bool { writer.hasRoom }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(Failure) {
        precondition(offset == tail.length, "one connection writes in order")
        try unsafe writer.write(bytes)
        unsafe tail.append(bytes)
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Failure) {
        guard unsafe tail.read(into: buffer, at: offset) else { throw isGone }
    }

    func startOver(_ facts: JournalFacts) throws(Failure) { guard tail.length == 0 else { throw isGone } }

    private var isGone: Failure {
        Failure(
            .inputOutput, "cannot restart", at: path,
            because: "the download has to start over, and \(tail.length) bytes were already written to it",
            remedy: "download to a file")
    }

    func publish(length: Int64, modified: UnixTime?, completion: @escaping @Sendable (Result<String, Failure>) -> Void)
    {
        let path = path
        writer.drain { completion($0.map { path }) }
    }

    func digests(
        _ algorithms: [HashAlgorithm], length: Int64,
        completion: @escaping @Sendable (Result<[Checksum], Failure>) -> Void
    ) { writer.digests { digests in completion(.success(digests.filter { algorithms.contains($0.algorithm) })) } }
}
