import PawlBase
import PawlCore
import PawlEngine
import Synchronization

// The servers' traffic under a rate limit.
extension Law {
    /// `size` bytes under a rate limit, for which servers have sent `sent` over so many connections, and which were
    /// compared with `compared` bytes of requests that fetch nothing else.
    package static func traffic(sent: Int64, size: Int64, compared: Int64, connections: Int) -> String? {
        let allowed = size + compared + Int64(connections) * 64 * 1024
        return sent <= allowed ? nil : "\(sent) bytes were sent for \(size) over \(connections) connections"
    }
}

extension Simulation {
    /// Checks a finished download: under a limit nothing was discarded except through faults.
    func checkTraffic(_ index: Int) {
        let download = scenario.downloads[index]
        guard isCalm, scenario.rate != nil || download.job.rateLimit != nil, !state.withLock({ $0.isFinale }),
            !course(index, { $0.startedOver }), download.job.plan.selection == .whole, download.existing == nil,
            download.seeding == nil
        else { return }
        let requests = world.network.requests.filter { $0.address.path == download.path }
        // A server's fault costs the bytes in transit, and so does content that cannot be used.
        guard let host = requests.first?.address.host, requests.allSatisfy({ $0.wasUsed && $0.address.host == host })
        else { return }
        let size = world.network.versions(of: download.path)[0].length
        let sent = requests.reduce(0) { $0 + $1.taken.count + $1.unread }
        note("downloads under a limit whose traffic was counted")
        if download.job.plan.pieces != nil { note("downloads with pieces under a limit") }
        if requests.count > 1 { note("connections under a limit", requests.count) }
        if let text = Law.traffic(
            sent: sent, size: size, compared: course(index) { $0.compared }, connections: requests.count)
        {
            violate(.traffic, "\(index): \(text)")
        }
    }

    /// Whether this world has no incidents.
    private var isCalm: Bool { scenario.atEvents.isEmpty && scenario.atTimes.isEmpty && scenario.traps.isEmpty }
}

extension SimulatedRequest {
    /// Whether it received bytes of the content and did not fail.
    fileprivate var wasUsed: Bool {
        guard status == 200 || status == 206 else { return false }
        if case .reported(.failed) = end { return false }
        return !taken.isEmpty
    }
}
