import PawlBase
import PawlS3

/// Stores each sample as an object.
struct ObjectSink: SampleSink {
    let prefix: ObjectPrefix
    /// Many, because a request takes much longer than writing a file.
    let threads: Int
    let batch = 1
    private let breaker: StoreBreaker

    /// `failures`: after that many in a row that could not connect, samples fail at once.
    init(prefix: ObjectPrefix, threads: Int, failures: Int) {
        (self.prefix, self.threads) = (prefix, threads)
        breaker = StoreBreaker(limit: failures)
    }

    /// Identifies the origin of an object, as in a folder, and its content.
    private struct Mark {
        var source: String
        var sha256: String

        init(_ job: PipeJob, sha256: String) {
            source = Hexadecimal.text(FolderSink.mark(of: job))
            self.sha256 = sha256
        }

        init?(_ text: String?) {
            guard let parts = text?.split(separator: "-", omittingEmptySubsequences: false), parts.count == 2,
                Hexadecimal.bytes(String(parts[1]))?.count == 32
            else { return nil }
            (source, sha256) = (String(parts[0]), String(parts[1]))
        }

        var text: String { "\(source)-\(sha256)" }
    }

    func store(_ records: inout [PipeRecord]) throws(Failure) {
        for index in records.indices {
            guard case .success(let job) = records[index].job else { continue }
            if let failure = breaker.rejection(of: prefix.path(of: records[index].result.key ?? "")) {
                records[index].result.fail(failure)
                records[index].isLookup = false
                records[index].content = nil
                continue
            }
            do throws(Failure) {
                if records[index].isLookup { try look(&records[index], job) } else { try store(&records[index], job) }
                breaker.note(nil)
            } catch {
                breaker.note(error)
                // The store would refuse all other samples too.
                if error.code == .authorization { throw error }
                records[index].result.fail(error)
                records[index].isLookup = false
            }
            records[index].content = nil
        }
    }

    /// Whether an earlier run stored the job's object from the same URL.
    private func look(_ record: inout PipeRecord, _ job: PipeJob) throws(Failure) {
        guard let object = try prefix.object(record.result.key ?? ""), let mark = Mark(object.facts.content),
            mark.source == Mark(job, sha256: "").source
        else { return }
        record.isLookup = false
        record.isThere = true
        record.result.bytes = object.length
        record.result.sha256 = mark.sha256
        let isRight = try record.result.has(job.digests) { () throws(Failure) in
            try object.content(from: 0, length: object.length)
        }
        guard isRight else {
            throw Failure(
                .checksumMismatch, "cannot use", at: object.address.redacted, because: "its checksum is not the job's",
                remedy: "remove the object, and run it again")
        }
    }

    private func store(_ record: inout PipeRecord, _ job: PipeJob) throws(Failure) {
        let key = record.result.key ?? ""
        guard let content = try content(of: record) else { return }
        try record.result.describe(content)
        guard let sha256 = record.result.sha256 else { return }
        let mark = Mark(job, sha256: sha256).text
        switch try prefix.store(content, as: key, type: record.result.type, mark: mark) {
        case .stored: break
        case .already: if record.isPrimary { record.result.status = .already }
        case .differs:
            throw Failure(
                .fileExists, "cannot store", at: prefix.path(of: key),
                because: "an object with this key and other content exists", remedy: "choose another prefix or name")
        case .lost: throw ObjectPrefix.lost(try prefix.address(of: key))
        }
    }

    private func content(of record: PipeRecord) throws(Failure) -> SampleContent? {
        guard let copied = record.copied else { return record.content }
        guard let object = try prefix.object(copied) else {
            throw Failure(
                .inputOutput, "cannot read", at: prefix.path(of: copied), because: "it was removed meanwhile",
                remedy: "run it again")
        }
        return try object.content(from: 0, length: object.length)
    }
}
