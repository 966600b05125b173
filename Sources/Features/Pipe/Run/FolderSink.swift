import PawlBase

/// Stores each sample in a file.
struct FolderSink: SampleSink {
    let folder: SampleFolder

    /// Identifies the origin of a file without its URL, which may contain secrets.
    static func mark(of job: PipeJob) -> [UInt8] {
        guard let digest = try? SampleContent(bytes: Array(job.source.utf8)).sha256() else { return [] }
        return Array(digest.prefix(16))
    }

    /// Whether an earlier run downloaded the job's file from the same URL.
    func holds(_ key: String, of job: PipeJob) -> Bool {
        guard let existing = try? folder.existing(key) else { return false }
        return existing.source == Self.mark(of: job)
    }

    private typealias Drafts = [(index: Int, draft: SampleFolder.Draft, content: SampleContent)]

    func store(_ records: inout [PipeRecord]) throws(Failure) {
        var drafts: Drafts = []
        for index in records.indices {
            guard case .success(let job) = records[index].job else { continue }
            do throws(Failure) { try draft(&records, index, job, &drafts) } catch  where error.lacksDescriptors {
                // Each draft has one.
                try publish(drafts, &records)
                drafts = []
                try folder.awaitDescriptors()
                do throws(Failure) { try draft(&records, index, job, &drafts) } catch {
                    records[index].result.fail(error)
                }
            } catch { records[index].result.fail(error) }
        }
        try publish(drafts, &records)
    }

    /// Makes the file of one record, or describes the one that is there.
    private func draft(
        _ records: inout [PipeRecord], _ index: Int, _ job: PipeJob, _ drafts: inout Drafts
    ) throws(Failure) {
        if records[index].isThere { return try describeExisting(&records[index], job) }
        guard let content = try content(of: records[index]) else { return }
        try records[index].result.describe(content)
        drafts.append((index, try make(job, records[index].result.key ?? "", content), content))
    }

    private func publish(_ drafts: Drafts, _ records: inout [PipeRecord]) throws(Failure) {
        guard !drafts.isEmpty else { return }
        // Sync data before names, and names before results, so that reported files survive a power failure.
        try folder.syncAll()
        for (index, draft, content) in drafts {
            do throws(Failure) {
                do throws(Failure) { try publish(draft, content, &records[index]) } catch  where error.lacksDescriptors
                {
                    try folder.awaitDescriptors()
                    try publish(draft, content, &records[index])
                }
            } catch { records[index].result.fail(error) }
            records[index].content = nil
        }
        try folder.syncAll()
    }

    private func content(of record: PipeRecord) throws(Failure) -> SampleContent? {
        guard let copied = record.copied else { return record.content }
        guard let existing = try folder.existing(copied) else { throw isGone(copied) }
        return existing.content
    }

    private func isGone(_ key: String) -> Failure {
        Failure(
            .inputOutput, "cannot read", at: "\(folder.path)/\(key)", because: "it was removed meanwhile",
            remedy: "run it again")
    }

    private func make(_ job: PipeJob, _ key: String, _ content: SampleContent) throws(Failure) -> SampleFolder.Draft {
        let draft = try folder.make(key, of: content)
        draft.setSource(Self.mark(of: job))
        return draft
    }

    private func publish(
        _ draft: SampleFolder.Draft, _ content: SampleContent, _ record: inout PipeRecord
    ) throws(Failure) {
        guard try !folder.publish(draft) else { return }
        draft.discard()
        guard let existing = try folder.existing(record.result.key ?? ""), existing.content.length == content.length,
            try Hexadecimal.text(existing.content.sha256()) == record.result.sha256
        else {
            throw Failure(
                .fileExists, "cannot create", at: draft.path, because: "a file of that name with other content exists",
                remedy: "choose another folder or name")
        }
        if record.isPrimary { record.result.status = .already }
    }

    private func describeExisting(_ record: inout PipeRecord, _ job: PipeJob) throws(Failure) {
        guard let existing = try folder.existing(record.result.key ?? "") else { throw isGone(record.result.key ?? "") }
        try record.result.describe(existing.content)
        guard try record.result.has(job.digests, in: { existing.content }) else {
            throw Failure(
                .checksumMismatch, "cannot use", at: "\(folder.path)/\(record.result.key ?? "")",
                because: "its checksum is not the job's", remedy: "remove the file, and run it again")
        }
    }
}
