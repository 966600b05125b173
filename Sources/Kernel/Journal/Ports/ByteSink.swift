package import PawlBase

/// Where the bytes of a download go.
package enum Destination: Sendable {
    /// Into a part file in the download's folder, on the engine's disk.
    case folder
    /// Into no file: in order, over one connection.
    case sink(SinkMaker)
}

/// Makes the sink of each run of a download.
package struct SinkMaker: Sendable {
    /// Whether a run that ends early leaves a part that another one continues.
    package var keepsPart: Bool
    /// Whether another run may begin anew after bytes were delivered: no reader has got them yet.
    package var mayBeginAnew: Bool
    /// Whether something is there already, so that the first request depends on it.
    package let isBegun: @Sendable () -> Bool
    /// Begins with the first response, or with what an earlier run has left.
    package let begin: @Sendable (Claim) throws(Failure) -> SinkStart

    package init(
        keepsPart: Bool = false, mayBeginAnew: Bool = false, isBegun: @escaping @Sendable () -> Bool = { false },
        begin: @escaping @Sendable (Claim) throws(Failure) -> SinkStart
    ) {
        self.keepsPart = keepsPart
        self.mayBeginAnew = mayBeginAnew
        self.isBegun = isBegun
        self.begin = begin
    }
}

/// What a run begins with.
package enum SinkStart {
    case fresh(any ByteSink)
    /// An earlier run's bytes are there: all before the sink's length.
    case found(any ByteSink, LoadedJournal)
    /// The content is there, and nothing is to be fetched.
    case present(path: String)
}

/// A run's bytes in order, from one connection.
///
/// Belongs to the loop thread of its download; completions may come on any thread, also before the call returns.
package protocol ByteSink: AnyObject {
    /// How many bytes it has: the next ones follow them.
    var length: Int64 { get }
    /// Whether it accepts more bytes now; a reader of a pipe may be slow.
    var hasRoom: Bool { get }
    /// Throws where it will not take `total` bytes.
    func reserve(_ total: Int64) throws(Failure)
    /// Takes all of `bytes`, or throws.
    func write(_ bytes: UnsafeRawBufferPointer) throws(Failure)
    /// Fills `buffer` from `offset`; throws where those bytes are not kept any more.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Failure)
    /// Its bytes are a part of this now.
    func note(_ facts: JournalFacts)
    /// Discards all bytes; throws where a reader has got some.
    func startOver(_ facts: JournalFacts) throws(Failure)
    /// The digests of the first `length` bytes; one of them is left out where it cannot be computed any more.
    func digests(
        _ algorithms: [HashAlgorithm], length: Int64,
        completion: @escaping @Sendable (Result<[Checksum], Failure>) -> Void)
    /// The digests of what the first `length` bytes decode to; `nil` where this coding, or any, cannot be decoded, none
    /// where the bytes are not of that coding.
    func decodedDigests(
        _ algorithms: [HashAlgorithm], coding: String, length: Int64,
        completion: @escaping @Sendable (Result<[Checksum]?, Failure>) -> Void)
    /// The first `length` bytes are the content. The completion's value is the path of what was made of them, empty
    /// without one.
    func finish(length: Int64, completion: @escaping @Sendable (Result<String, Failure>) -> Void)
    /// The run ends before that; with `nil` nothing is to be left of its bytes.
    func close(keeping facts: JournalFacts?)
}

// What holds of most sinks: they take any number of bytes at once, remember nothing for another run, and cannot read
// their bytes again.
extension ByteSink {
    package var hasRoom: Bool { true }
    package func reserve(_ total: Int64) throws(Failure) {}
    package func note(_ facts: JournalFacts) {}

    package func decodedDigests(
        _ algorithms: [HashAlgorithm], coding: String, length: Int64,
        completion: @escaping @Sendable (Result<[Checksum]?, Failure>) -> Void
    ) { completion(.success(nil)) }
}

extension JournalFacts {
    /// The digests to compute while bytes pass: those that the download will request, and those that the response stated.
    package func algorithms(besides planned: [HashAlgorithm]) -> [HashAlgorithm] {
        let stated = representation.digests.map(\.checksum.algorithm)
        return HashAlgorithm.allCases.filter { planned.contains($0) || stated.contains($0) }
    }
}
