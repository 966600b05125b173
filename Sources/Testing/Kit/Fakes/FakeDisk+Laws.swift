import PawlBase
import PawlJournal
import Synchronization

// The laws that are checked at each instant, and at a crash.
extension FakeDisk {
    /// Bytes older than this survive a power cut (two seconds, one tick, two syncs).
    var bound: Interval { Interval(nanoseconds: 2_100_000_000 + 2 * delay.nanoseconds) }

    /// Checks `durable ⊆ synced ⊆ written ⊆ received` for every file in use.
    func checkLadder(received: (_ source: String) -> ByteRangeSet?) {
        for file in state.withLock({ Array($0.open.values) }) {
            let (durable, synced, written, source, isOwn) = file.contents.withLock { contents in
                (
                    // The file's length overrides the journal: the requested part was shorter than the existing bytes.
                    contents.keeper?.durable.clipped(to: Int64(contents.length)) ?? ByteRangeSet(), contents.synced,
                    contents.written, contents.source, contents.original == nil && !contents.isSeeded
                )
            }
            if let text = Law.ladder(
                durable: durable, synced: synced, written: written, received: isOwn ? received(source) : nil)
            {
                violate(.ladder, "\(source): \(text)")
            }
        }
    }

    /// A journal that does not know every byte of its file when the process dies breaks a law.
    ///
    /// Also records what a power cut must leave.
    func checkCrash(_ kind: Crash, at path: String) {
        guard let file = part(path) else { return }
        let boot = state.withLock { $0.boot }
        let (now, bound, isSound) = (timeline.now, bound, state.withLock { $0.counts.failedCalls == 0 })
        let verdict = file.contents.withLock { contents -> (text: String?, revealed: Int64, lost: Int64)? in
            contents.mustStay = ByteRangeSet()
            // After a failed sync the page cache is rightly not trusted.
            guard !contents.isVoid, contents.original == nil, let image = contents.image, image.header.boot != nil,
                case let known = contents.trusted(image, boot: boot)
            else { return nil }
            // Bytes beyond the requested part are discarded.
            let wanted = image.header.facts.representation.selection?.longest ?? ByteRange.open
            if kind == .powerCut, isSound {
                contents.mustStay = contents.trusted.clipped(to: wanted)
                let end = contents.diedAt ?? now
                for (at, range) in contents.arrivals where end - max(at, contents.journalBegan) <= bound {
                    contents.mustStay.remove(range)
                }
            }
            guard contents.holder != nil else { return nil }
            var mayBeLost = contents.mayBeLost
            mayBeLost.insert(contents.doubted)
            let beyond = ByteRange(min(wanted, contents.written.upperBound), contents.written.upperBound)
            if !beyond.isEmpty { mayBeLost.insert(beyond) }
            let text = Law.kept(known: known, written: contents.written, mayBeLost: mayBeLost)
            let revealed = known.intersection(contents.unsaid).count
            return (text, revealed, contents.unsaid.count - revealed)
        }
        guard let (text, revealed, lost) = verdict else { return }
        if let text { violate(.kill, "\(path): \(text)") }
        guard kind == .kill, revealed + lost > 0 else { return }
        state.withLock { state in
            state.counts.killsInWrites += 1
            state.counts.revealedByLength += revealed
            state.counts.lostToKills += lost
        }
    }

    func checkPowerCut(_ files: [FakeFile]) {
        let (boot, folder) = state.withLock { ($0.boot, $0.folder) }
        for file in files {
            let isFinished = folder.finished.values.contains { $0 === file }
            let isThere = folder.parts.values.contains { $0 === file }
            let text = file.contents.withLock { contents -> String? in
                defer { contents.mustStay = ByteRangeSet() }
                let trusted = isThere ? contents.trusted(boot: boot) : nil
                let kept = isFinished ? contents.written : trusted ?? ByteRangeSet()
                return Law.bounded(mustStay: contents.mustStay, kept: kept)
            }
            if let text { violate(.powerCut, text) }
        }
    }
}

extension FakeDisk {
    /// The number of bytes of `range` that an earlier run kept under this name.
    func keptBefore(_ path: String, in range: ByteRange) -> Int64 {
        part(path)?.contents.withLock { contents in
            contents.found.runs.reduce(0) { $0 + ($1.intersection(range)?.count ?? 0) }
        } ?? 0
    }

    func isUnfinished(_ path: String) -> Bool { part(path) != nil }
}
