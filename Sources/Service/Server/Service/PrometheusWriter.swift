import PawlWeb

/// Writes metrics in Prometheus' text format.
struct PrometheusWriter {
    typealias Labels = [(name: String, value: String)]

    private(set) var text = ""

    mutating func gauge(_ name: String, _ help: String, _ value: Double) { gauge(name, help, [([], value)]) }

    mutating func gauge(_ name: String, _ help: String, _ values: [(Labels, Double)]) {
        begin(name, help, "gauge")
        for (labels, value) in values { add(name, labels, value) }
    }

    mutating func counter(_ name: String, _ help: String, _ value: Double) { counter(name, help, [([], value)]) }

    mutating func counter(_ name: String, _ help: String, _ values: [(Labels, Double)]) {
        begin(name, help, "counter")
        for (labels, value) in values { add(name, labels, value) }
    }

    mutating func histogram(_ name: String, _ help: String, _ latencies: LatencyHistogram) {
        begin(name, help, "histogram")
        var below = 0
        for (step, count) in zip(LatencyHistogram.steps, latencies.counts) {
            below += count
            add(name + "_bucket", [("le", "\(step)")], Double(below))
        }
        add(name + "_bucket", [("le", "+Inf")], Double(latencies.count))
        add(name + "_sum", [], latencies.sum)
        add(name + "_count", [], Double(latencies.count))
    }

    private mutating func begin(_ name: String, _ help: String, _ kind: String) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(kind)\n"
    }

    private mutating func add(_ name: String, _ labels: Labels, _ value: Double) {
        let words = labels.map { "\($0.name)=\"\(PrometheusWriter.escaped($0.value))\"" }.joined(separator: ",")
        text += name + (words.isEmpty ? "" : "{\(words)}") + " \(value)\n"
    }

    private static func escaped(_ value: String) -> String {
        value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
    }
}
