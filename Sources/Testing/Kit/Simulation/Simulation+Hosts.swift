import Pawl
import PawlBase
import PawlCore
import PawlEngine
import Synchronization

/// What is remembered of hosts from process to process.
final class WorldNotes: HostNotes {
    private struct State: Sendable {
        var notes: [String: HostNote]
        var count = 0
    }

    private let state: Mutex<State>

    init(_ notes: [String: HostNote]) { state = Mutex(State(notes: notes)) }

    /// How often a limit was noted.
    var count: Int { state.withLock { $0.count } }

    func note(of origin: Origin) -> HostNote? { state.withLock { $0.notes[origin.host] } }
    func note(_ note: HostNote, of origin: Origin) {
        state.withLock { state in
            state.notes[origin.host] = note
            state.count += 1
        }
    }
    func forget(_ origin: Origin) { state.withLock { $0.notes[origin.host] = nil } }
    func forget(host: String?) {}
    func secured(_ address: WebAddress) -> WebAddress { address }
    func note(transportSecurity field: String, of host: String) {}
}

extension Scenario {
    /// What earlier runs have stored of hosts that may allow more, or as much.
    var remembered: [String: HostNote] {
        var luck = Dice(seed: seed &* 7_351 &+ 11)
        var notes: [String: HostNote] = [:]
        for host in servers.keys.sorted() where luck.chance(0.15) {
            notes[host] = HostNote(
                connections: luck.number(1...3), reason: .status(503), since: UnixTime(seconds: 1_700_000_000))
        }
        return notes
    }

    /// Makes a world of many small downloads of one host, one of which is refused each time, and one stalls.
    ///
    /// Drawn apart, so that other worlds do not depend on it.
    mutating func addCrowd() {
        var luck = Dice(seed: seed &* 9_337 &+ 3)
        guard luck.chance(0.04), downloads.count < 3 else { return }
        let host = "crowd.test"
        var server = SimulatedServer()
        server.latency = .milliseconds(Int64(luck.number(1...40)))
        server.rate = luck.pick([600_000, 2_000_000])
        if luck.chance(0.3) { server.quota = luck.number(3...9) }
        if luck.chance(0.3) {
            server.connections = luck.number(2...4)
            server.overflow = luck.pick([.refuse, .busy(retryAfter: nil), .deny, .drop])
        }
        slots = luck.number(3...6)
        let count = luck.number(6...12)
        let (bad, stalled) = (luck.below(count), luck.below(count))
        server.faults[stalled] = .stalled(after: luck.bytes(0...40_000))
        for index in 0..<count {
            let path = "/crowd\(index)"
            var file = SimulatedFile(Payload(seed: contentSeed(20 + index), length: luck.bytes(1...120_000)))
            if index == bad { file.status = luck.pick([503, 429, 403]) }
            server.files[path] = file
            var job = Job(
                plan: DownloadPlan(sources: [Self.address(host, path)]),
                settings: TransferSettings(TransferSettings.Values()), folder: Self.folder)
            job.plan.ramp = luck.pick([.fixed(1), .fixed(3), .automatic(maximum: 8)])
            job.plan.retry = RetryPolicy(retries: 6, delay: .milliseconds(150))
            job.plan.timeout = .milliseconds(Int64(luck.number(1_000...4_000)))
            var download = Download(job: job, path: path)
            download.canFinish = index != bad
            downloads.append(download)
        }
        servers[host] = server
    }
}

// The laws of hosts.
extension Simulation {
    func checkHosts() {
        guard let scheduler = state.withLock({ $0.isDead || $0.isClosing ? nil : $0.scheduler }) else { return }
        let now = world.timeline.now
        let budgets = scheduler.engine.budgets
        let (before, served) = state.withLock { state in
            defer { state.budgets = budgets }
            for (origin, budget) in budgets where budget.serving > 0 {
                state.served[origin, default: []].append((now, budget.serving))
            }
            return (state.budgets, state.served)
        }
        for (origin, budget) in budgets {
            if budget == before[origin] { continue }
            if let text = Law.turns(budget, before: before[origin], now: now) {
                violate(.turns, "\(origin.host): \(text)")
            }
            let recent = (served[origin] ?? []).reversed().prefix { now - $0.at < HostBudget.recovery }
            let most = recent.map(\.count).max() ?? 0
            if let text = Law.fair(budget, before: before[origin], recent: most) {
                violate(.fair, "\(origin.host): \(text)")
            }
            if !budget.line.isEmpty { note("waits for hosts") }
            if budget.limit != nil, before[origin]?.limit == nil { note("limits of hosts seen") }
            if budget.memory != nil { note("hosts with a limit of an earlier run") }
        }
    }
}
