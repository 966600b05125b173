import PawlBase
import PawlJournal
import PawlSystem
import Synchronization

/// A locked journal file and the keeper that decides what is written to it.
///
/// Its loop thread records, and a worker adds what has become durable: the keeper's mutex is held while a header is
/// written, because two of them must not be written to one buffer at once.
final class JournalFile: Sendable {
    let file: OpenFile
    let path: String
    let nonce: UInt64
    private let state: Mutex<State>

    private struct State {
        var keeper: JournalKeeper
        var isClosed = false
        /// Why a sync of the data failed.
        ///
        /// Linux reports a failed write once per open file: a later sync that succeeds proves nothing.
        var syncError: SystemError?
    }

    init(file: OpenFile, path: String, keeper: JournalKeeper) {
        self.file = file
        self.path = path
        nonce = keeper.nonce
        state = Mutex(State(keeper: keeper))
    }

    var durable: ByteRangeSet { state.withLock { $0.keeper.durable } }
    var facts: JournalFacts { state.withLock { $0.keeper.header.facts } }
    var incarnation: UInt64 { state.withLock { $0.keeper.incarnation } }
    var syncError: SystemError? { state.withLock { $0.syncError } }

    /// Writes what a new value of the keeper requires, and keeps that value if the write succeeded.
    @discardableResult private func change<Result>(
        _ body: (inout JournalKeeper) -> (Result, [JournalWrite])
    ) throws(SystemError) -> Result? {
        try state.withLock { (state) throws(SystemError) -> Result? in
            guard !state.isClosed else { return nil }
            var next = state.keeper
            let (result, writes) = body(&next)
            try Self.perform(writes, on: file)
            state.keeper = next
            return result
        }
    }

    static func perform(_ writes: [JournalWrite], on file: OpenFile) throws(SystemError) {
        for write in writes { try file.write(write.bytes, at: Int64(write.offset)) }
    }

    func record(_ facts: JournalFacts, written: ByteRangeSet, isEnd: Bool = false) throws(Failure) {
        do throws(SystemError) {
            try change { keeper in
                ((), isEnd ? keeper.recordEnd(facts, written: written) : keeper.record(facts, written: written))
            }
        } catch { throw Failure.system(.inputOutput, "cannot write", at: path, error) }
    }

    /// Begins a lane's slot; `map` writes the slot if there is one.
    func beginLane(_ slot: Int, at start: Int64, retiring: ByteRange?, map: SlotMap?) throws(Failure) -> JournalSlot? {
        do throws(SystemError) {
            let begun = try change { keeper in
                var (begun, writes) = keeper.beginLane(slot, at: start, retiring: retiring)
                if map != nil { writes.removeLast() }
                return (begun, writes)
            }
            if let begun { map?.begin(begun) }
            return begun
        } catch { throw Failure.system(.inputOutput, "cannot write", at: path, error) }
    }

    /// Syncs `data`, then a header that records it.
    func checkpoint(
        _ done: ByteRangeSet, incarnation: UInt64, data: OpenFile, dataPath: String, syncs: Bool
    ) throws(Failure) {
        do throws(SystemError) {
            if syncs { try data.syncData() }
            if let error = syncError ?? data.syncError { throw error }
        } catch {
            distrustCache(because: error)
            throw Failure.system(.inputOutput, "cannot sync", at: dataPath, error)
        }
        do throws(SystemError) {
            try change { ((), $0.dataSynced(done, incarnation: incarnation)) }
            try sync(syncs: syncs)
        } catch { throw Failure.system(.inputOutput, "cannot write", at: path, error) }
    }

    /// Notes a failed sync of the data: the next run must not trust the page cache, and this one no later sync.
    func distrustCache(because error: SystemError) {
        state.withLock { $0.syncError = error }
        // If the journal cannot be written either, the disk is lost.
        _ = try? change { ((), $0.distrustCache()) }
    }

    /// Records that the part file is a finished file of `length` bytes.
    func restored(length: Int64) throws(SystemError) { try change { ((), $0.restored(length: length)) } }

    private func sync(syncs: Bool) throws(SystemError) {
        let ticket = state.withLock { $0.isClosed ? nil : $0.keeper.syncBegins() }
        guard let ticket else { return }
        var failure: SystemError?
        if syncs { do throws(SystemError) { try file.syncData() } catch { failure = error } }
        let succeeded = failure == nil
        state.withLock { $0.keeper.syncEnded(ticket, succeeded: succeeded) }
        if let failure { throw failure }
    }

    /// Records durably that nothing is written.
    func startOver(_ facts: JournalFacts, syncs: Bool) throws(Failure) {
        do throws(SystemError) {
            try change { ((), $0.startOver(facts)) }
            try sync(syncs: syncs)
            try change { ((), $0.startedOver()) }
        } catch { throw Failure.system(.inputOutput, "cannot write", at: path, error) }
    }

    /// Records durably that only `done` is written, because other bytes were found wrong.
    func retract(_ facts: JournalFacts, done: ByteRangeSet, syncs: Bool) throws(Failure) {
        do throws(SystemError) {
            try change { ((), $0.retract(facts, to: done)) }
            try sync(syncs: syncs)
            try change { ((), $0.startedOver()) }
        } catch { throw Failure.system(.inputOutput, "cannot write", at: path, error) }
    }

    /// Closes the file: nothing is written to it any more, not even by a worker; it is unlocked.
    func close() {
        state.withLock { $0.isClosed = true }
        file.unlock()
    }
}
