package import PawlBase
package import PawlJournal
import Synchronization

// Whole files that get their names at once.
extension FakeDisk {
    /// Sets whether there is no wait for this disk, so that whole files get their names at once.
    package func set(isVolatile: Bool) { state.withLock { $0.isVolatile = isVolatile } }

    package func publishesWhole(in folder: String) -> Bool { state.withLock { $0.isVolatile } && !isAway(folder) }

    package func isFree(_ name: String, in folder: String) -> Bool {
        let path = folder + "/" + name
        return state.withLock { $0.folder.finished[path] == nil && $0.folder.parts[path] == nil }
    }

    package func publish(_ whole: WholeFile) -> PublishedFile? {
        let path = whole.folder + "/" + whole.name
        let claim = Claim(
            folder: whole.folder, name: whole.name, ifExists: .rename,
            facts: JournalFacts(sources: [whole.source], representation: Representation(), name: whole.name))
        guard publishesWhole(in: whole.folder), isFree(whole.name, in: whole.folder), troubles.publish == nil else {
            return nil
        }
        let file = state.withLock { FakeFile(source: whole.source, number: $0.nextFile()) }
        let partial = FakePartial(disk: self, file: file, claim: claim, name: whole.name, holder: hold(file))
        file.contents.withLock { $0.holder = partial.holder }
        // A crash takes the file away, as one without a name.
        defer { partial.release() }
        do throws(Failure) {
            if !whole.bytes.isEmpty {
                try unsafe whole.bytes.span.bytes.withUnsafeBytes { (bytes) throws(Failure) in
                    try unsafe partial.write(bytes, at: 0)
                }
            }
            try call(at: path)
        } catch {
            if partial.on({ $0.holder }) != nil { return nil }
        }
        // The process is dead, and nobody hears of it: its loop shall not go on with a machine.
        guard partial.on({ $0.holder }) != nil else { return PublishedFile(path: path, stamp: file.stamp) }
        let now = timeline.now
        let sabotage = state.withLock { $0.sabotage }
        file.contents.withLock { contents in
            if sabotage == .cutsWholeFiles { contents.cut(to: max(0, contents.length - 1)) }
            contents.modified = sabotage == .undatesWholeFiles ? nil : whole.modified
            contents.changed = now.nanoseconds
            contents.synced(contents.written, length: contents.length)
        }
        state.withLock { state in
            state.folder.make(file, at: path)
            state.folder.publish(path, as: path)
            state.folder.sync()
            state.counts.wholeFiles += 1
        }
        timeline.note("disk: published \(path) at once")
        return PublishedFile(path: path, stamp: file.stamp)
    }

    package func digests(_ algorithms: [HashAlgorithm], of bytes: [UInt8]) -> [Checksum] {
        FakeDigest.checksums(algorithms, of: bytes)
    }
}
