import Pawl
import Synchronization

/// What is counted for `/metrics`, in Prometheus' text format.
final class Figures: Sendable {
    private struct Counts {
        var received: Int64 = 0
        var finished = 0
        var retries = 0
        var missed = 0
        /// By code of the exit table.
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
            case .state, .started, .notice, .added, .changed: break
            }
        }
    }

    func text(_ manager: DownloadManager) async -> String {
        let counts = counts.withLock { $0 }
        var page = Page()
        if let queue = try? await manager.counts(), let running = try? await manager.running() {
            page.gauge(
                "pawl_downloads",
                "Downloads by standing.",
                [
                    (#"state="running""#, Double(queue.running)),
                    (#"state="waiting""#, Double(queue.waiting)),
                    (#"state="ended""#, Double(queue.ended)),
                ]
            )
            page.gauge(
                "pawl_download_bytes_per_second",
                "Speed of all downloads over the last second.",
                [
                    ("", Double(running.reduce(0) { $0 + $1.speed }))
                ]
            )
            page.gauge(
                "pawl_connections",
                "Connections in use.",
                [
                    ("", Double(running.reduce(0) { $0 + $1.connections }))
                ]
            )
        }
        page.counter(
            "pawl_received_bytes_total",
            "Bytes received for downloads that finished.",
            [("", Double(counts.received))]
        )
        page.counter("pawl_finished_total", "Downloads that finished.", [("", Double(counts.finished))])
        page.counter(
            "pawl_retries_total",
            "Attempts that failed and were followed by another.",
            [("", Double(counts.retries))]
        )
        page.counter(
            "pawl_missed_events_total",
            "Events that this page was too slow for.",
            [("", Double(counts.missed))]
        )
        page.counter(
            "pawl_failures_total",
            "Downloads that failed, by code of the exit table.",
            counts.failures.sorted { $0.key < $1.key }.map { (#"code="\#($0.key)""#, Double($0.value)) }
        )
        return page.text
    }

    private struct Page {
        var text = ""

        mutating func gauge(_ name: String, _ help: String, _ values: [(labels: String, value: Double)]) {
            add(name, help, "gauge", values)
        }

        mutating func counter(_ name: String, _ help: String, _ values: [(labels: String, value: Double)]) {
            add(name, help, "counter", values)
        }

        private mutating func add(
            _ name: String,
            _ help: String,
            _ kind: String,
            _ values: [(labels: String, value: Double)]
        ) {
            text += "# HELP \(name) \(help)\n# TYPE \(name) \(kind)\n"
            for (labels, value) in values {
                text += name + (labels.isEmpty ? "" : "{\(labels)}") + " \(value)\n"
            }
        }
    }
}
