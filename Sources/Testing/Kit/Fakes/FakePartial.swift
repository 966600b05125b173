import PawlBase
import PawlJournal
import Synchronization

/// A part file and its journal in memory, which checks the laws while it is used.
final class FakePartial: JournalledFile {
    let disk: FakeDisk
    let file: FakeFile
    let claim: Claim
    let holder: Int
    let name: String

    init(disk: FakeDisk, file: FakeFile, claim: Claim, name: String, holder: Int) {
        self.disk = disk
        self.file = file
        self.claim = claim
        self.name = name
        self.holder = holder
    }

    var path: String { claim.folder + "/" + name }
    var form: FileName.PartForm { .usual }
    /// Every byte passes through `write`, which checks it.
    var descriptor: Int32? { nil }
    var slotCount: Int { JournalLayout.slotCount }
    var holes: [ByteRange] {
        let holes = on { $0.holes } ?? []
        return disk.state.withLock { state in
            state.counts.holes += holes.count
            return state.sabotage == .hidesHoles ? [] : holes
        }
    }

    /// Returns `nil` after a crash took the file away, since after a kill there is no caller.
    func on<Result>(_ body: (inout sending FakeFile.Contents) -> sending Result) -> Result? {
        let holder = holder
        return file.contents.withLock { contents in contents.holder == holder ? body(&contents) : nil }
    }

    private var troubles: FakeDisk.Troubles { disk.troubles }

    func check(_ failure: Failure?) throws(Failure) {
        if let failure { throw failure }
        try disk.call(at: path)
    }

    private func full() -> Failure {
        disk.state.withLock { $0.counts.fullDisks += 1 }
        var failure = Failure(
            .diskFull, "cannot write", at: path, because: "no space is left", remedy: "free some space")
        failure.awaited = .space()
        return failure
    }

    /// The failure for the loops of a process that is already dead, so that their threads end.
    var gone: Failure { Failure(.inputOutput, "cannot use", at: path, because: "a crash came first") }

    // MARK: bytes

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(Failure) {
        if let failure = troubles.write { throw failure }
        try disk.call(at: path) { unsafe leave(bytes, at: offset) }
        let end = offset + Int64(bytes.count)
        let unseen = on { contents in contents.written.gaps(in: ByteRange(offset, end)).reduce(0) { $0 + $1.count } }
        guard let new = unseen else { return }
        if let room = troubles.room, disk.used + new > room { throw full() }
        unsafe compare(bytes, at: offset)
        let now = disk.timeline.now
        var isAgain = false
        let again = file.contents.withLock { contents in
            isAgain = contents.found.intersects(ByteRange(offset, end))
            contents.unsaid = ByteRangeSet()
            contents.unpassed += Int64(bytes.count)
            return unsafe contents.put(bytes, at: offset, now: now)
        }
        if again > 0 { disk.violate(.once, "\(path): wrote \(again) bytes of \(offset)..<\(end) that were there") }
        if isAgain { disk.violate(.onceOnly, "\(path): wrote \(offset)..<\(end), which an earlier run had kept") }
        disk.state.withLock { $0.counts.rewritten += again }
        spoil(at: offset)
    }

    func wrote(_ range: ByteRange) { disk.violate(.written, "\(path): \(range) bypassed the disk") }

    /// It has its name from the beginning.
    func ensurePartName() {}

    /// A process that dies in a write has written some of it, all of it or nothing.
    private func leave(_ bytes: UnsafeRawBufferPointer, at offset: Int64) {
        let count = disk.state.withLock { $0.dice.chance(0.5) ? bytes.count : $0.dice.below(bytes.count + 1) }
        let now = disk.timeline.now
        guard count > 0, troubles.room == nil else { return }
        let part = unsafe UnsafeRawBufferPointer(rebasing: bytes[..<count])
        _ = on { contents in
            let range = ByteRange(offset, offset + Int64(count))
            contents.unsaid = ByteRangeSet(contents.written.gaps(in: range))
            contents.isHalf = count < bytes.count
            unsafe contents.put(part, at: offset, now: now)
        }
    }

    /// Compares a write with the expected content.
    private func compare(_ bytes: UnsafeRawBufferPointer, at offset: Int64) {
        let (expected, versions, sabotage) = disk.state.withLock { ($0.expected[path], $0.versions, $0.sabotage) }
        let offset = sabotage == .shiftsWrites ? offset + 1 : offset
        let known = versions?(claim.facts.sources.first ?? "") ?? []
        let isOfNone = known.allSatisfy { version in
            unsafe version.payload.agreement(with: bytes, at: version.start + offset) < bytes.count
        }
        if isOfNone, !known.isEmpty {
            disk.violate(.written, "\(path): \(bytes.count) bytes at \(offset) of no version")
        }
        guard let payload = expected else { return }
        let end = offset + Int64(bytes.count)
        let agreed = unsafe payload.agreement(with: bytes, at: offset)
        if agreed < bytes.count { disk.violate(.written, "\(path): wrong byte at \(offset + Int64(agreed))") }
        if end > payload.length { disk.violate(.written, "\(path): to \(end), beyond \(payload.length)") }
    }

    private func spoil(at offset: Int64) {
        switch disk.state.withLock({ $0.sabotage }) {
        case .flipsBits: _ = on { $0.bytes[Int(offset)] ^= 1 }
        case .rewritesHashed: _ = on { contents in if !contents.hashed.isEmpty { contents.bytes[0] ^= 1 } }
        default: return
        }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Failure) {
        try check(troubles.read)
        let bytes = on { contents -> [UInt8]? in
            let end = Int(offset) + buffer.count
            return end <= contents.length ? Array(contents.bytes[Int(offset)..<end]) : nil
        }
        guard let bytes else { return }
        guard let bytes else {
            throw Failure(.inputOutput, "cannot read", at: path, because: "the file ends before \(offset)")
        }
        unsafe buffer.copyBytes(from: bytes)
        guard disk.state.withLock({ $0.sabotage }) == .misreadsBytes, !bytes.isEmpty else { return }
        unsafe buffer[0] ^= 1
    }

