import PawlBase
import PawlSystem
import Synchronization

/// Writes all samples and their results to one archive, which is published at the end.
///
/// The records come in the order of the input.
final class ShardSink: SampleSink {
    private struct State {
        var keys = UniqueKeys()
        /// Bytes of the archive that are not written yet.
        var pending: [UInt8] = []
    }

    let shard: ShardName
    let archive: any ArchiveFormat
    private let place: any ShardPlace
    private let draft: any ShardDraft
    /// The reproducible lines of results, and those with times.
    private let manifest: SampleLog
    private let results: SampleLog
    private let state = Mutex(State())

    init(_ shard: ShardName, _ archive: any ArchiveFormat, in place: any ShardPlace) throws(Failure) {
        self.shard = shard
        self.archive = archive
        self.place = place
        draft = try place.makeDraft(shard.archive)
        manifest = try SampleLog(in: place.spool)
        results = try SampleLog(in: place.spool)
        try draft.append(archive.beginning)
    }

    func store(_ records: inout [PipeRecord]) throws(Failure) {
        for index in records.indices { try store(&records[index]) }
        try flush()
    }

    private func store(_ record: inout PipeRecord) throws(Failure) {
        if case .success(let job) = record.job, record.result.status == .ok,
            let content = try record.content?.inMemory()
        {
            try record.result.describe(content)
            record.content = try add(content, &record, job)
        }
        let lines = record.lines()
        try manifest.append(lines.reproducible)
        try results.append(lines.timed)
    }

    /// Returns the content as a region of the archive.
    private func add(
        _ content: SampleContent, _ record: inout PipeRecord, _ job: PipeJob
    ) throws(Failure) -> SampleContent? {
        let key = state.withLock { $0.keys.take(SampleName.key(of: job)) }
        let type = record.result.type
        record.result.key = "\(key).\(SampleName.ending(type: type, path: job.address.path))"
        let start = draft.length + Int64(state.withLock { $0.pending.count })
        let sample = ArchivedSample(
            key: key, job: job, result: record.result, response: record.response?.value, requested: record.requested)
        let offset = try archive.write(sample, content, to: append)
        // Content in memory is not kept for repeated addresses.
        return offset.map { draft.content(from: start + $0, length: content.length) }
    }

    private func append(_ bytes: [UInt8]) throws(Failure) {
        let isFull = state.withLock { state in
            state.pending += bytes
            return state.pending.count >= 1 << 20
        }
        if isFull { try flush() }
    }

    private func flush() throws(Failure) {
        // Only the sink's thread appends; the room is kept, because growing it costs a copy.
        var bytes: [UInt8] = []
        state.withLock { swap(&$0.pending, &bytes) }
        guard !bytes.isEmpty else { return }
        try draft.append(bytes)
        bytes.removeAll(keepingCapacity: true)
        state.withLock { swap(&$0.pending, &bytes) }
    }

    /// Publishes the archive and then the manifest, a copy of the one in the archive.
    ///
    /// Returns the results; `nil` if another process published the shard first.
    func publish(input: String) throws(Failure) -> SampleContent? {
        let manifest = try manifest.content()
        try flush()
        try archive.end(manifest, input: input, after: draft.length, to: append)
        try flush()
        guard try draft.publish() else { return nil }
        try PublishedShard.publish(manifest, as: shard, in: place)
        return try results.content()
    }

    /// Removes everything unpublished.
    func discard(until deadline: Instant) { draft.discard(until: deadline) }
}

/// An existing shard.
struct PublishedShard {
    private let file: any ShardFile
    private let archive: any ArchiveFormat
    private let trailer: ShardTrailer
    private let trailerStart: Int64
    private let path: String

    /// `nil` if there is none; throws if another file has its name.
    init?(_ shard: ShardName, _ archive: any ArchiveFormat, in place: any ShardPlace) throws(Failure) {
        path = place.path(of: shard.archive)
        guard let file = try place.published(shard.archive) else {
            guard try place.published(shard.manifest) == nil else {
                throw Self.other(place.path(of: shard.manifest), "it is not the manifest of a shard here")
            }
            return nil
        }
        self.file = file
        self.archive = archive
        guard let found = try archive.trailer(of: file), found.trailer.length <= found.start else {
            throw Self.other(path, "it is not a shard")
        }
        (trailer, trailerStart) = found
    }

    /// Publishes the manifest if it is missing; throws if the shard was made from other jobs.
    func confirm(input: String, _ shard: ShardName, in place: any ShardPlace) throws(Failure) -> SampleContent {
        guard trailer.input == input else { throw Self.other(path, "it is a shard of other jobs") }
        let region = try file.content(from: trailerStart - trailer.length, length: trailer.length)
        let manifest = try archive.manifest(in: region)
        try Self.publish(manifest, as: shard, in: place)
        place.clean(shard.archive)
        return manifest
    }

    static func publish(_ manifest: SampleContent, as shard: ShardName, in place: any ShardPlace) throws(Failure) {
        let name = shard.manifest
        if try place.published(name) == nil, try place.publish(manifest, as: name) { return }
        guard let existing = try place.published(name), existing.length == manifest.length,
            try existing.content(from: 0, length: existing.length).sha256() == manifest.sha256()
        else { throw other(place.path(of: name), "it is the manifest of another shard") }
    }

    private static func other(_ path: String, _ why: String) -> Failure {
        Failure(
            .fileExists, "cannot publish", at: path, because: why, remedy: "choose another --shard, or another folder")
    }
}
