import Pawl
import PawlBase
import PawlSystem

// Lookups of hosts, and servers that cannot be connected to.
extension PipeRun {
    /// Looks up the hosts of waiting samples, which use none of the places meanwhile.
    mutating func lookUp() {
        while stopDeadline == nil, let host = schedule.nextLookup(now: clock.now) {
            guard let address = address(ofFirst: host), let query = lookups.query(for: address) else {
                schedule.lookedUp(host, hasAddresses: true)
                continue
            }
            for number in schedule.waiting(of: host) { beginLookup(of: number) }
            let inbox = inbox
            let result = lookups.lookUp(query) { inbox.post(.lookedUp(host, query, $0)) }
            if let result { lookedUp(host, query, result) }
        }
    }

    private func address(ofFirst host: String) -> WebAddress? {
        schedule.waiting(of: host).first.flatMap { $0 < 0 ? requests[$0]?.address : entries[$0]?.address }
    }

    /// Adds a sample to the schedule.
    mutating func queue(_ number: Int, _ address: WebAddress, of host: String, isFirst: Bool = false) {
        schedule.add(
            number, of: host, isFirst: isFirst || number < 0,
            isUrgent: entries[number]?.held != nil || requests[number]?.isUrgent == true,
            needsLookup: lookups.query(for: address) != nil)
        if schedule.isLookedUp(host) { beginLookup(of: number) }
    }

    /// The time of a sample begins with the lookup of its host, and anew when it starts.
    private mutating func beginLookup(of number: Int) {
        guard let entry = entries[number], entry.started == nil else { return }
        let now = clock.now
        entry.started = now
        entry.isLookedUp = true
        if let timeout = configuration.sampleTimeout { deadlines.push(number, at: now + timeout) }
    }

    mutating func lookedUp(_ host: String, _ query: HostQuery, _ result: HostResult) {
        let now = clock.now
        let samples = Array(schedule.waiting(of: host))
        if result != .unavailable { outage.unresolved.remove(host) }
        switch result {
        case .addresses:
            for number in samples {
                guard let entry = entries[number], entry.isLookedUp else { continue }
                entry.isLookedUp = false
                if entry.attempts == 0 { entry.started = nil }
            }
            schedule.lookedUp(host, hasAddresses: true)
        case .missing:
            schedule.lookedUp(host, hasAddresses: false)
            for number in samples { endLookup(of: number, query, result) }
        case .unavailable where !downloader.isOnline:
            // No attempt counts that this machine could not make.
            outage.unresolved.insert(host)
            schedule.lookedUp(host, hasAddresses: false, until: now + .seconds(1))
        case .unavailable:
            var attempts = 1
            let failed = samples.filter { countAttempt(of: $0, &attempts) }
            let policy = RetryPolicy(delay: Interval(configuration.download.retryDelay))
            let delay = policy.wait(attempt: attempts, retryAfter: nil, dice: &dice)
            schedule.lookedUp(host, hasAddresses: false, until: now + delay)
            for number in failed { endLookup(of: number, query, result) }
        }
    }

    /// Whether the lookup was the last attempt of the sample; else `attempts` is the number of those until now.
    mutating func countAttempt(of number: Int, _ attempts: inout Int) -> Bool {
        let retries = configuration.download.retries
        if number < 0 {
            guard let request = requests[number] else { return false }
            if request.attempts > retries || breakers.isProbed(request.server) { return true }
            attempts = request.attempts
            requests[number]?.attempts += 1
        } else {
            guard let entry = entries[number] else { return false }
            entry.attempts = max(1, entry.attempts)
            if entry.attempts > retries || breakers.isProbed(entry.server) { return true }
            attempts = entry.attempts
            entry.attempts += 1
        }
        return false
    }

