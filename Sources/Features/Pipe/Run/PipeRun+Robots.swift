import Pawl
import PawlBase
import PawlCollections
import PawlSystem

/// The cache of robots.txt rules, by origin.
struct RobotsCache: Sendable {
    enum Finding: Sendable {
        case rules(RobotsRules)
        /// The rules are unknown; samples of the server end with this result.
        case unknown(PipeResult)
    }

    private enum State: Sendable {
        /// Requested; these samples wait for it.
        case pending([Int])
        case known(Finding)
    }

    private static let room = 32 << 20
    private var states: [Origin: State] = [:]
    /// The origins whose finding is known, the oldest one first.
    private var known = FIFO<Origin>()
    private var bytes = 0

    /// The finding for an origin; `nil` if the sample has to wait, with `isFirst` if the file has yet to be
    /// requested.
    mutating func finding(for origin: Origin, of number: Int) -> (finding: Finding?, isFirst: Bool) {
        switch states[origin] {
        case .known(let finding): return (finding, false)
        case .pending(let numbers):
            states[origin] = .pending(numbers + [number])
            return (nil, false)
        case nil:
            states[origin] = .pending([number])
            return (nil, true)
        }
    }

    func known(_ origin: Origin) -> Finding? { if case .known(let finding) = states[origin] { finding } else { nil } }

    /// Stores a finding, if `isKept`; returns the samples that waited for it.
    mutating func note(_ finding: Finding, for origin: Origin, isKept: Bool) -> [Int] {
        guard case .pending(let numbers) = states[origin] else { return [] }
        states[origin] = isKept ? .known(finding) : nil
        guard isKept else { return numbers }
        known.append(origin)
        bytes += Self.size(of: finding)
        // The oldest is dropped, and requested again if needed.
        while bytes > Self.room, known.count > 1, let oldest = known.popFirst() {
            if case .known(let old) = states[oldest] { bytes -= Self.size(of: old) }
            states[oldest] = nil
        }
        return numbers
    }

    private static func size(of finding: Finding) -> Int {
        if case .rules(let rules) = finding { 256 + rules.size } else { 512 }
    }
}

/// A request for a robots.txt in progress.
struct RobotsRequest: Sendable {
    var origin: Origin
    var host: String
    var spool: SampleSpool?
    var download: Download?
    var attempts = 1
    /// Why the last attempt failed.
    var lastError: PawlError?
    /// Whether it is known when it is given up.
    var hasDeadline = false
    /// Whether it has to begin, for the first time or again.
    var isWaiting = true
    /// Whether a redirect waits for it.
    var isUrgent = false

    var server: String { "\(host):\(origin.port)" }
    var address: WebAddress {
        WebAddress(scheme: origin.scheme, host: origin.host, port: origin.port, path: "/robots.txt", query: nil)
    }
}

extension PipeRun {
    /// Queues a sample as soon as the server's rules are known and allow it.
    mutating func consult(_ number: Int, _ address: WebAddress, _ host: String) {
        guard configuration.obeysRobots, address.scheme == .http || address.scheme == .https else {
            return queue(number, address, of: host)
        }
        let (finding, isFirst) = robots.finding(for: address.origin, of: number)
        if let finding { return apply(finding, to: number) }
        let isHeld = entries[number]?.held != nil
        guard isFirst else { return isHeld ? hurry(address.origin) : () }
        robotsNumber -= 1
        var request = RobotsRequest(origin: address.origin, host: host)
        request.isUrgent = isHeld
        requests[robotsNumber] = request
        queue(robotsNumber, address, of: host)
    }

    /// Requests a robots.txt before others, since a redirect waits for it.
    private mutating func hurry(_ origin: Origin) {
        guard let (number, request) = requests.first(where: { $1.origin == origin }), request.isWaiting,
            !request.isUrgent
        else { return }
        requests[number]?.isUrgent = true
        schedule.remove(number, of: request.host)
        queue(number, request.address, of: request.host)
    }

    private mutating func apply(_ finding: RobotsCache.Finding, to number: Int) {
        guard let entry = entries[number], entry.isWaiting else { return }
        switch finding {
        case .unknown(let result): refuse(number, result)
        case .rules(let rules):
            let address = entry.address
            guard rules.allows(address) else {
                let failure = Failure(
                    .rejected, "cannot request", at: address.redacted, because: "robots.txt disallows it")
                return refuse(number, PipeResult(failure, as: .refused))
            }
            if let delay = rules.delay { schedule.slowDown(entry.place, to: configuration.share.delay(of: delay)) }
            queue(number, address, of: entry.place)
        }
    }

    mutating func refuse(_ number: Int, _ result: PipeResult) {
        if let request = entries[number]?.request { primaries[request] = nil }
        complete(number, result, nil, nil)
    }

