import Glibc
import Pawl
package import PawlBase
import PawlCollections
import PawlJournal
import PawlS3
import PawlSystem
import PawlTerminal
import Synchronization

/// One run of `pawl get`: feeds the downloader, reports its events, and returns the exit code.
///
/// Everything here runs on the main thread; other threads only post to the mailbox.
package struct GetSession: ~Copyable {
    private enum Message: Sendable {
        case event(DownloadEvent)
        case trace(TransferTrace)
        case signal(Int32)
        /// A listing has found something.
        case listing
    }

    private let plan: GetPlan
    private let mailbox: Mailbox<Message>
    private let poller = EpollPoller(clock: SystemClock())
    private let downloader: Downloader
    /// Where the bytes go, if not to files.
    private let store: ObjectStore?
    private var next = 0
    private let feed: CollectionFeed
    private let listing = ListingSignal()
    private var downloads: [UInt64: Download] = [:]
    /// Of the downloads that may turn out to be streams.
    private var items: [UInt64: GetPlan.Item] = [:]
    /// The downloads that a listing waits for.
    private var awaited: [UInt64: (run: CollectionRun, entry: PlannedEntry)] = [:]
    private var ledger = RunLedger()
    private var reporter: ProgressReporter
    /// The options of downloads that have none of their own.
    private let common: Boxed<DownloadOptions>
    /// The netrc file for downloads that name none.
    private let usualNetrc: String?
    private let cookies: CookieSaver?
    private var isInterrupted = false
    /// Whether messages arrived in the last round: more are then likely to follow immediately.
    private var isBusy = false
    private let start = milliseconds()
    /// Whether the number of simultaneous downloads changes by itself.
    private let adapts: Bool

    /// How long an object may take to be completed after a signal.
    private static let storeGrace = Interval.seconds(5)

    package init(_ plan: GetPlan) throws(Failure) {
        self.plan = plan
        // A stream is many requests.
        let isOne = plan.items.count <= 1 && plan.collections.isEmpty && !plan.namesStream
        let isGiven = plan.options.download.netrc != nil
        usualNetrc = plan.options.readsNetrc && !isGiven ? NetrcPermission.usual() : nil
        common = Boxed(Self.complete(plan.common, usualNetrc))
        let mailbox = Mailbox<Message>()
        mailbox.attach(wake: poller.wake)
        let store = try plan.store()
        self.store = store
        let cursor = CursorGuard()
        reporter = ProgressReporter(plan.options, terminal: .standardError(), cursor: cursor, files: plan.items.count)
        // Before any other thread, so that the downloader's threads inherit the signal mask.
        SignalWatch.start(hasDisplay: reporter.hasDisplay, cursor: cursor) { number in
            // The main thread may wait for a store that does not respond.
            if [SIGINT, SIGTERM, SIGHUP].contains(number) { store?.stop(within: Self.storeGrace) }
            mailbox.post(.signal(number))
        }
        var configuration = plan.options.connections
        // A single file decides about its connections itself.
        configuration.adaptsConcurrentDownloads = plan.options.jobs == nil && !isOne
        configuration.maximumConcurrentDownloads = plan.options.jobs ?? configuration.maximumConcurrentDownloads
        configuration.rateLimit = plan.options.rateLimit
        let files = plan.collections.isEmpty ? plan.items.count : .max
        configuration.setThreads(for: min(files, plan.options.jobs ?? .max))
        adapts = configuration.adaptsConcurrentDownloads
        // A single file has connections of its own: they cost less, and more of them can be opened.
        configuration.usesHTTP1Only = plan.options.usesHTTP1
        configuration.sharesConnections = !isOne && !plan.options.usesHTTP1
        configuration.reportsEveryState = false
        configuration.stateFolder = Environment.pawlState
        if plan.options.isVerbose { configuration.trace = { mailbox.post(.trace($0), weight: 0) } }
        cookies = CookieSaver(plan.options.cookieJar, &configuration)
        downloader = Downloader(configuration) { event in
            mailbox.post(.event(event), weight: RunLedger.isEnd(event.kind) ? 1 : 0)
        }
        self.mailbox = mailbox
        feed = CollectionFeed(plan) { [listing] in if listing.raise() { mailbox.post(.listing) } }
        for item in plan.items {
            guard let place = plan.placeLikePart(of: item) else { continue }
            downloader.reserve(place.name, in: place.folder)
        }
    }

    /// Throws code 1 when the system refuses the downloader's threads.
    package consuming func run() throws(Failure) -> Int32 {
        try SystemThread.requireAll()
        fill()
        while !ledger.active.isEmpty || hasMore || makeRoom() {
            reporter.show(ledger, left: left, downloads: downloads, showsRunning: adapts)
            // Waking for each event of many small files would cost more than the files.
            mailbox.wait(for: isBusy ? patience : 0) { poller.wait(until: SystemClock().now + untilNext) }
            let messages = mailbox.take()
            isBusy = !messages.isEmpty
            for message in messages { hear(message) }
            if isInterrupted { break }
            fill()
        }
        // What was not listed counts as one file.
        let rest = isInterrupted && feed.hasMore && feed.backlog == 0 ? 1 : 0
        feed.stop()
        // Shut down the threads even if everything is done. With a pipe that is not read they would never exit.
        if plan.stream == nil || !isInterrupted { downloader.shutDownAndWait() }
        for message in mailbox.take() { hear(message) }
        let unfinished = ledger.active.count + ledger.paused + left + rest + (feed.hasBlocked ? 1 : 0)
        // A recording that was ended is complete so far, and shorter than was wanted.
        let isCut = isInterrupted && plan.options.tracks.live != nil
        var code = ledger.exitCode(isUnfinished: unfinished > 0 || isCut, ofFirst: !plan.collections.isEmpty)
        code = completeCollections(after: code)
        if plan.options.deletesMissing { code = removeMissing(after: code, tells: true) }
        do throws(Failure) { try cookies?.save() } catch {
            printFailure(error)
            if code == 0 { code = error.code.rawValue }
        }
        reporter.end(
            ledger, unfinished: unfinished, seconds: Double(milliseconds() - start) / 1000,
            jobs: downloader.mostRunning, exitCode: code)
        return Int32(code)
    }

    /// The longest time that events may wait while there are many.
    private var untilNext: Interval {
        let next = reporter.untilNext()
        return isBusy ? min(next, .milliseconds(20)) : next
    }

    /// How many downloads may end before this thread must wake: few enough that no slot is idle for lack of work.
    private var patience: Int {
        let active = ledger.active.count
        return next < plan.items.count || feed.backlog > 0
            ? max(1, active - downloader.maximumConcurrentDownloads * 2) : max(1, active)
    }

    /// Keeps a few more downloads in the downloader than there are slots: enough that no slot is idle, few enough that
    /// a list of any length needs little memory.
    private mutating func fill() {
        pollListing()
        let most = downloader.maximumConcurrentDownloads * 4
        while ledger.active.count < most, !isStopped {
            let isListed = next == plan.items.count
            let listed = isListed ? feed.take() : nil
            if isListed, listed == nil { break }
            if !isListed { next += 1 }
            do throws(PawlError) {
                if let listed {
                    let path = listed.entry.entry.path
                    let isAwaited = listed.run.awaits(path)
                    do throws(PawlError) {
                        let (download, name) = try add(listed.entry, listed.collection)
                        if isAwaited { awaited[download.id.rawValue] = (listed.run, listed.entry) }
                        start(download, name)
                    } catch {
                        if isAwaited { listed.run.settle(path, .missing) }
                        throw error
                    }
                } else {
                    try begin(plan.items[next - 1])
                }
            } catch {
                guard !isStopped else {
                    if !isListed { next -= 1 }
                    return
                }
                let source = listed?.entry.entry.address ?? plan.items[next - 1].source
                reporter.notify(ledger.refuse(error, of: source))
            }
        }
        pollListing()
    }

    private mutating func begin(_ item: GetPlan.Item) throws(PawlError) {
        let (download, name) = try add(item)
        if !item.isStream, plan.mayBeStream(item) { items[download.id.rawValue] = item }
        start(download, name)
    }

    private mutating func start(_ download: Download, _ name: String?) {
        downloads[download.id.rawValue] = download
        ledger.add(download.id.rawValue, source: download.source, name: name)
        download.resume()
    }

    /// Begins the stream that the playlist of a download stands for; `false` where the event is none of that.
    private mutating func beginStream(_ event: DownloadEvent) -> Bool {
        guard case .failed(let error) = event.kind, error.isOfStream, var item = items[event.id.rawValue] else {
            return false
        }
        item.isStream = true
        ledger.drop(event.id.rawValue)
        do throws(PawlError) { try begin(item) } catch { reporter.notify(ledger.refuse(error, of: item.source)) }
        return true
    }

    /// Tells a listing what became of the file that it waits for.
    private func settle(_ awaited: (run: CollectionRun, entry: PlannedEntry)?, _ kind: DownloadEvent.Kind) {
        guard let (run, planned) = awaited else { return }
        var outcome = AwaitedFile.missing
        if case .finished(let file) = kind {
            outcome = AwaitedFile(file.path, wasThere: file.wasThere, before: planned.state)
        }
        run.settle(planned.entry.path, outcome)
    }

    /// Files that are known and not added yet.
    private var left: Int { plan.items.count - next + feed.backlog }
    private var hasMore: Bool { next < plan.items.count || feed.hasMore }

    /// Takes what the listing has found.
    private mutating func pollListing() {
        listing.lower()
        var events: [CollectionFeed.Event] = []
        feed.poll { events.append($0) }
        for event in events {
            switch event {
            case .found(let planned, let collection):
                reporter.files += 1
                guard let place = collection.placeLikePart(of: planned) else { break }
                downloader.reserve(place.name, in: place.folder)
            case .unchanged(let planned):
                reporter.notify(
                    Report(
                        id: nil, source: Redaction.address(planned.entry.address), name: nil,
                        kind: .unchanged(path: planned.entry.path, length: planned.entry.size)))
            case .refused(let failure, let source): reporter.notify(ledger.refuse(PawlError(failure), of: source))
            case .notice(let text):
                reporter.notify(Report(id: nil, source: "pawl", name: nil, kind: .notice(text)))
            case .listed(let tally, let source):
                reporter.notify(Report(id: nil, source: source, name: nil, kind: .listed(tally)))
            }
        }
    }

    /// Does what follows at the end of collections; returns the exit code.
    private mutating func completeCollections(after code: UInt8) -> UInt8 {
        var code = code
        for (_, run) in feed.begun {
            do throws(Failure) {
                guard let text = try run.complete() else { continue }
                reporter.notify(Report(id: nil, source: "pawl", name: nil, kind: .notice(text)))
            } catch {
                reporter.notify(ledger.refuse(PawlError(error), of: run.source))
                if code == 0 { code = error.code.rawValue }
            }
        }
        return code
    }

    /// Removes what stands in the place of files, if nothing speaks against it; returns whether some follow then.
    private mutating func makeRoom() -> Bool {
        guard feed.hasBlocked, !isInterrupted else { return false }
        _ = removeMissing(after: ledger.exitCode(isUnfinished: false, ofFirst: true), tells: false)
        feed.unblock()
        fill()
        return !ledger.active.isEmpty || hasMore
    }

    /// Removes what collections no longer have, if nothing speaks against it; returns the exit code.
    private mutating func removeMissing(after code: UInt8, tells: Bool) -> UInt8 {
        var code = code
        for (collection, run) in feed.begun {
            let cleanup = CollectionCleanup(
                run, in: collection.folder, isSelective: plan.options.listing.filter.isSelective)
            let why = code != 0 ? "not every file could be downloaded" : cleanup.obstacle
            guard why == nil else {
                guard tells else { continue }
                let text = "--delete removed nothing of \(run.source): \(why ?? "")"
                reporter.notify(Report(id: nil, source: "pawl", name: nil, kind: .notice(text)))
                continue
            }
            cleanup.removeMissing { removal in
                switch removal {
                case .success(let path):
                    reporter.notify(
                        Report(id: nil, source: run.source, name: path, kind: .removed(path: path)))
                case .failure(let failure):
                    reporter.notify(ledger.refuse(PawlError(failure), of: run.source))
                    if code == 0 { code = failure.code.rawValue }
                }
            }
        }
        return code
    }

    /// Whether a signal has ended the requests to the store.
    private var isStopped: Bool { store?.isStopped ?? false }

    private func target(of source: String) throws(PawlError) -> WebAddress? {
        do throws(Failure) { return try plan.target(of: source) } catch { throw PawlError(error) }
    }

    private func add(_ item: GetPlan.Item) throws(PawlError) -> (Download, name: String?) {
        // Without a copy of them for each file.
        guard item.hasOwnOptions else { return (try add(item, common.value), common.value.fileName) }
        let own = try options(for: item)
        return (try add(item, own), own.fileName)
    }

    private func add(_ item: GetPlan.Item, _ options: DownloadOptions) throws(PawlError) -> Download {
        if plan.mayBeStream(item), item.isStream || Downloader.namesStream(item.source) {
            return try downloader.addStream(
                item.source, options: options, stream: plan.options.tracks, to: plan.stream)
        }
        if let stream = plan.stream {
            return try downloader.add(
                item.source, options: options, to: stream, refusesStreams: plan.mayBeStream(item))
        }
        if let elsewhere = try addElsewhere(item.source, options) { return elsewhere }
        return try downloader.add(
            item.source, options: options, pieces: item.pieces, digests: item.digests, isSeeded: item.isSeeded,
            replaces: item.replaces, refusesStreams: plan.mayBeStream(item))
    }

    private func add(
        _ planned: PlannedEntry, _ collection: GetPlan.Collection
    ) throws(PawlError) -> (Download, name: String?) {
        let (source, digests) = (planned.entry.address, planned.entry.digest.map { [$0] } ?? [])
        let (options, replaced) = try collection.download(of: planned)
        if let elsewhere = try addElsewhere(source, options) { return (elsewhere, options.fileName) }
        let download = try downloader.add(
            source, options: options, pieces: planned.entry.pieces, digests: digests,
            replaces: replaced.map { ReplacedFile($0) })
        return (download, options.fileName)
    }

    /// `nil` where the bytes go to a file.
    private func addElsewhere(_ source: String, _ options: DownloadOptions) throws(PawlError) -> Download? {
        if let stream = plan.stream { return try downloader.add(source, options: options, to: stream) }
        guard let store, let target = try target(of: source) else { return nil }
        return try downloader.add(source, options: options, to: target, of: store)
    }

    /// Those of an input file were checked with the plan; a listed file may be refused.
    private func options(for item: GetPlan.Item) throws(PawlError) -> DownloadOptions {
        do throws(Failure) { return Self.complete(try plan.downloadOptions(for: item), usualNetrc) } catch {
            throw PawlError(error)
        }
    }

    /// The user's own netrc file is used where none is given, as wget and aria2 do.
    private static func complete(_ options: DownloadOptions, _ netrc: String?) -> DownloadOptions {
        guard let netrc, options.netrc == nil else { return options }
        var options = options
        options.netrc = netrc
        return options
    }

    private mutating func hear(_ message: Message) {
        switch message {
        case .event(let event):
            let id = event.id.rawValue
            if !beginStream(event), let report = ledger.apply(event.kind, of: id) { reporter.notify(report) }
            if RunLedger.isEnd(event.kind) {
                (downloads[id], items[id]) = (nil, nil)
                settle(awaited.removeValue(forKey: id), event.kind)
            }
        case .trace(let trace): reporter.show(trace)
        case .listing: break
        case .signal(SIGINT), .signal(SIGTERM), .signal(SIGHUP): isInterrupted = true
        case .signal(SIGTSTP): reporter.stop()
        case .signal(SIGCONT): reporter.resume()
        case .signal: reporter.redrawSoon()
        }
    }
}

/// Whether a listing's message is on its way: one is enough for many entries.
private final class ListingSignal: Sendable {
    private let isRaised = Atomic(false)

    /// Returns whether it was not raised before.
    func raise() -> Bool { !isRaised.exchange(true, ordering: .acquiringAndReleasing) }
    func lower() { isRaised.store(false, ordering: .releasing) }
}

/// Milliseconds of the monotonic clock.
package func milliseconds() -> Int64 {
    var now = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &now)
    return Int64(now.tv_sec) * 1000 + Int64(now.tv_nsec) / 1_000_000
}

extension Downloader.Configuration {
    /// Sets the number of threads that transfer so many downloads at once.
    ///
    /// A single download gains nothing from a second thread. On more than half of the cores, threads that create files in
    /// one folder wait for each other in the kernel: they cost a tenth to a fifth more CPU time and gain little speed.
    package mutating func setThreads(for downloads: Int) {
        let cores = Int(clamping: sysconf(Int32(_SC_NPROCESSORS_ONLN)))
        threads = max(1, min(downloads, cores, max(2, cores / 2), 4))
    }
}
