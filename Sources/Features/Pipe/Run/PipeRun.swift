import Glibc
import Pawl
import PawlBase
import PawlGet
import PawlSystem

/// One run of `pawl pipe`.
///
/// Everything here runs on the main thread; other threads only post to the inbox.
struct PipeRun {
    /// An unfinished sample.
    final class Entry {
        let job: PipeJob
        let request: PipeJob.Request
        /// The length of its line.
        let size: Int
        let host: String
        /// The host whose place it has or waits for: its own, or that of a redirect's target.
        var place: String
        /// The target of the last redirect.
        var target: WebAddress?
        /// The redirect that waits for the rules or a place of its target.
        var held: Once<RedirectDecision>?
        var key: String?
        var spool: SampleSpool?
        var download: Download?
        var started: Instant?
        var requested: UnixTime?
        var attempts = 0
        /// Later samples with the same request.
        var followers: [Int] = []
        /// Whether no request for it has begun, or a redirect waits.
        var isWaiting = false
        /// Whether it has started only because its host is looked up.
        var isLookedUp = false
        /// Why its last attempt could not connect.
        var connectionFailure: Failure?

        init(_ job: PipeJob, size: Int) {
            self.job = job
            request = job.request
            self.size = size
            host = HostPartition.server(job.address.host)
            place = host
        }

        /// The address that is requested.
        var address: WebAddress { target ?? job.address }

        var server: String { "\(host):\(job.address.port)" }
    }

    /// The result of a request, for later samples with the same request.
    struct Learned: Sendable {
        var result: PipeResult
        /// The content, unless it is in memory.
        var content: SampleContent?
    }

    let configuration: PipeConfiguration
    let inbox: PipeInbox
    var input: PipeInput
    let output: ResultWriter
    let downloader: Downloader
    let sink: SinkQueue
    let folder: FolderSink?
    let objects: ObjectSink?
    let shard: ShardRun?
    let spoolFolder: SpoolFolder
    let hooks: DownloadHooks
    let clock = SystemClock()

    var entries: [Int: Entry] = [:]
    var numbers: [Download.ID: Int] = [:]
    var schedule: PipeSchedule
    /// The first sample of each request in progress.
    var primaries: [PipeJob.Request: Int] = [:]
    var recent = RecentResults<Learned>(capacity: 32_768)
    var deadlines = InstantHeap<Int>()
    /// The number of redirects that wait.
    var heldRedirects = 0
    /// The number of the next sample, and how many are done.
    var issued = 0
    var done = 0
    /// How many of those that are done have no result, since the run was stopped.
    private var dropped = 0
    var issuedBytes = 0
    var ordered = InOrder<PipeRecord>()
    /// The bytes in memory of records that wait for earlier ones.
    var heldBytes = 0
    var store: SampleStore?
    let inputDigest = RunningDigest()
    var exitCode: UInt8 = 0
    var reporter: PipeReporter
    /// When the reader of the results and the network are looked at again.
    private var nextLook: Instant
    let lookups: SampleLookups
    var breakers: ServerBreakers
    var dice: Dice
    var outage = NetworkOutage()
    var robotsDeadlines = InstantHeap<Int>()
    var robots = RobotsCache()
    /// Requests for robots.txt, which have negative numbers.
    var requests: [Int: RobotsRequest] = [:]
    var robotsNumber = 0
    /// The deadline of a run that was stopped.
    var stopDeadline: Instant?
    var failure: Failure?
    var isPublished = false

