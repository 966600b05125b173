import Pawl
import PawlBase
import PawlSystem

/// What a run knows of servers that nothing leads to while the monitor reports no network.
struct NetworkOutage: Sendable {
    /// How long other samples of such a server fail at once.
    static let pause = Interval.seconds(60)

    /// When a sample first waited for the network.
    var since: Instant?
    /// The hosts whose lookup had no response.
    var unresolved: Set<String> = []
    /// The servers whose samples have failed, and until when others do.
    var unreached: [String: Instant] = [:]
    var failure: Failure?

    /// The failure of another sample of the server.
    func rejection(of host: String, at now: Instant) -> Failure? {
        unreached[host].map { now < $0 } == true ? failure : nil
    }
}

// The network of this machine: what its monitor reports is a hint, so every server is tried.
extension PipeRun {
    /// Ends samples that wait for the network when there has been none for too long, and the others of their servers.
    mutating func lookAtNetwork(now: Instant) {
        guard !downloader.isOnline else {
            outage = NetworkOutage()
            return
        }
        let hosts = hostsWithoutNetwork
        guard !hosts.isEmpty else { return }
        let since = outage.since ?? now
        outage.since = since
        guard since + configuration.networkTimeout <= now, stopDeadline == nil else { return }
        var failure = Failure(
            .network, "cannot fetch", at: "the samples",
            because: "this machine has had no network for \(configuration.networkTimeout.seconds) s",
            remedy: "run it again when there is one, or raise --network-timeout")
        failure.fault = .unreachable
        // The samples of a published shard would be missing permanently.
        guard shard == nil else {
            self.failure = self.failure ?? failure
            return
        }
        outage.failure = failure
        for host in hosts { outage.unreached[host] = now + NetworkOutage.pause }
        for (number, request) in requests where hosts.contains(request.host) && isStuck(request) {
            if let download = request.download { downloader.abandon(download) }
            endRobots(number, .unknown(PipeResult(failure.moved(to: request.address))), isKept: false)
        }
        for number in entries.keys.sorted() {
            guard let entry = entries[number], hosts.contains(entry.place), isStuck(entry), withdraw(number, entry)
            else { continue }
            complete(number, PipeResult(failure.moved(to: entry.job.address)), nil, nil)
        }
    }

    /// The servers of samples that wait for the network, after an attempt.
    private var hostsWithoutNetwork: Set<String> {
        var hosts: Set<String> = []
        for entry in entries.values {
            let isUnresolved = entry.isWaiting && outage.unresolved.contains(entry.place)
            if isUnresolved || entry.download.map(waitsForNetwork) == true { hosts.insert(entry.place) }
        }
        for request in requests.values {
            let isUnresolved = request.isWaiting && outage.unresolved.contains(request.host)
            if isUnresolved || request.download.map(waitsForNetwork) == true { hosts.insert(request.host) }
        }
        return hosts
    }

    private func isStuck(_ entry: Entry) -> Bool { entry.download.map(waitsForNetwork) ?? true }

    private func isStuck(_ request: RobotsRequest) -> Bool { request.download.map(waitsForNetwork) ?? true }

    private func waitsForNetwork(_ download: Download) -> Bool { download.snapshot.state == .waitingForNetwork }
}