    func reserve(_ total: Int64) throws(Failure) {
        try disk.call(at: path)
        let troubles = troubles
        guard let written = on({ $0.written.count }), let room = troubles.room else { return }
        if troubles.reservesRoom, disk.used - written + total > room { throw full() }
    }

    // MARK: slow operations

    func checkpoint(_ done: ByteRangeSet, completion: @escaping @Sendable (Result<Void, Failure>) -> Void) {
        checkClaim("checkpoint", done)
        FakeCheckpoint(self, done).run(completion)
    }

    var durable: ByteRangeSet { on { $0.keeper?.durable ?? ByteRangeSet() } ?? ByteRangeSet() }

    func hashAhead(_ algorithms: [HashAlgorithm], done: ByteRangeSet) {
        let available = done.prefix
        guard let prefix = on({ $0.written.prefix }) else { return }
        if available > prefix { disk.violate(.written, "\(path): hashing \(available) of \(prefix) bytes") }
        _ = on { contents in
            let end = min(Int(available), contents.length)
            if end > contents.hashed.count { contents.hashed += contents.bytes[contents.hashed.count..<end] }
        }
    }

    /// Computes the digest; bytes that were hashed ahead are not read again, as on a real disk.
    func digests(
        _ algorithms: [HashAlgorithm], length: Int64,
        completion: @escaping @Sendable (Result<[Checksum], Failure>) -> Void
    ) {
        let (disk, file, holder, gone) = (disk, file, holder, gone)
        let sabotage = disk.state.withLock { $0.sabotage }
        disk.later {
            let bytes = file.contents.withLock { contents -> [UInt8]? in
                guard contents.holder == holder else { return nil }
                let ahead = contents.hashed.prefix(Int(length))
                return Array(ahead) + contents.bytes.prefix(Int(length)).dropFirst(ahead.count)
            }
            let found = bytes.map { FakeDigest.checksums(algorithms, of: $0, sabotage: sabotage) }
            completion(found.map { .success($0) } ?? .failure(gone))
        }
    }

    func hash(
        _ range: ByteRange, _ algorithm: HashAlgorithm, padding: Int64,
        completion: @escaping @Sendable (Result<[UInt8], Failure>) -> Void
    ) {
        let zeros = [UInt8](repeating: 0, count: Int(padding))
        precondition(algorithm == .md5, "a fake disk knows only MD5")
        let sabotage = disk.state.withLock { $0.sabotage }
        let (disk, file, holder, gone) = (disk, file, holder, gone)
        disk.later {
            let bytes = file.contents.withLock { contents -> [UInt8]? in
                guard contents.holder == holder else { return nil }
                return contents.hashed(range, hiding: sabotage)
            }
            completion(bytes.map { .success(MessageDigest5.digest($0 + zeros)) } ?? .failure(gone))
        }
    }

    func decodedDigests(
        _ algorithms: [HashAlgorithm], coding: String, length: Int64,
        completion: @escaping @Sendable (Result<[Checksum]?, Failure>) -> Void
    ) { completion(.success(nil)) }

    var stamp: FileStamp? { file.stamp }
    var publishesAtOnce: Bool { false }
    // No law is about fingerprints and attributes.
    func remember(_ content: ContentFingerprint?) {}
    func setAttributes(_ attributes: [(name: String, value: String)]) throws(Failure) {}

    func publish(length: Int64, modified: UnixTime?, completion: @escaping @Sendable (Result<String, Failure>) -> Void)
    {
        FakePublication(self, length: Int(length), modified: modified).run { [gone] result in
            completion(result ?? .failure(gone))
        }
    }

    // MARK: closing

    func close(keeping facts: JournalFacts, done: ByteRangeSet) throws(Failure) {
        checkClaim("close", done)
        // Bytes beyond the requested part are discarded.
        let wanted = facts.representation.selection?.longest ?? ByteRange.open
        if let all = on({ $0.isVoid ? ByteRangeSet() : $0.trusted.clipped(to: wanted) }), !all.isSubset(of: done) {
            disk.violate(.ladder, "\(path): closed with \(done.runs), written was \(all.runs)")
        }
        guard !done.isEmpty || hasJournal else { return discard() }
        defer { release() }
        if hasJournal { try record(facts, done: done, isEnd: true) } else { try beginJournal(facts, done: done) }
        try FakeCheckpoint(self, done).runNow()
    }

    func discard() {
        guard on({ _ in true }) != nil else { return }
        release()
        disk.state.withLock { $0.folder.remove(path) }
    }

    func restoreOriginal() throws(Failure) {
        let (path, original) = (path, on { $0.original })
        guard let original else { return }
        guard original != nil else { return discard() }
        _ = on { $0.goBack() }
        release()
        disk.state.withLock { $0.folder.publish(path, as: path) }
    }

    func restoreExtended(length: Int64) throws(Failure) {
        guard (on { $0.original != nil }) == true else { return try restoreOriginal() }
        _ = on { $0.original = Int(length) }
        try restoreOriginal()
    }

    func release() {
        disk.letGo(holder)
        _ = on { contents in
            contents.holder = nil
            contents.keeper = nil
            contents.lanes = [:]
        }
    }
}