    /// The host of a sample has no addresses.
    private mutating func endLookup(of number: Int, _ query: HostQuery, _ result: HostResult) {
        if number < 0 {
            guard let address = requests[number]?.address, let failure = result.failure(of: query, for: address) else {
                return
            }
            return endRobots(number, after: PawlError(failure))
        }
        // Another one may have ended it as well.
        guard let entry = entries[number], entry.isWaiting, let failure = result.failure(of: query, for: entry.address)
        else { return }
        entry.attempts = max(1, entry.attempts)
        schedule.remove(number, of: entry.place)
        let isOwn = entry.held == nil
        complete(number, PipeResult(failure), nil, nil)
        if isOwn { note(PawlError(failure), of: entry) }
    }

    /// A host whose name could not be resolved by a request is looked up before the next one.
    mutating func lookUpAgain(_ address: WebAddress, of host: String, after error: PawlError) {
        guard error.failure.fault == .nameResolution, error.isConnectionFailure(of: address),
            lookups.query(for: address) != nil
        else { return }
        schedule.lookUpAgain(host)
    }

    // MARK: servers

    /// A sample has failed: the server cannot be connected to, or has been.
    mutating func note(_ error: PawlError, of entry: Entry) {
        guard error.isConnectionFailure(of: entry.job.address) else { return breakers.connected(entry) }
        noteDead(entry, error.failure)
    }

    /// A sample has failed, because its server could not be connected to.
    mutating func noteDead(_ entry: Entry, _ failure: Failure) {
        let (server, now) = (entry.server, clock.now)
        guard breakers.failed(server, failure, at: now), let failure = breakers.rejection(of: server, at: now) else {
            return
        }
        let waiting = schedule.removeAll(of: entry.host) { [entries] number in
            entries[number].map { $0.server == server && $0.held == nil } ?? false
        }
        for number in waiting { reject(number, failure) }
    }

    /// Ends a sample whose server cannot be connected to.
    mutating func reject(_ number: Int, _ failure: Failure) {
        guard let entry = entries[number] else { return }
        refuse(number, PipeResult(failure.rejection(of: entry.job.address)))
    }
}

extension PipeConfiguration {
    /// Connecting has three quarters of the time of a sample: so one that could not connect is known from one that was slow.
    func limitingConnects() -> PipeConfiguration {
        guard let sampleTimeout else { return self }
        var limited = self
        let timeout = download.connectTimeout ?? download.timeout
        limited.download.connectTimeout = min(timeout, Duration(sampleTimeout * 0.75))
        return limited
    }
}

extension Failure {
    /// Whether the server could not be connected to.
    var concernsConnection: Bool {
        switch fault {
        case .nameResolution, .unreachable, .connectionRefused, .connectTimeout: true
        case _: false
        }
    }

    /// The same failure of another sample.
    func moved(to address: WebAddress) -> Failure {
        var failure = self
        failure.place = address.redacted
        return failure
    }
}

extension ServerBreakers {
    /// The name of the server is only made when there are breakers.
    func rejection(of entry: PipeRun.Entry, at now: Instant) -> Failure? {
        count == 0 ? nil : rejection(of: entry.server, at: now)
    }

    mutating func start(_ entry: PipeRun.Entry, at now: Instant) -> Decision {
        count == 0 ? .attempt : start(entry.server, at: now)
    }

    mutating func connected(_ entry: PipeRun.Entry) { if count > 0 { connected(entry.server) } }
}

extension PawlError {
    /// Whether its sample gives up its place for the delay: other requests to the host may fail as well now.
    var concernsHost: Bool { status == 429 || status == 503 || failure.concernsConnection }

    /// Whether the server of the address could not be connected to: not that of a redirect's target.
    func isConnectionFailure(of address: WebAddress) -> Bool {
        guard failure.concernsConnection else { return false }
        // An object is requested by the URL of its store.
        if address.isLocated { return true }
        guard let failed = failingURL.flatMap({ try? WebAddress.parse($0).address }) else { return true }
        return failed.host == address.host && failed.port == address.port
    }
}
