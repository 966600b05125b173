import PawlCore
import PawlEngine
import Synchronization

/// A part file and its journal in memory, which watches the house laws while it is used.
final class FakePartial: Partial {
    private let disk: FakeDisk
    private let file: FakePartFile
    private let claim: Claim
    private let holder: Int
    let name: String

    init(disk: FakeDisk, file: FakePartFile, claim: Claim, name: String, holder: Int) {
        self.disk = disk
        self.file = file
        self.claim = claim
        self.name = name
        self.holder = holder
    }

    var path: String { claim.folder + "/" + name }
    var slotCount: Int { 64 }

    /// `nil` after a crash took the file away, as after a kill nobody is there to ask.
    private func on<Result>(_ body: (inout sending FakePartFile.Contents) -> sending Result) -> Result? {
        let holder = holder
        return file.contents.withLock { contents in
            contents.holder == holder ? body(&contents) : nil
        }
    }

    private var troubles: FakeDisk.Troubles { disk.troubles }

    private func check(_ failure: Failure?) throws(Failure) {
        if let failure { throw failure }
    }

    private func full() -> Failure {
        Failure(.diskFull, "cannot write", at: path, because: "no room is left", remedy: "make room")
    }

    /// What the loops of a process that is dead already hear, so that their threads come to an end.
    private var gone: Failure { Failure(.inputOutput, "cannot use", at: path, because: "a crash came first") }

    // MARK: bytes

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(Failure) {
        try check(troubles.write)
        let end = offset + Int64(bytes.count)
        let unseen = on { contents in
            contents.written.gaps(in: ByteRange(offset, end)).reduce(0) { $0 + $1.count }
        }
        guard let new = unseen else { return }
        if let room = troubles.room, disk.state.withLock({ $0.used }) + new > room { throw full() }
        if let payload = disk.state.withLock({ $0.expected[path] }) {
            let agreed = unsafe payload.agreement(with: bytes, at: offset)
            if agreed < bytes.count { disk.violate("\(path): wrong byte at \(offset + Int64(agreed))") }
            if end > payload.length { disk.violate("\(path): written to \(end), beyond \(payload.length)") }
        }
        let again = Int64(bytes.count) - new
        disk.state.withLock { state in
            state.used += new
            state.rewritten += again
        }
        file.contents.withLock { unsafe $0.put(bytes, at: offset) }
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
    }

    func reserve(_ total: Int64) throws(Failure) {
        let troubles = troubles
        guard let written = on({ $0.written.count }), let room = troubles.room else { return }
        let others = disk.state.withLock { $0.used } - written
        if troubles.reservesRoom, others + total > room { throw full() }
    }

    // MARK: journal

    var hasJournal: Bool { on { $0.journal != nil } ?? false }

    func beginJournal(_ facts: JournalFacts, done: ByteRangeSet) throws(Failure) {
        try check(troubles.journal)
        _ = on { contents in
            guard contents.journal == nil else { return }
            contents.journal = FakePartFile.Journal(facts: facts, done: done)
        }
        checkLaws("begun", done)
    }

    func record(_ facts: JournalFacts, done: ByteRangeSet) throws(Failure) {
        try check(troubles.journal)
        if let slots = on({ $0.journal?.written ?? ByteRangeSet() }), !slots.isSubset(of: done) {
            disk.violate("\(path): recorded \(done.runs), less than the slots say: \(slots.runs)")
        }
        _ = on { contents in
            contents.journal?.facts = facts
            contents.journal?.done = done
        }
        checkLaws("recorded", done)
    }

    func beginLane(slot: Int, at start: Int64) throws(Failure) {
        try check(troubles.journal)
        if !(0..<slotCount).contains(slot) { disk.violate("\(path): slot \(slot) does not exist") }
        _ = on { contents in
            // Like the real one: what the slot said before goes to the set.
            if let before = contents.journal?.slots[slot] { contents.journal?.done.insert(before) }
            contents.journal?.slots[slot] = ByteRange(start, start)
        }
    }

    func advanceLane(slot: Int, to cursor: Int64) {
        let (isKnown, isTrue) =
            on { contents -> (Bool, Bool) in
                guard contents.journal != nil else { return (true, true) }
                guard let range = contents.journal?.slots[slot], cursor >= range.start else {
                    return (false, true)
                }
                let claimed = ByteRange(range.start, cursor)
                contents.journal?.slots[slot] = claimed
                return (true, contents.written.contains(claimed))
            } ?? (true, true)
        if !isKnown { disk.violate("\(path): slot \(slot) moved to \(cursor) without a beginning") }
        if !isTrue { disk.violate("\(path): slot \(slot) says \(cursor), which was not written") }
    }

