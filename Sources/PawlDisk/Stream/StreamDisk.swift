package import PawlCore
package import PawlEngine

/// The disk of a download to a `StreamTarget`: in order, on one connection, without a part file and a journal.
package final class StreamDisk: Disk {
    private let target: StreamTarget
    private let algorithms: [HashAlgorithm]

    /// `algorithms`: the digests that the download will request, besides those that the first response states.
    package init(to target: StreamTarget, algorithms: [HashAlgorithm]) {
        self.target = target
        self.algorithms = algorithms
    }

    package func claim(_ claim: Claim, adopts: (LoadedJournal) -> Bool) throws(Failure) -> ClaimResult {
        let stated = claim.facts.representation.digests.map(\.checksum.algorithm)
        let all = HashAlgorithm.allCases.filter { algorithms.contains($0) || stated.contains($0) }
        return .fresh(StreamPartial(StreamWriter(target, all), name: claim.name))
    }

    package func unfinished(of source: String, in folder: String) -> String? { nil }
    package func length(of name: String, in folder: String) -> Int64? { nil }
    package func rename(_ name: String, to newName: String, in folder: String) throws(Failure) {}
    package func remove(_ name: String, in folder: String) throws(Failure) {}
}

/// Nothing outlives the process, and what was written cannot be undone.
private final class StreamPartial: UnstoredPartial {
    let name: String
    let hasJournal = false
    let slotCount = 64
    let durable = ByteRangeSet()
    private let writer: StreamWriter
    private var length: Int64 = 0
    /// The last bytes that were written, to prove that another response has the same content.
    private var tail: [UInt8] = []
    private static let longestTail = 256 << 10

    init(_ writer: StreamWriter, name: String) {
        self.writer = writer
        self.name = name
    }

    var path: String { writer.target.name }
    var hasRoom: Bool { writer.hasRoom }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(Failure) {
        precondition(offset == length, "one connection writes in order")
        try unsafe writer.write(bytes)
        length += Int64(bytes.count)
        unsafe tail.append(contentsOf: bytes)
        if tail.count > StreamPartial.longestTail * 2 {
            tail.removeFirst(tail.count - StreamPartial.longestTail)
        }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Failure) {
        let start = offset - (length - Int64(tail.count))
        guard start >= 0, start + Int64(buffer.count) <= Int64(tail.count) else { throw isGone }
        unsafe tail.withUnsafeBytes { kept in
            let part = Int(start)..<(Int(start) + buffer.count)
            unsafe buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: kept[part]))
        }
    }

    func startOver(_ facts: JournalFacts) throws(Failure) {
        guard length == 0 else { throw isGone }
    }

    private var isGone: Failure {
        Failure(
            .inputOutput,
            "cannot restart",
            at: path,
            because: "\(length) bytes were already written to it, and the server cannot resume after them",
            remedy: "download to a file"
        )
    }

    func publish(
        length: Int64,
        modified: UnixTime?,
        completion: @escaping @Sendable (Result<String, Failure>) -> Void
    ) {
        let path = path
        writer.drain { completion($0.map { path }) }
    }

    func digests(
        _ algorithms: [HashAlgorithm],
        length: Int64,
        completion: @escaping @Sendable (Result<[Checksum], Failure>) -> Void
    ) {
        writer.digests { digests in completion(.success(digests.filter { algorithms.contains($0.algorithm) }))
        }
    }
}
