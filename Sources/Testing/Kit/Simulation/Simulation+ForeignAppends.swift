import PawlBase
import Synchronization

// Other programs' changes to part files.
extension Simulation {
    func grow(_ index: Int, by count: Int) {
        let name = course(index) { $0.name }
        guard !name.isEmpty else { return }
        if world.disk.grow(Scenario.folder + "/" + name, by: count) { note("part files extended by other programs") }
    }

    /// Lets another program change part files before the next process.
    func appendAsOthers() { for incident in scenario.foreignChanges { perform(incident) } }
}

extension FakeDisk {
    /// Appends to a part file as another program; `false` when there is none.
    ///
    /// Later than its process's last write: file timestamps advance in ticks.
    func grow(_ path: String, by count: Int) -> Bool {
        guard let file = part(path) else { return false }
        let later = timeline.now + .milliseconds(20)
        file.contents.withLock { contents in
            contents.append(count, now: later)
            contents.isGrown = true
        }
        state.withLock { $0.counts.grown += 1 }
        timeline.note("disk: another program appends \(count) bytes to \(path)")
        return true
    }
}

extension FakeClaim {
    /// Checks that only bytes of Pawl's own writes are reused.
    func checkTail(_ file: FakeFile, _ done: ByteRangeSet) {
        let (written, isGrown) = file.contents.withLock { contents in
            defer { contents.isGrown = false }
            return (contents.written, contents.isGrown)
        }
        if !done.isSubset(of: written) {
            disk.violate(.tails, "\(path): reused \(done.runs), written was \(written.runs)")
        }
        if isGrown { disk.state.withLock { $0.counts.cutTails += 1 } }
    }
}
