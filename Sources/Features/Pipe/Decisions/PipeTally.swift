import PawlBase

/// Counts of one run of `pawl pipe`, for progress and metrics.
package struct PipeTally: Hashable, Sendable {
    private struct Host: Hashable, Sendable {
        var samples = 0
        var seconds = 0.0
    }

    private struct Cause: Hashable, Sendable {
        var status: PipeResult.Status
        var text: String
    }

    private static let mostHosts = 10_000
    private static let mostCauses = 1_000
    private static let shownCauses = 5

    package private(set) var counts: [PipeResult.Status: Int] = [:]
    package private(set) var bytes: Int64 = 0
    package private(set) var requests = 0
    private var hosts: [String: Host] = [:]
    private var causes: [Cause: Int] = [:]

    package init() {}

    package var samples: Int { counts.values.reduce(0, +) }

    package mutating func note(_ result: PipeResult, of host: String?) {
        counts[result.status, default: 0] += 1
        if result.status == .ok { bytes &+= result.bytes ?? 0 }
        requests += result.attempts
        if result.status == .failed || result.status == .refused, let text = result.cause {
            let cause = Cause(status: result.status, text: text)
            if causes[cause] != nil || causes.count < Self.mostCauses { causes[cause, default: 0] += 1 }
        }
        guard let host, result.attempts > 0, hosts[host] != nil || hosts.count < Self.mostHosts else { return }
        hosts[host, default: Host()].samples += 1
        hosts[host, default: Host()].seconds += result.seconds
    }

    /// The hosts with the longest average time per sample since the last call, slowest first.
    package mutating func takeSlowest(_ count: Int) -> [(host: String, seconds: Double)] {
        defer { hosts = [:] }
        return hosts.map { ($0.key, $0.value.seconds / Double($0.value.samples)) }.sorted {
            ($1.1, $0.0) < ($0.1, $1.0)
        }.prefix(count).map { (host: $0.0, seconds: $0.1) }
    }

    /// Why samples were refused or failed: a line for each of the most frequent reasons.
    package var summary: [String] {
        [PipeResult.Status.refused, .failed].flatMap { status -> [String] in
            let all = causes.filter { $0.key.status == status }.sorted {
                ($1.value, $0.key.text) < ($0.value, $1.key.text)
            }
            let shown = all.prefix(Self.shownCauses)
            let rest = (counts[status] ?? 0) - shown.reduce(0) { $0 + $1.value }
            return shown.map { "\($0.value) \(status.rawValue): \(Redaction.printable($0.key.text))" }
                + (rest > 0 ? ["\(rest) \(status.rawValue) for other reasons"] : [])
        }
    }

    /// One line of progress in fewer than `width` columns; `rate` is in samples per second.
    ///
    /// `percent` and `left` (a time) are of the input, where its length is known.
    package func line(
        rate: Double, active: Int, slowest: [(host: String, seconds: Double)], percent: Int? = nil, left: String? = nil,
        width: Int = .max
    ) -> String {
        func count(_ status: PipeResult.Status) -> Int { counts[status] ?? 0 }
        // With the rank by which they are left out where there is no room.
        var parts: [(text: String, rank: Int)] = []
        if let percent { parts.append(("\(percent)%", 1)) }
        parts += [
            ("\(samples) samples", 0), ("\(Int(rate))/s", 4), (ByteQuantity.text(bytes), 6), ("\(count(.ok)) ok", 5),
        ]
        if count(.already) > 0 { parts.append(("\(count(.already)) already", 7)) }
        parts += [
            ("\(count(.failed)) failed", 2), ("\(count(.refused)) refused", 3), ("\(active) under way", 8),
        ]
        if let left { parts.append(("\(left) left", 1)) }
        func joined() -> String { parts.map(\.text).joined(separator: ", ") }
        while joined().utf8.count >= width, let last = parts.indices.max(by: { parts[$0].rank < parts[$1].rank }),
            parts.count > 1
        {
            parts.remove(at: last)
        }
        guard !slowest.isEmpty else { return joined() }
        let hosts = slowest.map { "\(Redaction.printable($0.host)) \(Self.tenths($0.seconds)) s" }
        return joined() + "; slowest: \(hosts.joined(separator: ", "))"
    }

    private static func tenths(_ seconds: Double) -> String {
        let tenths = Int(min(max(0, seconds), 1e9) * 10 + 0.5)
        return "\(tenths / 10).\(tenths % 10)"
    }

    /// The counts in the text format of Prometheus.
    package func metrics(active: Int) -> String {
        var text = """
            # HELP pawl_pipe_samples_total Samples by their status.
            # TYPE pawl_pipe_samples_total counter

            """
        for status in PipeResult.Status.allCases {
            text += "pawl_pipe_samples_total{status=\"\(status.rawValue)\"} \(counts[status] ?? 0)\n"
        }
        return text + """
            # HELP pawl_pipe_bytes_total Bytes of samples that are ok.
            # TYPE pawl_pipe_bytes_total counter
            pawl_pipe_bytes_total \(bytes)
            # HELP pawl_pipe_requests_total Attempts to fetch a sample.
            # TYPE pawl_pipe_requests_total counter
            pawl_pipe_requests_total \(requests)
            # HELP pawl_pipe_active Samples under way.
            # TYPE pawl_pipe_active gauge
            pawl_pipe_active \(active)

            """
    }
}
