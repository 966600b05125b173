import Pawl
import PawlCore
import PawlSystem

// Redirects to hosts whose lookup takes long: their samples use none of the places meanwhile.
extension PipeRun {
    /// Ends the request of a sample, without counting an attempt, if it waits for the lookup of a redirect's target;
    /// `false` if it does not.
    ///
    /// The sample starts again when the target has addresses: from then on it is resolved at once.
    mutating func park(_ number: Int, after error: PawlError) -> Bool {
        guard stopDeadline == nil, let entry = entries[number], let download = entry.download,
            error.failure.fault == .nameResolution,
            let target = error.failingURL.flatMap({ try? WebAddress.parse($0).address }),
            // Again only for another one, so that it ends.
            target.host != entry.job.address.host, target.host != entry.redirect?.host,
            entry.job.address.scheme != .s3, lookups.query(for: target) != nil
        else { return false }
        numbers[download.id] = nil
        downloader.abandon(download)
        (entry.download, entry.spool, entry.connectionFailure) = (nil, nil, nil)
        (entry.redirect, entry.isParked) = (target, true)
        schedule.ended(of: entry.host, keepsConnection: true)
        // Its own server has responded.
        breakers.connected(entry)
        lookUpRedirect(number)
        return true
    }

    mutating func lookUpRedirect(_ number: Int) {
        guard let entry = entries[number], entry.isParked, let target = entry.redirect,
            let query = lookups.query(for: target)
        else { return }
        let inbox = inbox
        let result = lookups.lookUp(query) { inbox.post(.redirectLookedUp(number, query, $0)) }
        if let result { redirectLookedUp(number, query, result) }
    }

    mutating func redirectLookedUp(_ number: Int, _ query: HostQuery, _ result: HostResult) {
        guard let entry = entries[number], entry.isParked, let target = entry.redirect else { return }
        if result != .unavailable { outage.unresolved.remove(target.host) }
        switch result {
        case .addresses:
            (entry.isParked, entry.isWaiting) = (false, true)
            let needsLookup = lookups.query(for: entry.job.address) != nil
            return schedule.add(number, of: entry.host, isFirst: true, needsLookup: needsLookup)
        case .unavailable where !downloader.isOnline:
            outage.unresolved.insert(target.host)
            return redirectLookups.push(number, at: clock.now + .seconds(1))
        case .unavailable:
            var attempts = 1
            guard !countAttempt(of: number, &attempts) else { break }
            let policy = RetryPolicy(delay: .seconds(configuration.download.retryDelay))
            let delay = policy.wait(attempt: attempts, retryAfter: nil, dice: &dice)
            return redirectLookups.push(number, at: clock.now + delay)
        case .missing: break
        }
        guard let failure = result.failure(of: query, for: target) else { return }
        entry.isParked = false
        complete(number, PipeResult(failure), nil, nil)
    }
}
