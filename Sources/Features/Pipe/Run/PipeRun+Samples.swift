import Pawl
import PawlBase
import PawlCollections
import PawlGet
import PawlHTTP
import PawlSystem

// From a line to a result.
extension PipeRun {
    /// The maximum number of samples that are running or waiting.
    private var window: Int { shard == nil ? max(1024, configuration.jobs * 4) : 49_152 }
    private static let windowBytes = 16 << 20

    var wantsLines: Bool {
        stopDeadline == nil && issued - done < window && output.hasRoom
            && (issuedBytes < Self.windowBytes || issued == done)
    }

    /// Takes lines while there is room for their samples; a few at a time, because this thread has other work
    /// too.
    mutating func admit() {
        for _ in 0..<256 {
            guard wantsLines, let line = input.nextLine() else { return }
            let parsed: Result<PipeJob, PipeJob.Refusal>
            if configuration.retriesFailed {
                guard let failed = PipeJob.parse(failed: line) else { continue }
                parsed = failed
            } else {
                parsed = PipeJob.parse(line)
            }
            if shard != nil { feed(line) }
            let number = issued
            issued += 1
            let size = line.bytes?.count ?? 0
            issuedBytes += size
            switch parsed {
            case .success(var job):
                job.checksum = job.checksum ?? configuration.download.checksum
                admit(job, number, size)
            case .failure(let refusal):
                issuedBytes -= size
                var result = PipeResult(.refused)
                result.code = Failure.Code.badOption.rawValue
                result.cause = refusal.reason
                complete(PipeRecord(number: number, job: .failure(refusal), result: result))
            }
        }
    }

    private mutating func admit(_ job: PipeJob, _ number: Int, _ size: Int) {
        let entry = Entry(job, size: size)
        if let folder {
            let key = SampleName.path(of: job)
            entry.key = key
            if folder.holds(key, of: job) {
                entries[number] = entry
                var result = PipeResult(.already)
                result.key = key
                var record = PipeRecord(number: number, job: .success(job), result: result)
                record.isThere = true
                return sink.store([record])
            }
        }
        if objects != nil {
            entry.key = SampleName.path(of: job)
            entries[number] = entry
            var record = PipeRecord(number: number, job: .success(job), result: PipeResult(.already))
            record.result.key = entry.key
            record.isLookup = true
            return sink.store([record])
        }
        entries[number] = entry
        request(number)
    }

    /// Requests a sample that no earlier run has stored.
    mutating func request(_ number: Int) {
        guard let entry = entries[number] else { return }
        if stopDeadline != nil { return drop(number) }
        let job = entry.job
        if let learned = recent[entry.request] {
            return complete(number, learned.result.shared(), learned.content, nil)
        }
        if let primary = primaries[entry.request] {
            entries[primary]?.followers.append(number)
            return
        }
        primaries[entry.request] = number
        if let failure = outage.rejection(of: entry.host, at: clock.now) {
            return refuse(number, PipeResult(failure.moved(to: job.address)))
        }
        if let failure = breakers.rejection(of: entry, at: clock.now) { return reject(number, failure) }
        entry.isWaiting = true
        consult(number, job.address, entry.host)
    }

    /// Starts as many samples as may run.
    mutating func start() {
        while stopDeadline == nil, sink.hasRoom {
            let isFull = heldRedirects >= PipeRun.mostHeld(configuration.jobs)
            guard let number = schedule.next(now: clock.now, onlyUrgent: isFull) else { return }
            if number < 0 { startRobots(number) } else { start(number) }
        }
    }

    private mutating func start(_ number: Int) {
        guard let entry = entries[number] else { preconditionFailure("a scheduled sample has an entry") }
        guard entry.held == nil else { return follow(entry) }
        var options = options(after: entry.attempts)
        options.headers += entry.job.headers
        options.checksum = entry.job.checksum
        let spool = SampleSpool(limit: configuration.maximumSize ?? .max, in: spoolFolder)
        let now = clock.now
        switch breakers.start(entry, at: now) {
        case .attempt: break
        case .probe: options.retries = 0
        case .reject(let failure):
            schedule.ended(of: entry.host)
            return reject(number, failure)
        }
        let isFirst = entry.started == nil
        entry.started = entry.started ?? now
        entry.requested = clock.wallTime
        entry.attempts = max(1, entry.attempts)
        entry.isWaiting = false
        do throws(PawlError) {
            let download = try downloader.add(entry.job.url, options: options, hooks: hooks, to: spool)
            entry.download = download
            entry.spool = spool
            numbers[download.id] = number
            if isFirst, let timeout = configuration.sampleTimeout { deadlines.push(number, at: now + timeout) }
            download.resume()
        } catch {
            schedule.ended(of: entry.host)
            breakers.connected(entry.server)
            complete(number, PipeResult(error.failure, as: .refused), nil, nil)
        }
    }

