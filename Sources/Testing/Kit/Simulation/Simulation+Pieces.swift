import PawlBase
import PawlCore
import PawlEngine
import PawlJournal
import Synchronization

// Damage to part files, wrong seeds, and the law of pieces.
extension Simulation {
    /// Begins the part files of seeded downloads, before the first process.
    func seedParts() {
        for download in scenario.downloads {
            guard let seeding = download.seeding, let name = download.job.fileName,
                let payload = scenario.servers[download.job.plan.sources[0].host]?.files[download.path]?.payload
            else { continue }
            let facts = JournalFacts(
                sources: [download.source], representation: Representation(total: payload.length), name: name)
            if world.disk.seed(facts, payload, seeding) { note("part files begun with seeds") }
        }
    }

    /// Changes a byte of a part file while no process runs.
    func damage(_ index: Int, _ place: UInt64) {
        let name = course(index) { $0.name }
        guard !name.isEmpty, world.disk.damage(Scenario.folder + "/" + name, at: place) else { return }
        note("bytes of part files damaged")
    }

    /// Checks the reason of a failure: where digests of pieces tell what is right, content never counts as another version,
    /// unless its length is another.
    func checkReason(_ failure: Failure, _ index: Int) {
        let download = scenario.downloads[index]
        let files = download.job.plan.sources.compactMap { scenario.servers[$0.host]?.files[download.path] }
        guard download.job.plan.pieces != nil, failure.code == .cannotResume, download.seeding == nil,
            files.allSatisfy({ $0.ranges != .otherTotal && $0.coded == nil }), !download.hasUnfitPieces
        else { return }
        violate(.pieces, "\(index): \(failure)")
    }

    func notePieceFailure(_ failure: Failure, _ index: Int) {
        guard failure.code == .checksumMismatch else { return }
        if scenario.downloads[index].hasUnfitPieces { note("failed: pieces of another length") }
        if scenario.downloads[index].job.ifExists == .skip { note("failed: pieces of a kept file") }
    }

    /// Checks the pieces of a finished file that was kept.
    func checkKept(_ index: Int, _ path: String) {
        guard scenario.downloads[index].job.ifExists == .skip, let file = world.disk.finished(path) else { return }
        note("files kept with right pieces")
        checkPieces(file.bytes, index)
    }

    /// Checks that each piece of the published file has its digest.
    func checkPieces(_ bytes: [UInt8], _ index: Int) {
        guard let pieces = scenario.downloads[index].job.plan.pieces else { return }
        guard pieces.fits(Int64(bytes.count)) else {
            return violate(.pieces, "\(index): \(bytes.count) bytes, \(pieces.count) pieces")
        }
        for piece in 0..<pieces.count {
            let range = pieces.range(piece, in: Int64(bytes.count))
            let digest = MessageDigest5.digest(Array(bytes[Int(range.start)..<Int(range.end)]))
            guard !digest.elementsEqual(pieces.digest(piece)) else { continue }
            return violate(.pieces, "\(index): the piece at \(range.start) is wrong")
        }
    }
}

extension FakeDisk {
    /// Begins a part file with bytes of `payload`, of which some are wrong; `false` if the name is taken.
    func seed(_ facts: JournalFacts, _ payload: Payload, _ seeding: Scenario.Seeding) -> Bool {
        let claim = Claim(folder: Scenario.folder, name: facts.name, ifExists: .rename, facts: facts)
        guard case .fresh(let made)? = try? self.claim(claim, adopts: { _ in true }), let partial = made as? FakePartial
        else { return false }
        let now = timeline.now
        for run in seeding.done.runs {
            let bytes = payload.bytes(in: run)
            _ = partial.on { contents in
                contents.isSeeded = true
                unsafe bytes.withUnsafeBytes { _ = unsafe contents.put($0, at: run.start, now: now) }
            }
        }
        _ = partial.on { contents in
            for place in seeding.wrong {
                contents.wrongSeeds[Int(place)] = contents.bytes[Int(place)]
                contents.bytes[Int(place)] ^= 0xAA
            }
        }
        return (try? partial.close(keeping: facts, done: seeding.done)) != nil
    }

    /// Changes a written byte of a part file; `false` when there is none.
    package func damage(_ path: String, at place: UInt64) -> Bool {
        guard let file = part(path) else { return false }
        let isDone = file.contents.withLock { contents in
            guard contents.original == nil, contents.written.count > 0 else { return false }
            var rest = Int64(place % UInt64(contents.written.count))
            for run in contents.written.runs {
                guard rest >= run.count else {
                    let offset = Int(run.start + rest)
                    contents.damaged[offset] = contents.damaged[offset] ?? contents.bytes[offset]
                    contents.bytes[offset] ^= 0x99
                    return true
                }
                rest -= run.count
            }
            return false
        }
        if isDone { timeline.note("disk: a byte of \(path) is damaged") }
        return isDone
    }
}

extension FakeFile.Contents {
    /// The bytes as a sabotage presents them.
    func hashed(_ range: ByteRange, hiding sabotage: Sabotage?) -> [UInt8] {
        var bytes = Array(self.bytes.prefix(Int(range.end)).dropFirst(Int(range.start)))
        let hidden: [Int: UInt8] =
            switch sabotage {
            case .trustsDamage: damaged
            case .trustsSeeds: wrongSeeds
            default: [:]
            }
        for (place, byte) in hidden where range.contains(Int64(place)) { bytes[place - Int(range.start)] = byte }
        return bytes
    }
}
