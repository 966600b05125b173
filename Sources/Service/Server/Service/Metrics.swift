import Pawl
import PawlBase
import PawlCore
import PawlWeb
import Synchronization

/// The metrics for `/metrics`, in Prometheus' text format.
final class Metrics: Sendable {
    private struct Counts {
        var received: Int64 = 0
        var finished = 0
        var retries = 0
        var missed = 0
        /// By exit code.
        var failures: [UInt8: Int] = [:]
    }

    private let counts = Mutex(Counts())

    func note(_ event: DownloadEvent) {
        counts.withLock { counts in
            switch event.kind {
            case .finished(let file):
                counts.finished += 1
                counts.received += file.received
            case .failed(let error): counts.failures[error.code.rawValue, default: 0] += 1
            case .retry: counts.retries += 1
            case .missed(let count): counts.missed += count
            case .state, .started, .notice, .added, .changed, .queueChanged: break
            }
        }
    }

    /// `latencies` are the server's.
    func text(
        _ manager: DownloadManager, _ latencies: LatencyHistogram?, orphanedSessions: OrphanedSessions?
    ) async -> String {
        var page = PrometheusWriter()
        if let queue = try? await manager.counts(), let running = try? await manager.running() {
            page.gauge(
                "pawl_downloads", "Downloads by state.",
                [
                    ([("state", "running")], Double(queue.running)), ([("state", "waiting")], Double(queue.waiting)),
                    ([("state", "ended")], Double(queue.ended)),
                ])
            page.gauge(
                "pawl_download_bytes_per_second", "Speed of all downloads over the last second.",
                Double(running.reduce(0) { $0 + $1.speed }))
            page.gauge("pawl_connections", "Open connections.", Double(running.reduce(0) { $0 + $1.connections }))
        }
        if let budgets = try? await manager.hostBudgets() { add(budgets, to: &page) }
        add(counts.withLock { $0 }, to: &page)
        if let orphanedSessions {
            page.gauge(
                "pawl_adopted_sessions", "Background sessions taken over while their programs are not running.",
                Double(orphanedSessions.count))
        }
        if let latencies {
            page.histogram(
                "pawl_loop_delay_seconds", "Delay of responses and messages before the server's thread handled them.",
                latencies)
        }
        return page.text
    }

    /// Maximum number of hosts, those with the most connections: each is a separate time series in Prometheus.
    private static let hosts = 100

    private func add(_ budgets: [Origin: HostBudget], to page: inout PrometheusWriter) {
        let busiest = budgets.map { (name: $0.key.text, budget: $0.value) }.sorted {
            ($1.budget.inUse, $0.name) < ($0.budget.inUse, $1.name)
        }.prefix(Metrics.hosts)
        page.gauge(
            "pawl_host_connections", "Connections per host, for the \(Metrics.hosts) hosts with the most.",
            busiest.map { ([("host", $0.name)], Double($0.budget.inUse)) })
        page.gauge(
            "pawl_host_connections_limit", "Connection limit per host, for hosts that refused a further one.",
            busiest.compactMap { host in host.budget.limit.map { ([("host", host.name)], Double($0.connections)) } })
    }

    private func add(_ counts: Counts, to page: inout PrometheusWriter) {
        page.counter("pawl_received_bytes_total", "Bytes received for finished downloads.", Double(counts.received))
        page.counter("pawl_finished_total", "Finished downloads.", Double(counts.finished))
        page.counter("pawl_retries_total", "Retries after failed attempts.", Double(counts.retries))
        page.counter(
            "pawl_missed_events_total", "Events dropped because the metrics consumer was too slow.",
            Double(counts.missed))
        page.counter(
            "pawl_failures_total", "Failed downloads, by exit code.",
            counts.failures.sorted { $0.key < $1.key }.map { ([("code", "\($0.key)")], Double($0.value)) })
    }
}