    mutating func hear(_ event: DownloadEvent) {
        guard let number = numbers[event.id] else { return }
        if number < 0 { return hearRobots(number, event.kind) }
        guard let entry = entries[number] else { return }
        switch event.kind {
        case .retry(let error, let delay):
            entry.attempts += 1
            entry.connectionFailure = error.isConnectionFailure(of: entry.job.address) ? error.failure : nil
            if error.concernsHost { postpone(number, after: error, by: Interval(delay)) }
        case .finished(let file):
            numbers[event.id] = nil
            schedule.served(entry.place)
            schedule.ended(of: entry.place, keepsConnection: true)
            breakers.connected(entry)
            var result = PipeResult(.ok)
            result.describe(file.response, of: entry.job)
            complete(number, result, entry.spool?.content, file.response)
        case .failed(let error):
            numbers[event.id] = nil
            if entry.isWaiting {
                schedule.remove(number, of: entry.place)
            } else {
                schedule.ended(of: entry.place, keepsConnection: error.status != nil)
            }
            // A published shard is final: it says nothing of a disk that was full meanwhile.
            if shard != nil, error.failure.code.isOfStorage { failure = failure ?? error.failure }
            let result = PipeResult(error, of: entry.job, respecting: configuration.respected)
            complete(number, result, nil, error.response)
            note(error, of: entry)
        case .state, .started, .notice, .added, .changed, .queueChanged, .missed: break
        }
    }

    /// The options of a request that begins anew: with the retries that are left, and the delay that has grown.
    func options(after attempts: Int) -> DownloadOptions {
        var options = configuration.download
        guard attempts > 1 else { return options }
        options.retries = max(0, options.retries - (attempts - 1))
        let grown = options.retryDelay * (1 << min(attempts - 1, 16))
        options.retryDelay = max(options.retryDelay, min(grown, Duration(RetryPolicy.longestWait)))
        return options
    }

    /// The host requested a delay for it, or cannot be reached; other samples run in the meantime.
    private mutating func postpone(_ number: Int, after error: PawlError, by delay: Interval) {
        guard let entry = entries[number], let download = entry.download, delay >= Self.shortestPause else { return }
        numbers[download.id] = nil
        downloader.abandon(download)
        entry.download = nil
        entry.spool = nil
        entry.isWaiting = true
        let address = entry.job.address
        let failed = error.failingURL.flatMap { try? WebAddress.parse($0).address }
        let host = failed.map { HostPartition.server($0.host) } ?? entry.place
        if entry.place == entry.host, host == entry.host || address.isLocated {
            lookUpAgain(address, of: entry.host, after: error)
            pause(number, of: entry.host, after: error, by: delay)
        } else {
            // It begins with the address of its job again, and waits for the target when it is redirected.
            lookUpAgain(entry.address, of: host, after: error)
            let place = entry.place
            (entry.place, entry.target) = (entry.host, nil)
            if error.failure.concernsConnection {
                schedule.pause(host, until: clock.now + delay)
                schedule.ended(of: place)
                queue(number, address, of: entry.host, isFirst: true)
            } else {
                let now = clock.now
                schedule.rest(number, of: entry.host, in: place, until: now + delay, now: now)
            }
        }
        if stopDeadline != nil { drop(number) }
    }

    /// A refusal is that of one URL; a host that cannot be connected to gets no other request either.
    mutating func pause(_ number: Int, of host: String, after error: PawlError, by delay: Interval) {
        let now = clock.now
        if error.failure.concernsConnection {
            schedule.postpone(number, of: host, until: now + delay)
        } else {
            schedule.rest(number, of: host, in: host, until: now + delay, now: now)
        }
    }

    /// During a shorter delay the connection is kept.
    static var shortestPause: Interval { .milliseconds(500) }

    /// The request of a sample has ended: stores the content for it and for other samples of the same
    /// address.
    package mutating func complete(
        _ number: Int, _ result: PipeResult, _ content: SampleContent?, _ response: DownloadResponse?
    ) {
        guard let entry = entries[number] else { return }
        let followers = entry.followers
        release(entry)
        entry.download = nil
        entry.spool = nil
        entry.followers = []
        entry.isWaiting = false
        var first = result
        if let started = entry.started {
            first.attempts = entry.attempts
            first.seconds = (clock.now - started).seconds
        }
        store(number, first, content, response)
        for follower in followers {
            entries[follower]?.requested = entry.requested
            complete(follower, result.shared(), content, response)
        }
    }

