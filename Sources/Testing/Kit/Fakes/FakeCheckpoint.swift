import PawlBase
import PawlJournal
import Synchronization

/// The steps of a checkpoint: the data is synced, the journal records it, the journal is synced.
struct FakeCheckpoint: Sendable {
    private let disk: FakeDisk
    private let file: FakeFile
    private let holder: Int
    private let path: String
    private let done: ByteRangeSet
    private let gone: Failure

    init(_ partial: FakePartial, _ done: ByteRangeSet) {
        disk = partial.disk
        file = partial.file
        holder = partial.holder
        path = partial.path
        gone = partial.gone
        self.done = done
    }

    /// The cached data when a sync begins.
    private struct Data: Sendable {
        var written: ByteRangeSet
        var length: Int
        var incarnation: Int
        var journal: UInt64
        var forgotten: Int
    }

    private func on<Result>(_ body: (inout sending FakeFile.Contents) -> sending Result) throws(Failure) -> Result {
        let holder = holder
        let result = file.contents.withLock { contents in contents.holder == holder ? body(&contents) : nil }
        guard let result else { throw gone }
        return result
    }

    /// Runs both syncs, with their delays.
    func run(_ completion: @escaping @Sendable (Result<Void, Failure>) -> Void) {
        let (disk, isIdle) = (disk, disk.state.withLock { $0.sabotage == .skipsCheckpoints })
        if isIdle { return disk.later { completion(.success(())) } }
        let completing: @Sendable (() throws(Failure) -> Void) -> Void = { body in
            do throws(Failure) { try body() } catch { completion(.failure(error)) }
        }
        completing { () throws(Failure) in
            let data = try begin()
            disk.later {
                completing { () throws(Failure) in
                    let sync = try dataSynced(data)
                    disk.later {
                        completing { () throws(Failure) in
                            try journalSynced(sync)
                            completion(.success(()))
                        }
                    }
                }
            }
        }
    }

    func runNow() throws(Failure) { try journalSynced(try dataSynced(try begin())) }

    private func begin() throws(Failure) -> Data {
        try on { contents in
            Data(
                written: contents.written, length: contents.length, incarnation: contents.incarnation,
                journal: contents.keeper?.incarnation ?? 0, forgotten: contents.forgotten.count)
        }
    }

    private func dataSynced(_ data: Data) throws(Failure) -> (JournalKeeper.Sync, Int)? {
        do throws(Failure) {
            if let failure = disk.troubles.checkpoint { throw failure }
            try disk.call(at: path)
        } catch {
            try write { $0.distrustCache() }
            throw error
        }
        let lies = disk.state.withLock { $0.sabotage == .claimsWithoutSync }
        try on { contents in
            // A sync of content that was replaced since proves nothing.
            guard contents.incarnation == data.incarnation, !lies else { return }
            var written = data.written
            for range in contents.forgotten[data.forgotten...] { written.remove(range) }
            contents.synced(written, length: data.length)
        }
        disk.state.withLock { $0.folder.sync(file) }
        try write { $0.dataSynced(done, incarnation: data.journal) }
        return try on { contents in
            guard let sync = contents.keeper?.syncBegins() else { return nil }
            return (sync, contents.journal?.syncPoint ?? 0)
        }
    }

    private func journalSynced(_ sync: (JournalKeeper.Sync, Int)?) throws(Failure) {
        try disk.call(at: path)
        try on { contents in
            guard let (sync, point) = sync else { return }
            contents.journal?.sync(to: point)
            contents.keeper?.syncEnded(sync, succeeded: true)
            let durable = contents.keeper?.durable ?? ByteRangeSet()
            contents.arrivals.removeAll { durable.contains($0.range) }
        }
        disk.state.withLock { $0.counts.checkpoints += 1 }
    }

    private func write(_ body: (inout JournalKeeper) -> [JournalWrite]) throws(Failure) {
        guard var next = try on({ $0.keeper }) else { return }
        for write in body(&next) {
            try disk.call(at: path)
            try on { $0.journal?.perform([write]) }
        }
        try on { $0.keeper = next }
    }
}
