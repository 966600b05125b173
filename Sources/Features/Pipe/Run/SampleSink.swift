package import PawlBase

/// Stores samples.
protocol SampleSink: Sendable {
    /// The number of threads, and the number of samples in a batch.
    var threads: Int { get }
    var batch: Int { get }
    /// Stores the contents of the records, and completes their results.
    ///
    /// A failure ends the run.
    func store(_ records: inout [PipeRecord]) throws(Failure)
}

extension SampleSink {
    var threads: Int { 1 }
    // Each may have an open file.
    var batch: Int { 256 }
}

/// Stores nothing: only addresses and digests are checked.
struct NoSink: SampleSink {
    func store(_ records: inout [PipeRecord]) throws(Failure) {
        for index in records.indices {
            guard let content = records[index].content else { continue }
            try records[index].result.describe(content)
            records[index].content = nil
        }
    }
}

extension PipeResult {
    /// Adds size and digest.
    mutating func describe(_ content: SampleContent) throws(Failure) {
        bytes = content.length
        sha256 = Hexadecimal.text(try content.sha256())
    }

    /// Whether the described content has the digests; `content` is called only for others than SHA-256.
    func has(_ digests: [Checksum], in content: () throws(Failure) -> SampleContent) throws(Failure) -> Bool {
        for checksum in digests {
            let isRight =
                checksum.algorithm == .sha256
                ? sha256 == Hexadecimal.text(checksum.digest) : try content().has(checksum)
            if !isRight { return false }
        }
        return true
    }

    package mutating func fail(_ failure: Failure) {
        status = .failed
        code = failure.code.rawValue
        explain(failure)
    }
}
