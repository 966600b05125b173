import PawlCore
import PawlEngine
import Synchronization

// What others do to part files, and what a checksum has to hold.
extension Simulation {
    func grow(_ index: Int, by count: Int) {
        let name = course(index) { $0.name }
        guard !name.isEmpty else { return }
        if world.disk.grow(Scenario.folder + "/" + name, by: count) { note("part files grown by others") }
    }

    /// Somebody was there before the next process.
    func growTails() {
        for incident in scenario.tails { perform(incident) }
    }

    /// What is in its place has the digest that was given for it.
    func checkDigest(_ bytes: [UInt8], _ index: Int) {
        guard let checksum = scenario.downloads[index].job.plan.checksum else { return }
        let digest = MessageDigest5.digest(bytes)
        guard digest != checksum.digest else { return }
        let wanted = Hexadecimal.text(checksum.digest)
        violate(.digest, "\(index): \(Hexadecimal.text(digest)) instead of \(wanted)")
    }
}

extension FakeDisk {
    /// Somebody else appends to a part file; `false` when there is none.
    ///
    /// Later than what its process did last: a clock that stamps files moves in ticks.
    func grow(_ path: String, by count: Int) -> Bool {
        guard let file = part(path) else { return false }
        let later = timeline.now + .milliseconds(20)
        file.contents.withLock { contents in
            contents.append(count, now: later)
            contents.isGrown = true
        }
        state.withLock { $0.counts.grown += 1 }
        timeline.note("disk: somebody appends \(count) bytes to \(path)")
        return true
    }
}

extension FakeClaim {
    /// Nothing is taken up but what one of our own writes has put there.
    func checkTail(_ file: FakeFile, _ done: ByteRangeSet) {
        let (written, isGrown) = file.contents.withLock { contents in
            defer { contents.isGrown = false }
            return (contents.written, contents.isGrown)
        }
        if !done.isSubset(of: written) {
            disk.violate(.tails, "\(path): took up \(done.runs), written was \(written.runs)")
        }
        if isGrown { disk.state.withLock { $0.counts.cutTails += 1 } }
    }
}
