package import PawlBase
import PawlDisk
package import PawlJournal
import Synchronization

/// The object that a download's bytes become: in order, over one connection, without a local file.
///
/// What another run left in the store is its journal. It is used only if a strong validator can prove that the source
/// is unchanged, as its bytes cannot be read for a comparison, and only where no digest needs all of them.
package final class ObjectTarget: Sendable {
    private let store: ObjectStore
    private let target: WebAddress
    private let policy: IfExists
    /// The object that is there.
    private let existing: ObjectStore.Facts?
    private let left: (note: UploadNote, parts: [S3Part])?
    private let algorithms: [HashAlgorithm]

    /// Uploads that are older and that no note names are nobody's any more.
    private static let abandonment: Int64 = 24 * 3600

    /// Looks at what the store has of `target`; blocks the calling thread.
    ///
    /// `needsDigest`: all bytes have to pass, since a digest was given.
    package init(
        _ store: ObjectStore, target: WebAddress, source: String, policy: IfExists,
        algorithms: [HashAlgorithm], needsDigest: Bool
    ) throws(Failure) {
        self.store = store
        self.target = target
        self.policy = policy
        self.algorithms = algorithms
        existing = try store.head(target)
        let bytes =
            UploadNote.fits(beside: target)
            ? try store.get(UploadNote.address(beside: target), limit: UploadNote.longest) : nil
        let note = bytes.flatMap { UploadNote($0) }
        if bytes != nil, note == nil {
            throw Failure(
                .newerJournal, "cannot continue", at: UploadNote.address(beside: target).redacted,
                because: "it was not written by this version of Pawl",
                remedy: "use the version that wrote it, or delete it")
        }
        let isUsable =
            note.map { note in
                !needsDigest && note.facts.sources.first.hasSameBytes(as: source)
                    && note.facts.representation.records.contains {
                        $0.source.hasSameBytes(as: source) && $0.promise == .strong
                    }
            } ?? false
        var parts: [S3Part]?
        if let note, isUsable { parts = try store.parts(of: note.upload, at: target) }
        if let note, let parts { left = (note, parts) } else { left = nil }
        try Self.clean(store, target, keeping: left?.note, discarding: note)
    }

    /// Aborts the uploads of the same target that are of no use to anyone.
    private static func clean(
        _ store: ObjectStore, _ target: WebAddress, keeping kept: UploadNote?, discarding note: UploadNote?
    ) throws(Failure) {
        if let note, kept == nil {
            try store.abort(note.upload, at: target)
            // Also after a kill between the completion and the note's end.
            try? store.delete(UploadNote.address(beside: target))
        }
        // Not every store lists them, and not every user may.
        guard let uploads = try? store.uploads(at: target) else { return }
        for upload in uploads where upload.id != kept?.upload && upload.id != note?.upload {
            guard let begun = upload.begun, begun.seconds < store.time.seconds - abandonment else { continue }
            try store.abort(upload.id, at: target)
        }
    }

    /// Without bytes to continue, the place is claimed with the first response, which may show that nothing has to be
    /// fetched.
    package var destination: Destination {
        let isBegun = left != nil || policy == .skip
        return .sink(SinkMaker(keepsPart: true, isBegun: { isBegun }, begin: begin))
    }

    private func begin(_ claim: Claim) throws(Failure) -> SinkStart {
        if policy == .skip, existing != nil { return .present(path: target.text) }
        if let left { return resumed(claim, left) }
        let content = claim.content().map { Hexadecimal.text($0.bytes) }
        if let existing, policy != .overwrite {
            if let content, existing.content == content { return .present(path: target.text) }
            if policy == .fail || claim.length.map({ $0 != existing.size }) ?? false { throw Self.taken(target) }
        }
        let plan = plan(claim, content: content)
        return .fresh(ObjectSink(store, plan, algorithms: algorithms))
    }

    private func resumed(_ claim: Claim, _ left: (note: UploadNote, parts: [S3Part])) -> SinkStart {
        let source = claim.facts.sources.first ?? ""
        let fingerprint = left.note.facts.representation.fingerprint(of: source, selection: .whole)
        var plan = plan(claim, content: fingerprint.map { Hexadecimal.text($0.bytes) })
        plan.facts = left.note.facts
        let sink = ObjectSink(store, plan, continuing: left, algorithms: algorithms)
        let done = sink.length > 0 ? ByteRangeSet([ByteRange(0, sink.length)]) : ByteRangeSet()
        return .found(sink, LoadedJournal(facts: left.note.facts, done: done))
    }

    private func plan(_ claim: Claim, content: String?) -> ObjectUpload.Plan {
        var plan = ObjectUpload.Plan(
            target: target, isFirst: policy != .overwrite, facts: claim.facts,
            isContinuable: UploadNote.fits(beside: target))
        plan.type = claim.facts.representation.mediaType
        plan.content = content
        plan.total = claim.length
        return plan
    }

    static func taken(_ target: WebAddress) -> Failure {
        Failure(
            .fileExists, "cannot store", at: target.redacted, because: "another object has this key",
            remedy: "choose another key, or replace it with \(.option(.existingFile)) overwrite")
    }
}