    init(_ configuration: PipeConfiguration, _ inbox: PipeInbox) throws(Failure) {
        var configuration = configuration
        if let contact = configuration.contact {
            let agent = configuration.download.userAgent ?? "Pawl/\(PawlVersion.text)"
            configuration.download.userAgent = "\(agent) (+\(contact))"
        }
        self.configuration = configuration.limitingConnects()
        self.inbox = inbox
        input = PipeInput(inbox)
        nextLook = clock.now
        try SystemDescriptors.require(configuration.descriptors)
        reporter = try PipeReporter(configuration, now: clock.now)
        output = ResultWriter(configuration.output, inbox)
        var settings = Downloader.Configuration()
        // The schedule limits them; redirects that wait, and what they wait for, come on top.
        settings.maximumConcurrentDownloads = 2 * configuration.jobs + PipeRun.mostHeld(configuration.jobs)
        // Each keeps descriptors of its own.
        settings.threads = min(configuration.jobs, PipeRun.threads, max(1, SystemDescriptors.limit / 32))
        settings.reportsEveryState = false
        settings.usesManyHosts = true
        settings.deniesPrivateAddresses = !configuration.allowsPrivateAddresses
        settings.allowsPrivateEndpoint = true
        downloader = Downloader(settings) { event in
            switch event.kind {
            case .finished, .failed, .retry: inbox.post(.event(event))
            case .state, .started, .notice, .added, .changed, .queueChanged, .missed: break
            }
        }
        lookups = try downloader.lookups(configuration.download)
        breakers = ServerBreakers(limit: configuration.hostFailures)
        dice = Dice(seed: UInt64(bitPattern: clock.now.nanoseconds))
        let format = configuration.format ?? (configuration.target == nil ? .none : .files)
        let place: (any ShardPlace)?
        switch configuration.target {
        case .folder(let path):
            let folder = try SampleFolder(path)
            place = folder
            self.folder = format == .files ? FolderSink(folder: folder) : nil
            objects = nil
        case .objects(let address):
            let spool = PipeRun.makeTemporarySpool()
            let prefix = try ObjectPrefix(address, configuration.download, spool: spool)
            place = prefix
            let threads = min(configuration.jobs, PipeRun.mostRequests)
            objects =
                format == .files
                ? ObjectSink(prefix: prefix, threads: threads, failures: configuration.hostFailures) : nil
            self.folder = nil
        case nil: (place, self.folder, objects) = (nil, nil, nil)
        }
        spoolFolder = place?.spool ?? PipeRun.makeTemporarySpool()
        shard = try place.flatMap { (place) throws(Failure) in try ShardRun(configuration, format, place) }
        // Later there may be no descriptor for it.
        if shard?.sink != nil { store = try spoolFolder.makeStore() }
        let sinks: [(any SampleSink)?] = [shard?.sink, self.folder, objects]
        sink = SinkQueue(sinks.lazy.compactMap { $0 }.first ?? NoSink(), inbox)
        hooks = configuration.hooks(inbox)
        schedule = PipeSchedule(
            slots: configuration.jobs, perHost: configuration.share.connections(of: configuration.perHost) ?? 1,
            delay: configuration.share.delay(of: configuration.hostDelay))
    }

    mutating func run() throws(Failure) -> Int32 {
        defer {
            reporter.end(now: clock.now)
            // Otherwise uploaded parts would stay in the bucket.
            if !isPublished { shard?.sink?.discard(until: clock.now + configuration.grace) }
        }
        input.read(from: configuration.input, to: configuration.endLine)
        try SystemThread.requireAll()
        if let shard, let published = shard.published { return try confirm(published, shard) }
        while !isDone {
            admit()
            lookUp()
            start()
            if isDone { break }
            for message in input.wait(until: nextInstant, wantsLines: wantsLines) { hear(message) }
            expire()
            reporter.share = share
            reporter.show(active: schedule.active, now: clock.now)
            look()
            if failure != nil || isOverdue { break }
        }
        return try end()
    }

    /// Notices a reader that has closed its end, even if there is nothing to write, and a lost network.
    private mutating func look() {
        let now = clock.now
        guard nextLook <= now else { return }
        nextLook = now + .seconds(1)
        lookAtNetwork(now: now)
        if output.isClosed { failure = failure ?? ResultWriter.failure("its reader has closed it") }
    }

    /// How much of an input file has results, by the bytes of its lines.
    private var share: Double? {
        guard let length = configuration.inputLength, length > 0, issued > 0 else { return nil }
        return min(1, Double(input.taken) / Double(length)) * Double(done - dropped) / Double(issued)
    }

    private var isDone: Bool {
        if stopDeadline != nil { return entries.isEmpty && done == issued }
        return input.isExhausted && done == issued
    }

    private var isOverdue: Bool { stopDeadline.map { $0 <= clock.now } ?? false }

    private mutating func end() throws(Failure) -> Int32 {
        // Input that could not be read to its end is over, too.
        for message in input.wait(until: clock.now, wantsLines: false) { hear(message) }
        if let failure { throw failure }
        if stopDeadline == nil, let shard { return issued == 0 && retriesNothing ? 0 : try publish(shard) }
        try drainOutput()
        return stopDeadline == nil ? Int32(exitCode) : Int32(PawlError.Code.unfinished.rawValue)
    }