    private mutating func store(
        _ number: Int, _ result: PipeResult, _ content: SampleContent?, _ response: DownloadResponse?
    ) {
        guard let entry = entries[number] else { return }
        var record = PipeRecord(number: number, job: .success(entry.job), result: result)
        record.result.key = result.status == .ok || result.status == .already ? entry.key : nil
        if shard?.archive.usesResponses == true {
            record.response = response.map(Boxed.init)
            record.requested = entry.requested
        }
        record.content = content
        record.isPrimary = entry.started != nil
        // The content is in the file of an earlier sample.
        if folder != nil || objects != nil, content == nil, record.result.key != result.key {
            record.copied = result.key
        }
        complete(record)
    }

    /// Stores the content of a record.
    private mutating func complete(_ record: PipeRecord) {
        if shard != nil { return line(up: record) }
        if record.content == nil, record.copied == nil { finish(record) } else { sink.store([record]) }
    }

    /// Reports a complete result.
    mutating func finish(_ record: PipeRecord) {
        let entry = entries.removeValue(forKey: record.number)
        issuedBytes -= entry?.size ?? 0
        if record.isPrimary, let entry { primaries[entry.request] = nil }
        // Samples of the same address that arrived while it was stored.
        defer { for follower in entry?.followers ?? [] { request(follower) } }
        if record.isPrimary, let entry {
            let content = shard == nil ? nil : record.content
            // A sample that the archive has in another form is requested again.
            if shard == nil || content != nil || record.result.status != .ok {
                var learned = Learned(result: record.result, content: content)
                // The archive has another key for each sample, and its content is described again.
                if shard != nil { (learned.result.key, learned.result.sha256) = (nil, nil) }
                recent.note(learned, for: entry.request)
            }
        }
        guard configuration.isOrdered, shard == nil else { return emit(record) }
        for record in ordered.put(record, at: record.number) { emit(record) }
    }

    private mutating func emit(_ record: PipeRecord) {
        done += 1
        reporter.tally.note(record.result, of: (try? record.job.get())?.address.host)
        if record.result.status == .failed || record.result.status == .refused { exitCode = record.result.code }
        if shard == nil { output.append(record.line()) }
    }
}

extension PipeResult {
    /// Adds the facts of the response.
    mutating func describe(_ response: DownloadResponse?, of job: PipeJob) {
        guard let response else { return }
        if response.status > 0 { http = response.status }
        type = response.contentType.flatMap { MediaType.name(in: $0) }
        let url = response.url
        if !url.isEmpty, ![job.url, job.address.text].containsBytes(of: url) { finalURL = Redaction.address(url) }
    }

    init(_ error: PawlError, of job: PipeJob, respecting tags: Set<String>) {
        var failure = error.failure
        if failure.fault == .privateAddress { failure.remedy = "use --allow-private-addresses" }
        self.init(failure, as: failure.fault == .privateAddress ? .refused : .failed)
        // A response that exceeds the limits of the command is a bad response.
        if failure.code == .rejected, let response = error.response, response.hasTag(of: tags) {
            status = .refused
        } else if failure.code == .tooLarge || failure.code == .rejected {
            code = Failure.Code.badResponse.rawValue
        }
        describe(error.response, of: job)
        http = error.status ?? http
    }
}

extension PipeConfiguration {
    /// What is decided here: which redirects are followed, and which header sections are accepted.
    func hooks(_ inbox: PipeInbox) -> DownloadHooks {
        let (accepted, respected) = (accepted, respected)
        var hooks = DownloadHooks()
        hooks.redirect = { redirect in
            await Once.value(instead: .stop) { inbox.post(.redirected(redirect.download, to: redirect.to, $0)) }
        }
        guard !accepted.isEmpty || !respected.isEmpty else { return hooks }
        hooks.validateResponse = { received in
            let type = received.response.contentType
            guard received.response.status < 400 else { return .allow }
            if received.response.hasTag(of: respected) { return .cancel(reason: "its X-Robots-Tag does not permit it") }
            if accepted.isEmpty || accepted.contains(where: { $0.contains(type) }) { return .allow }
            return .cancel(reason: "its type \(type ?? "is not stated and") is not among the accepted ones")
        }
        return hooks
    }
}

extension DownloadResponse {
    /// Whether its X-Robots-Tag fields have one of these tags.
    fileprivate func hasTag(of tags: Set<String>) -> Bool {
        guard !tags.isEmpty else { return false }
        let values = fields.filter { $0.name.lowercased() == "x-robots-tag" }.map(\.value)
        return !tags.isDisjoint(with: RobotsTags.tags(in: values))
    }
}
