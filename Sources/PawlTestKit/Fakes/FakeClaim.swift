import PawlCore
import PawlEngine
import Synchronization

/// One try to get one name on a fake disk.
struct FakeClaim {
    let disk: FakeDisk
    let claim: Claim
    let name: String

    var path: String { claim.folder + "/" + name }
    private var source: String { claim.facts.sources.first ?? "" }

    private enum Part {
        case none
        case held(bySame: Bool)
        case leftover(FakePartFile)
        case journalled(FakePartFile, LoadedJournal)
    }

    /// `nil`: the name is taken, and the claim may go on to the next one.
    func answer(adopts: (LoadedJournal) -> Bool) throws(Failure) -> ClaimAnswer? {
        let finished = disk.finished(path)
        let part = part()
        if case .held(let bySame) = part {
            guard bySame || claim.ifExists != .rename else { return nil }
            throw Failure(.alreadyDownloading, "cannot claim", at: path, because: "it is being downloaded")
        }
        if finished != nil {
            switch claim.ifExists {
            case .skip: return .skipped(path: path)
            case .fail: throw Failure(.fileExists, "cannot claim", at: path, because: "it is there")
            case .rename:
                guard case .journalled = part else { return nil }
            case .overwrite: break
            case .resume:
                if case .none = part { return convert() }
            }
        }
        switch part {
        case .held: return nil
        case .none: return .fresh(make(FakePartFile(source: source)))
        case .leftover(let file): return .fresh(make(file, emptied: true))
        case .journalled(let file, let journal):
            guard journal.facts.sources.first == source || adopts(journal) else { return nil }
            return .found(make(file), journal)
        }
    }

    private func part() -> Part {
        guard let file = disk.state.withLock({ $0.parts[path] }) else { return .none }
        return file.contents.withLock { contents in
            if contents.holder != nil { return .held(bySame: contents.source == source) }
            guard let journal = contents.journal else { return .leftover(file) }
            return .journalled(file, LoadedJournal(facts: journal.facts, done: journal.written))
        }
    }

    private func make(_ file: FakePartFile, emptied: Bool = false) -> FakePartial {
        let holder = disk.hold()
        file.contents.withLock { contents in
            if emptied { contents = FakePartFile.Contents(source: source) }
            contents.holder = holder
            // Like the real one: what the last run's slots said becomes part of the set.
            if let written = contents.journal?.written {
                contents.journal?.done = written
                contents.journal?.slots = [:]
            }
        }
        disk.state.withLock { $0.parts[path] = file }
        return FakePartial(disk: disk, file: file, claim: claim, name: name, holder: holder)
    }

    private func convert() -> ClaimAnswer? {
        guard let finished = disk.state.withLock({ $0.finished.removeValue(forKey: path) }) else {
            return nil
        }
        let file = FakePartFile(source: source)
        let length = finished.bytes.count
        file.contents.withLock { contents in
            contents.bytes = finished.bytes
            contents.length = length
            contents.original = length
            contents.written = ByteRangeSet([ByteRange(0, Int64(length))])
        }
        return .existing(make(file), length: Int64(length))
    }
}