    /// Requests a robots.txt.
    mutating func startRobots(_ number: Int) {
        guard var request = requests[number] else { preconditionFailure("a scheduled request is known") }
        var options = options(after: request.attempts)
        options.checksum = nil
        options.maximumRedirects = RobotsRules.mostRedirects
        // Rules are no content: where they come from does not matter.
        options.allowsDowngrade = true
        let origin = request.origin
        let host = origin.host.contains(":") ? "[\(origin.host)]" : origin.host
        let spool = SampleSpool(limit: Int64(RobotsRules.limit), isCut: true, in: spoolFolder)
        requests[number]?.isWaiting = false
        request.isWaiting = false
        switch breakers.start(request.server, at: clock.now) {
        case .attempt: break
        case .probe: options.retries = 0
        case .reject(let failure):
            return endRobots(number, .unknown(PipeResult(failure.rejection(of: request.address))), isKept: false)
        }
        do throws(PawlError) {
            let download = try downloader.add(
                "\(origin.scheme.name)://\(host):\(origin.port)/robots.txt", options: options, hooks: nil,
                takesEverySuccess: true, to: spool)
            request.spool = spool
            request.download = download
            if !request.hasDeadline {
                request.hasDeadline = true
                robotsDeadlines.push(number, at: clock.now + longestRobots)
            }
            requests[number] = request
            numbers[download.id] = number
            download.resume()
        } catch {
            breakers.connected(request.server)
            endRobots(number, .unknown(PipeResult(error.failure, as: .refused)))
        }
    }

    /// The time for a robots.txt; one that takes longer is truncated.
    private var longestRobots: Interval { min(.seconds(120), configuration.sampleTimeout ?? .seconds(120)) }

    mutating func hearRobots(_ number: Int, _ kind: DownloadEvent.Kind) {
        switch kind {
        case .finished:
            if let server = requests[number]?.server { breakers.connected(server) }
            endRobots(number, .rules(rules(of: number)))
        case .failed(let error) where error.failure.code == .tooLarge:
            if let server = requests[number]?.server { breakers.connected(server) }
            endRobots(number, .rules(rules(of: number)))
        case .failed(let error): endRobots(number, after: error)
        case .retry(let error, let delay): postponeRobots(number, after: error, by: Interval(delay))
        case .state, .started, .notice, .added, .changed, .queueChanged, .missed: break
        }
    }

    /// Other hosts need its place meanwhile.
    private mutating func postponeRobots(_ number: Int, after error: PawlError, by delay: Interval) {
        requests[number]?.attempts += 1
        requests[number]?.lastError = error
        guard error.concernsHost, delay >= Self.shortestPause, stopDeadline == nil, let request = requests[number],
            let download = request.download
        else { return }
        numbers[download.id] = nil
        downloader.abandon(download)
        requests[number]?.download = nil
        requests[number]?.spool = nil
        requests[number]?.isWaiting = true
        lookUpAgain(request.address, of: request.host, after: error)
        pause(number, of: request.host, after: error, by: delay)
    }

    /// Ends the request for a robots.txt that takes too long: what is there of it counts.
    ///
    /// A server that has sent nothing of it allows nothing (RFC 9309 §2.3.1.4), unless its response was a 4xx.
    mutating func expireRobots(_ number: Int) {
        guard let request = requests[number] else { return }
        if let download = request.download { downloader.abandon(download) }
        let rules = rules(of: number)
        if let spool = request.spool, spool.content.length > 0 { return endRobots(number, .rules(rules)) }
        if let error = request.lastError { return endRobots(number, after: error) }
        let failure = Failure(
            .timeout, "cannot download", at: request.address.redacted,
            because: "it took longer than \(longestRobots.seconds) s")
        if breakers.isProbed(request.server) { _ = breakers.failed(request.server, failure, at: clock.now) }
        endRobots(number, .unknown(PipeResult(failure)))
    }

    func rules(of number: Int) -> RobotsRules {
        guard let bytes = try? requests[number]?.spool?.content.bytes() else { return RobotsRules() }
        // Some servers compress what was requested plain.
        guard ContentDecoder.isGzip(bytes) else { return RobotsRules(parsing: bytes) }
        return RobotsRules(parsing: Gzip.decompress(bytes, limit: 16 * RobotsRules.limit) ?? [])
    }

    /// RFC 9309 §2.3.1: everything is allowed if there is no file: the response is a 4xx (also a 429, once its retries are
    /// spent) but not that of a proxy, has no content, or is one more redirect; nothing if the file cannot be fetched, or only
    /// a part of it, or if a redirect leads nowhere.
    private func finding(to error: PawlError) -> RobotsCache.Finding {
        var failure = error.failure
        if let status = error.status ?? error.response?.status, RobotsRules.isMissing(status: status) {
            return .rules(RobotsRules())
        }
        if failure.code == .tooManyRedirects { return .rules(RobotsRules()) }
        let isUnreachable = error.status == nil && failure.fault != .privateAddress
        if failure.fault == .privateAddress { failure.remedy = "use --allow-private-addresses" }
        // A transient fault counts as failed, so that the sample can be retried.
        return .unknown(PipeResult(failure, as: isUnreachable ? .failed : .refused))
    }

    /// Without a connection all samples of the server fail, until the next attempt.
    mutating func endRobots(_ number: Int, after error: PawlError) {
        guard let request = requests[number] else { return }
        var isKept = true
        if error.isConnectionFailure(of: request.address) {
            let failure = error.failure
            isKept = !breakers.failed(request.server, failure, isShared: true, at: clock.now)
        } else {
            breakers.connected(request.server)
        }
        endRobots(number, finding(to: error), isKept: isKept)
    }

    /// `isKept`: the finding is that for later samples too.
    mutating func endRobots(_ number: Int, _ finding: RobotsCache.Finding, isKept: Bool = true) {
        guard let request = requests.removeValue(forKey: number) else { return }
        if let download = request.download { numbers[download.id] = nil }
        if request.isWaiting { schedule.remove(number, of: request.host) } else { schedule.ended(of: request.host) }
        for waiting in robots.note(finding, for: request.origin, isKept: isKept) { apply(finding, to: waiting) }
    }
}
