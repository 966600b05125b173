import PawlBase
import PawlJournal
import Synchronization

/// One attempt to claim one name on a fake disk.
struct FakeClaim {
    let disk: FakeDisk
    let claim: Claim
    let name: String

    var path: String { claim.folder + "/" + name }
    private var source: String { claim.facts.sources.first ?? "" }

    private enum Part {
        case none
        case held(bySame: Bool)
        case leftover(FakeFile)
        case journalled(FakeFile, JournalImage, ByteRangeSet)
    }

    /// Returns `nil` when the name is taken, and the claim may try the next one.
    func result(adopts: (LoadedJournal) -> Bool) throws(Failure) -> ClaimResult? {
        let isFinished = disk.state.withLock { $0.folder.finished[path] } != nil
        let part = part()
        if case .none = part {} else if claim.belongsToAnother(name, .part) { return nil }
        if case .held(let bySame) = part {
            guard bySame || claim.ifExists != .rename else { return nil }
            throw Failure(.alreadyDownloading, "cannot claim", at: path, because: "it is already being downloaded")
        }
        if isFinished {
            switch claim.ifExists {
            case .skip: return .skipped(path: path)
            case .fail: throw Failure(.fileExists, "cannot claim", at: path, because: "it exists")
            case .rename: guard case .journalled = part else { return nil }
            case .overwrite: break
            case .resume: if case .none = part { return convert() }
            }
        }
        switch part {
        case .held: return nil
        case .none:
            let number = disk.state.withLock { $0.nextFile() }
            return .fresh(take(FakeFile(source: source, number: number)))
        case .leftover(let file): return .fresh(empty(file))
        case .journalled(let file, let image, let done): return continueClaim(file, image, done, adopts: adopts)
        }
    }

    private func part() -> Part {
        guard let file = disk.part(path) else { return .none }
        let boot = disk.state.withLock { $0.boot }
        let (holder, holderSource, journal) = file.contents.withLock { contents in
            (contents.holder, contents.source, contents.journal)
        }
        if holder != nil {
            let isShared = disk.state.withLock { $0.sabotage == .sharesParts }
            return isShared ? .leftover(file) : .held(bySame: holderSource == source)
        }
        guard let journal else { return .leftover(file) }
        do throws(JournalImage.Fault) {
            let image = try JournalImage(journal.cache)
            let trustsTails = disk.state.withLock { $0.sabotage == .trustsTails }
            let done = file.contents.withLock { contents in
                var done = contents.trusted(image, boot: boot)
                let end = Int64(contents.length)
                if trustsTails, done.upperBound < end { done.insert(ByteRange(done.upperBound, end)) }
                return done
            }
            return .journalled(file, image, done)
        } catch {
            if case .damaged = error { disk.state.withLock { $0.counts.damagedJournals += 1 } }
            return .leftover(file)
        }
    }

    private func continueClaim(
        _ file: FakeFile, _ image: JournalImage, _ done: ByteRangeSet, adopts: (LoadedJournal) -> Bool
    ) -> ClaimResult? {
        let original = image.original(trusting: done)
        if let original, claim.ifExists != .resume { return putBack(file, original) }
        let isHidden = disk.state.withLock { $0.sabotage == .hidesJournals }
        let facts = disguised(image.facts)
        let journal = LoadedJournal(
            facts: facts, done: isHidden ? ByteRangeSet() : done, original: isHidden ? nil : image.began(trusting: done)
        )
        guard original != nil || journal.facts.sources.first == source || adopts(journal) else { return nil }
        let (boot, now) = (disk.state.withLock { $0.boot }, disk.timeline.now)
        if original == nil { checkTail(file, done) }
        file.contents.withLock { contents in
            if original == nil { contents.cut(to: min(contents.length, Int(done.upperBound))) }
            let (keeper, writes) = JournalKeeper.resumed(
                image, done: done, length: Int64(contents.length), inodes: JournalInodes(part: 1, journal: 2),
                boot: boot)
            contents.journal?.perform(writes)
            contents.keeper = keeper
            let kept = min(original ?? 0, Int64(contents.length))
            contents.written = original == nil ? done : ByteRangeSet([ByteRange(0, kept)])
            contents.synced = contents.synced.intersection(contents.written)
            contents.found = done
            contents.diedAt = nil
            // What the last process had not made durable stays at risk until this one has, which begins to sync it now.
            contents.arrivals = contents.arrivals.flatMap { arrival in
                done.intersection(ByteRangeSet([arrival.range])).runs.map { (at: now, range: $0) }
            }
        }
        let partial = take(file)
        disk.timeline.note("disk: reopened \(name) with \(done.runs), was \(original ?? -1) long")
        if let original {
            let length = file.contents.withLock { min(original, Int64($0.length)) }
            return .existing(partial, length: length)
        }
        disk.state.withLock { $0.counts.adopted += done.isEmpty ? 0 : 1 }
        return .found(partial, journal)
    }

    /// Removes from a journal what identifies its download.
    private func disguised(_ facts: JournalFacts) -> JournalFacts {
        var claimed = facts
        switch disk.state.withLock({ $0.sabotage }) {
        case .forgetsSelection:
            claimed.representation.selection = claim.facts.representation.selection
            claimed.representation.base = claim.facts.representation.base
        case .confusesHosts:
            guard let address = try? WebAddress.parse(source).address else { break }
            for record in facts.representation.records {
                claimed.representation.prove(source, at: address.origin.text, record.validators)
            }
        case _: break
        }
        return claimed
    }

    /// Restores the name of a file that was to be resumed and of which nothing more was received.
    private func putBack(_ file: FakeFile, _ original: Int64) -> ClaimResult? {
        disk.state.withLock { $0.folder.publish(path, as: path) }
        file.contents.withLock { $0.goBack() }
        return nil
    }

    private func take(_ file: FakeFile) -> FakePartial {
        let holder = disk.hold(file)
        let isSame = disk.state.withLock { $0.sabotage != .confusesFiles }
        file.contents.withLock { contents in
            contents.holder = holder
            contents.isSame = isSame
            contents.diedAt = nil
        }
        disk.state.withLock { $0.folder.make(file, at: path) }
        return FakePartial(disk: disk, file: file, claim: claim, name: name, holder: holder)
    }

    private func empty(_ file: FakeFile) -> FakePartial {
        file.contents.withLock { contents in
            contents.cut(to: 0)
            contents.incarnation += 1
            contents.found = ByteRangeSet()
            contents.journal = nil
            contents.source = source
        }
        return take(file)
    }

    /// The journal is written first and records that this was a finished file.
    private func convert() -> ClaimResult? {
        guard let file = disk.state.withLock({ $0.folder.convert(path) }) else { return nil }
        let boot = disk.state.withLock { $0.boot }
        let length = file.contents.withLock { contents in
            let (keeper, writes) = JournalKeeper.begun(
                facts: claim.facts, done: ByteRangeSet(), original: Int64(contents.length),
                inodes: JournalInodes(part: 1, journal: 2), boot: boot, nonce: UInt64(file.number))
            contents.journal = VolatileBytes()
            contents.journal?.perform(writes)
            contents.keeper = keeper
            contents.source = source
            contents.original = contents.length
            contents.written = ByteRangeSet([ByteRange(0, Int64(contents.length))])
            return Int64(contents.length)
        }
        return .existing(take(file), length: length)
    }
}