/// A part that is in the store, and in memory.
private final class ObjectSink: ByteSink {
    private let store: ObjectStore
    private var plan: ObjectUpload.Plan
    private var upload: ObjectUpload
    /// The digests that the download will request, besides those that responses state.
    private let algorithms: [HashAlgorithm]
    /// `nil` where not all bytes pass.
    private var hash: RunningHash?
    private var tail: ContentTail

    init(
        _ store: ObjectStore, _ plan: ObjectUpload.Plan, continuing left: (note: UploadNote, parts: [S3Part])? = nil,
        algorithms: [HashAlgorithm]
    ) {
        self.store = store
        self.plan = plan
        self.algorithms = algorithms
        upload = ObjectUpload(store, plan, continuing: left)
        tail = ContentTail(length: upload.offset)
        hash = left == nil ? Self.hash(algorithms, plan.facts) : nil
    }

    private static func hash(_ algorithms: [HashAlgorithm], _ facts: JournalFacts) -> RunningHash? {
        let all = facts.algorithms(besides: algorithms)
        return all.isEmpty ? nil : RunningHash(all)
    }

    /// With what the store has already.
    var length: Int64 { tail.length }
    var hasRoom: Bool { upload.hasRoom }

    func write(_ bytes: UnsafeRawBufferPointer) throws(Failure) {
        try unsafe upload.write(bytes)
        unsafe hash?.feed(bytes)
        unsafe tail.append(bytes)
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Failure) {
        guard unsafe tail.read(into: buffer, at: offset) else {
            // Another run begins anew.
            upload.discard()
            throw Failure(
                .cannotResume, "cannot continue", at: plan.target.text,
                because: "the source does not prove that it is unchanged, and stored parts cannot be read",
                remedy: "\(.resume) from the beginning")
        }
    }

    func startOver(_ facts: JournalFacts) throws(Failure) {
        // Without bytes too: the object and the note are to describe the new content.
        guard tail.length > 0 || facts != plan.facts else { return }
        upload.discard()
        plan.facts = facts
        plan.content = facts.representation.fingerprint(of: facts.sources.first ?? "", selection: .whole).map {
            Hexadecimal.text($0.bytes)
        }
        plan.total = nil
        upload = ObjectUpload(store, plan)
        tail = ContentTail()
        hash = Self.hash(algorithms, facts)
    }

    func finish(length: Int64, completion: @escaping @Sendable (Result<String, Failure>) -> Void) {
        let target = plan.target
        upload.finish { result in
            switch result {
            case .success(.stored), .success(.already): completion(.success(target.text))
            case .success(.differs): completion(.failure(ObjectTarget.taken(target)))
            case .success(.lost):
                completion(
                    .failure(
                        Failure(
                            .inputOutput, "cannot store", at: target.redacted,
                            because: "its upload was aborted by another program",
                            remedy: "\(.resume) from the beginning")))
            case .failure(let failure): completion(.failure(failure))
            }
        }
    }

    func digests(
        _ algorithms: [HashAlgorithm], length: Int64,
        completion: @escaping @Sendable (Result<[Checksum], Failure>) -> Void
    ) {
        let all = hash?.finish() ?? []
        hash = nil
        completion(.success(all.filter { algorithms.contains($0.algorithm) }))
    }

    func close(keeping facts: JournalFacts?) { if facts == nil { upload.discard() } else { upload.stop() } }
}
