import Pawl
import PawlBase
import PawlCollections
import PawlSystem

// Redirects: the rules of the target's robots.txt, and the places and delays of its host, apply to them as to addresses of jobs.
// Meanwhile their samples use none of the places.
extension PipeRun {
    mutating func redirected(_ id: Download.ID, to url: String, _ held: Once<RedirectDecision>) {
        guard let number = numbers[id], let entry = entries[number], entry.held == nil,
            let target = try? WebAddress.parse(url).address
        else { return held.give(.stop) }
        entry.target = target
        entry.connectionFailure = nil
        // Its own server has responded.
        breakers.connected(entry)
        let place = HostPartition.server(target.host)
        if place == entry.place, robots.allows(target, isObeyed: configuration.obeysRobots) {
            return held.give(.follow)
        }
        schedule.ended(of: entry.place, keepsConnection: true)
        entry.place = place
        entry.held = held
        entry.isWaiting = true
        heldRedirects += 1
        if stopDeadline != nil { return drop(number) }
        consult(number, target, place)
    }

    /// The sample has a place of the target's host.
    mutating func follow(_ entry: Entry) {
        entry.isWaiting = false
        entry.held?.give(.follow)
        entry.held = nil
        heldRedirects -= 1
    }

    /// Ends the request of a sample whose redirect was not followed.
    mutating func release(_ entry: Entry) {
        guard let held = entry.held else { return }
        if let download = entry.download {
            numbers[download.id] = nil
            downloader.abandon(download)
        }
        entry.download = nil
        entry.held = nil
        heldRedirects -= 1
        held.give(.stop)
    }

    /// The number of redirects from which on no further sample starts: each keeps a connection.
    static func mostHeld(_ jobs: Int) -> Int { max(jobs, 64) }
}

extension RobotsCache {
    /// Whether the rules are known, or do not matter, and allow the address.
    fileprivate func allows(_ address: WebAddress, isObeyed: Bool) -> Bool {
        guard isObeyed else { return true }
        guard case .rules(let rules)? = known(address.origin) else { return false }
        return rules.allows(address)
    }
}
