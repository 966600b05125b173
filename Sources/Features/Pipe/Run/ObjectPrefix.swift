import Pawl
import PawlBase
import PawlS3
import Synchronization

/// The objects of a bucket whose keys have a common prefix; none is ever replaced.
struct ObjectPrefix: Sendable {
    let store: ObjectStore
    let spool: SpoolFolder
    private let bucket: String
    /// The prefix: empty, or ends with a slash.
    private let prefix: String

    /// Throws if there is no such bucket.
    init(_ address: WebAddress, _ options: DownloadOptions, spool: SpoolFolder) throws(Failure) {
        // The user names the store, so it may be private.
        store = try ObjectStore(options)
        self.spool = spool
        bucket = address.bucket
        let key = address.key
        prefix = key.isEmpty || key.utf8.last == UInt8(ascii: "/") ? key : key + "/"
        try store.requireBucket(of: address)
    }

    func address(of name: String) throws(Failure) -> WebAddress {
        try WebAddress.s3(bucket: bucket, key: prefix + name)
    }

    /// Stores a content unless the name is taken.
    ///
    /// `mark`: stored with the object, to recognize it later.
    func store(
        _ content: SampleContent, as name: String, type: String?, mark: String
    ) throws(Failure) -> UploadMachine.Outcome {
        let target = try address(of: name)
        var plan = ObjectUpload.Plan(target: target, isFirst: true, isContinuable: false)
        plan.type = type
        plan.content = mark
        plan.total = content.length
        let upload = ObjectUpload(store, plan)
        do throws(Failure) {
            try content.forEachPiece { (piece) throws(Failure) in try upload.append(Array(piece)) }
        } catch {
            upload.discard()
            throw error
        }
        let outcome = try upload.finish()
        if content.length > PartSizes.single { store.abortUploads(at: target) }
        return outcome
    }

    static func lost(_ address: WebAddress) -> Failure {
        Failure(
            .inputOutput, "cannot store", at: address.redacted, because: "its upload was aborted by another program",
            remedy: "run it again")
    }
}

/// An existing object.
struct ObjectFile: ShardFile {
    let prefix: ObjectPrefix
    let address: WebAddress
    let facts: ObjectStore.Facts

    /// The maximum number of bytes that one request reads.
    private static let piece: Int64 = 4 << 20

    var length: Int64 { facts.size }

    func content(from start: Int64, length: Int64) throws(Failure) -> SampleContent {
        let end = min(start + length, facts.size)
        func read(_ offset: Int64) throws(Failure) -> [UInt8] {
            let count = Int(min(Self.piece, end - offset))
            return try prefix.store.get(address, from: offset, length: count, of: facts.entityTag)
        }
        if end - start <= Self.piece { return SampleContent(bytes: start < end ? try read(start) : []) }
        let log = try SampleLog(in: prefix.spool)
        for offset in stride(from: start, to: end, by: Int(Self.piece)) { try log.append(try read(offset)) }
        return try log.content()
    }
}

extension ObjectPrefix: ShardPlace {
    func path(of name: String) -> String { "s3://\(bucket)/\(prefix)\(name)" }

    func published(_ name: String) throws(Failure) -> (any ShardFile)? { try object(name) }

    package func object(_ name: String) throws(Failure) -> ObjectFile? {
        let address = try address(of: name)
        return try store.head(address).map { ObjectFile(prefix: self, address: address, facts: $0) }
    }

    func makeDraft(_ name: String) throws(Failure) -> any ShardDraft { try ObjectDraft(name, in: self) }

    func publish(_ content: SampleContent, as name: String) throws(Failure) -> Bool {
        let mark = Hexadecimal.text(try content.sha256())
        switch try store(content, as: name, type: nil, mark: mark) {
        case .stored, .already: return true
        case .differs: return false
        case .lost: throw Self.lost(try address(of: name))
        }
    }

    func clean(_ name: String) { if let address = try? address(of: name) { store.abortUploads(at: address) } }
}

/// A multipart upload: parts are uploaded while the object is written.
///
/// An unnamed file has a copy of its bytes, for repeated addresses.
private final class ObjectDraft: ShardDraft {
    private let prefix: ObjectPrefix
    private let target: WebAddress
    private let upload: ObjectUpload
    private let copy: SampleLog
    /// Distinguishes this run's object from another run's.
    private let mark: String
    /// Whether another run has published the object.
    private let isBeaten = Atomic(false)

    init(_ name: String, in prefix: ObjectPrefix) throws(Failure) {
        self.prefix = prefix
        target = try prefix.address(of: name)
        copy = try SampleLog(in: prefix.spool, isBuffered: false)
        mark = String(UInt64.random(in: .min ... .max), radix: 16)
        var plan = ObjectUpload.Plan(target: target, isFirst: true, isContinuable: false)
        plan.content = mark
        upload = ObjectUpload(prefix.store, plan)
    }

    var length: Int64 { copy.length }

    func append(_ bytes: [UInt8]) throws(Failure) {
        try copy.append(bytes)
        guard !isBeaten.load(ordering: .relaxed) else { return }
        do throws(Failure) { try upload.append(bytes) } catch {
            // A run that publishes a shard aborts the uploads of others.
            guard try prefix.store.head(target) != nil else { throw error }
            isBeaten.store(true, ordering: .relaxed)
        }
    }

    func content(from start: Int64, length: Int64) -> SampleContent { copy.content(from: start, length: length) }

    func publish() throws(Failure) -> Bool {
        let outcome: UploadMachine.Outcome
        do throws(Failure) { outcome = try upload.finish() } catch {
            guard try prefix.store.head(target) != nil else { throw error }
            outcome = .differs
        }
        prefix.store.abortUploads(at: target)
        switch outcome {
        case .stored: return true
        // The response to this run's own request may have been lost.
        case .already, .differs: return try prefix.store.head(target)?.content == mark
        case .lost: throw ObjectPrefix.lost(target)
        }
    }

    func discard(until deadline: Instant) { upload.discard(until: deadline) }
}