    func startOver(_ facts: JournalFacts) throws(Failure) {
        try check(troubles.journal)
        let freed = on { contents -> Int64 in
            let freed = contents.written.count
            if contents.journal != nil {
                contents.journal = FakePartFile.Journal(facts: facts, done: ByteRangeSet())
            }
            contents.cut(to: 0)
            contents.incarnation += 1
            return freed
        }
        disk.state.withLock { $0.used -= freed ?? 0 }
        disk.timeline.note("disk: \(name) starts over")
    }

    private func checkLaws(_ what: String, _ claimed: ByteRangeSet) {
        guard let written = on({ $0.written }) else { return }
        if !claimed.isSubset(of: written) {
            disk.violate("\(path): \(what) says \(claimed.runs), written is \(written.runs)")
        }
    }

    // MARK: the slow part

    func checkpoint(_ done: ByteRangeSet, completion: @escaping @Sendable (Result<Void, Failure>) -> Void) {
        checkLaws("checkpoint", done)
        let begun = on { ($0.dirty, $0.incarnation) }
        guard let (synced, incarnation) = begun else { return completion(.failure(gone)) }
        let (disk, file, holder, gone) = (disk, file, holder, gone)
        disk.later {
            if let failure = disk.troubles.checkpoint { return completion(.failure(failure)) }
            let isThere = file.contents.withLock { contents in
                guard contents.holder == holder else { return false }
                // What was synced of a content that has given way to another says nothing.
                guard contents.incarnation == incarnation else { return true }
                for run in synced.runs { contents.dirty.remove(run) }
                contents.journal?.durable.insert(done)
                return true
            }
            guard isThere else { return completion(.failure(gone)) }
            disk.state.withLock { $0.checkpoints += 1 }
            completion(.success(()))
        }
    }

    var durable: ByteRangeSet { on { $0.journal?.durable ?? ByteRangeSet() } ?? ByteRangeSet() }

    func hashAhead(_ algorithm: HashAlgorithm, available: Int64) {
        guard let prefix = on({ $0.written.prefix }) else { return }
        if available > prefix { disk.violate("\(path): hashing \(available) of \(prefix) bytes") }
    }

    func digest(
        _ algorithm: HashAlgorithm,
        length: Int64,
        completion: @escaping @Sendable (Result<[UInt8], Failure>) -> Void
    ) {
        precondition(algorithm == .md5, "a fake disk knows only MD5")
        let (disk, file, holder, gone) = (disk, file, holder, gone)
        disk.later {
            let bytes = file.contents.withLock { contents in
                contents.holder == holder ? Array(contents.bytes.prefix(Int(length))) : nil
            }
            completion(bytes.map { .success(MessageDigest5.digest($0)) } ?? .failure(gone))
        }
    }

    func publish(
        length: Int64,
        modified: UnixTime?,
        completion: @escaping @Sendable (Result<String, Failure>) -> Void
    ) {
        let publication = FakePublication(
            disk: disk,
            file: file,
            claim: claim,
            name: name,
            holder: holder,
            length: Int(length),
            modified: modified
        )
        disk.later { [gone] in completion(publication.run() ?? .failure(gone)) }
    }

    // MARK: the end

    func close(keeping facts: JournalFacts, done: ByteRangeSet) throws(Failure) {
        defer { release() }
        checkLaws("closed", done)
        if let all = on({ $0.written }), !all.isSubset(of: done) {
            disk.violate("\(path): closed with \(done.runs), written was \(all.runs)")
        }
        try check(troubles.journal)
        _ = on { contents in
            let durable = contents.journal?.durable ?? ByteRangeSet()
            guard contents.journal != nil || !done.isEmpty else { return }
            contents.journal = FakePartFile.Journal(facts: facts, done: done)
            contents.journal?.durable = durable
        }
    }

    func discard() {
        guard on({ _ in true }) != nil else { return }
        release()
        forget()
    }

    func giveBack() throws(Failure) {
        let bytes = on { contents in contents.original.map { Array(contents.bytes.prefix($0)) } }
        guard let bytes, let bytes else { return }
        release()
        forget()
        disk.put(FakeDisk.Finished(bytes), at: path)
    }

    private func release() {
        disk.letGo(holder)
        _ = on { $0.holder = nil }
    }

    private func forget() {
        let freed = file.contents.withLock { $0.written.count }
        let path = path
        disk.state.withLock { state in
            state.parts[path] = nil
            state.used -= freed
        }
    }
}
