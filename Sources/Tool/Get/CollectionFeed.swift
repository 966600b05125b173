import PawlBase
import PawlCollections
import Synchronization

/// The files of a plan's collections, one collection after another, while they are listed.
///
/// For one thread; the listing runs on another, which waits while enough is known.
final class CollectionFeed {
    /// What a listing says besides the files to download.
    enum Event {
        /// A file to download was found.
        case found(PlannedEntry, GetPlan.Collection)
        /// The folder has the file already.
        case unchanged(PlannedEntry)
        case refused(Failure, of: String)
        case notice(String)
        /// A listing has ended.
        case listed(ListingTally, of: String)
    }

    /// So many files may be known beyond those that run.
    private static let most = 1_024

    private let collections: [GetPlan.Collection]
    private let maximumTotal: Int64?
    /// Whether files that the collections do not have any more are removed.
    private let remembersPaths: Bool
    private let onChange: @Sendable () -> Void
    /// Collections that were begun, with their listings.
    private(set) var begun: [(collection: GetPlan.Collection, run: CollectionRun)] = []
    private var run: CollectionRun?
    private var waiting: [(entry: PlannedEntry, collection: Int)] = []
    private var next = 0
    /// Files in whose place something stands that may be gone at the end.
    private var blocked: [(entry: PlannedEntry, collection: Int)] = []
    private var hasMadeRoom = false
    /// Whether nothing is downloaded before all sizes are known.
    private var holds: Bool
    private var total: Int64 = 0
    private(set) var isOver = false

    /// `onChange` is called on the listing's thread.
    init(_ plan: GetPlan, onChange: @escaping @Sendable () -> Void) {
        collections = plan.collections
        maximumTotal = plan.options.maximumTotal
        remembersPaths = plan.options.deletesMissing
        holds = plan.options.maximumTotal != nil
        self.onChange = onChange
        isOver = collections.isEmpty
    }

    /// Files that are known and not taken.
    var backlog: Int { waiting.count - next }

    /// Whether files may follow.
    var hasMore: Bool { !isOver || backlog > 0 }

    /// Takes what was found, if there is room for it.
    func poll(_ report: (Event) -> Void) {
        while !isOver, holds || backlog < Self.most {
            guard let run else {
                begin()
                continue
            }
            // Read before: then nothing is left behind it.
            let tally = run.tally
            let events = run.take()
            for event in events { take(event, of: run, report) }
            guard tally.isOver else {
                if events.isEmpty { return }
                continue
            }
            end(tally, of: run, report)
        }
    }

    private func begin() {
        let collection = collections[begun.count]
        // What is held back until all is listed cannot be waited for.
        let run = collection.run(
            remembersPaths: remembersPaths, isForDownload: true, settles: !holds, onChange: onChange)
        begun.append((collection, run))
        self.run = run
        run.start()
    }

    private func take(_ event: ListingEvent, of run: CollectionRun, _ report: (Event) -> Void) {
        switch event {
        case .refused(let failure): report(.refused(failure, of: run.source))
        case .notice(let text): report(.notice(text))
        case .entry(let planned):
            guard planned.entry.kind != .folder else { return }
            if case .unchanged = planned.state {
                let (folder, path) = planned.entry.location(in: collections[begun.count - 1].folder)
                run.settle(planned.entry.path, .file("\(folder)/\(path)"))
                return report(.unchanged(planned))
            }
            waiting.append((planned, begun.count - 1))
            report(.found(planned, collections[begun.count - 1]))
        }
    }

    private func end(_ tally: ListingTally, of run: CollectionRun, _ report: (Event) -> Void) {
        self.run = nil
        total = total.addingClamped(tally.bytes)
        isOver = begun.count == collections.count
        report(.listed(tally, of: run.source))
        if let failure = tally.failure { report(.refused(failure, of: run.source)) }
        guard isOver, let maximumTotal, holds else { return }
        holds = false
        guard total > maximumTotal else { return }
        waiting = []
        next = 0
        report(
            .refused(
                Failure(
                    .tooLarge, "cannot download", at: run.source,
                    because: "the listed files have \(total) bytes, and --max-total allows \(maximumTotal)",
                    remedy: "raise --max-total, or leave some out with --exclude"), of: run.source))
    }

    /// The next file, and whose it is; `nil` while none is known.
    func take() -> (entry: PlannedEntry, collection: GetPlan.Collection, run: CollectionRun)? {
        while !holds, next < waiting.count {
            let (entry, collection) = waiting[next]
            next += 1
            if next == waiting.count || next > Self.most {
                waiting.removeFirst(next)
                next = 0
            }
            guard remembersPaths, !hasMadeRoom, collections[collection].obstacle(of: entry) != nil else {
                return (entry, collections[collection], begun[collection].run)
            }
            begun[collection].run.settle(entry.entry.path, .missing)
            blocked.append((entry, collection))
        }
        return nil
    }

    /// Whether files wait until others have given way.
    var hasBlocked: Bool { !blocked.isEmpty }

    /// What is gone has been removed, or will not be: the files that waited for it follow.
    func unblock() {
        waiting += blocked
        (blocked, hasMadeRoom) = ([], true)
    }

    func stop() {
        isOver = true
        for (_, run) in begun { run.stop() }
    }
}