    /// Waits until the results are written, or until a run that was stopped is over.
    mutating func drainOutput() throws(Failure) {
        var isWritten = false
        while true {
            for message in input.wait(until: clock.now, wantsLines: false) { hear(message) }
            if let failure { throw failure }
            if isWritten || isOverdue { return }
            let soon = clock.now + .milliseconds(100)
            isWritten = output.drain(until: min(soon, stopDeadline ?? soon))
        }
    }

    /// The next instant at which something is due.
    private var nextInstant: Instant? {
        var next = min(nextLook, reporter.nextInstant)
        if let deadline = robotsDeadlines.first { next = min(next, deadline) }
        if stopDeadline == nil, let start = schedule.nextStart { next = min(next, start) }
        if let deadline = deadlines.first { next = min(next, deadline) }
        if let stopDeadline { next = min(next, stopDeadline) }
        return next
    }

    mutating func hear(_ message: PipeMessage) {
        switch message {
        case .event(let event): hear(event)
        case .stored(let records): for record in records { record.isLookup ? request(record.number) : finish(record) }
        case .lookedUp(let host, let query, let result): lookedUp(host, query, result)
        case .redirected(let id, let url, let held): redirected(id, to: url, held)
        case .sinkFailed(let failure), .inputFailed(let failure), .outputFailed(let failure):
            self.failure = self.failure ?? failure
        case .outputDrained, .lines, .inputEnded: break
        case .stop: stop()
        }
    }

    /// Drops waiting samples; running ones have the grace period.
    private mutating func stop() {
        guard stopDeadline == nil else { return }
        // An incomplete shard is not published.
        for request in requests.values {
            guard let download = request.download else { continue }
            numbers[download.id] = nil
            downloader.abandon(download)
        }
        requests = [:]
        reporter.isEnding = true
        stopDeadline = clock.now + (shard == nil ? configuration.grace : .zero)
        _ = schedule.removeAll()
        for (number, entry) in entries where entry.isWaiting { drop(number) }
    }

    mutating func drop(_ number: Int) {
        guard let entry = entries.removeValue(forKey: number) else { return }
        release(entry)
        done += 1
        dropped += 1
        for follower in entry.followers { drop(follower) }
    }

    /// Ends samples that have timed out.
    private mutating func expire() {
        let now = clock.now
        while let number = robotsDeadlines.pop(atMost: now) { expireRobots(number) }
        guard let timeout = configuration.sampleTimeout else { return }
        while let number = deadlines.pop(atMost: now) {
            // The time of a sample begins anew after the lookup of its host.
            guard let entry = entries[number], let started = entry.started, started + timeout <= now,
                withdraw(number, entry)
            else { continue }
            let failure = Failure(
                .timeout, "cannot download", at: Redaction.address(entry.job.url),
                because: "it took longer than \(timeout.seconds) s")
            let cause = entry.spool?.content.length ?? 0 == 0 ? entry.connectionFailure : nil
            complete(number, PipeResult(failure), nil, nil)
            if cause != nil || breakers.isProbed(entry.server) { noteDead(entry, cause ?? failure) }
        }
    }

    /// Ends a sample that is running or waits for that; `false` if it is neither.
    mutating func withdraw(_ number: Int, _ entry: Entry) -> Bool {
        if entry.isWaiting {
            schedule.remove(number, of: entry.place)
            release(entry)
            return true
        }
        guard let download = entry.download else { return false }
        numbers[download.id] = nil
        downloader.abandon(download)
        schedule.ended(of: entry.place)
        return true
    }

    /// Half of the cores: the others parse lines, compute digests and write.
    private static var threads: Int { min(max(1, Int(clamping: sysconf(Int32(_SC_NPROCESSORS_ONLN))) / 2), 4) }
    /// The maximum number of simultaneous requests to a bucket.
    private static let mostRequests = 32
    private static func makeTemporarySpool() -> SpoolFolder {
        SpoolFolder(Environment.temporary, setting: "TMPDIR")
    }
}

extension PipeConfiguration {
    /// The descriptors that a run with one sample at a time needs.
    fileprivate var descriptors: Int {
        // A loop, a connection and a temporary file.
        let always = 5
        let isShard = shard != nil && format != .files
        let own =
            switch target {
            case nil: 0
            // The folder twice, and what stores one sample, or the files of the shard.
            case .folder: isShard ? 6 : 5
            // A connection to the store, and the same.
            case .objects: isShard ? 5 : 2
            }
        return always + own
    }
}
