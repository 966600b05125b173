/// A latency histogram with the buckets of Prometheus.
package struct LatencyHistogram: Hashable, Sendable {
    /// Upper bounds of the buckets in seconds; longer values are in `count` alone.
    package static let steps = [0.001, 0.005, 0.02, 0.1, 0.5, 2]

    /// The count of each bucket, not cumulative.
    package private(set) var counts = [Int](repeating: 0, count: steps.count)
    package private(set) var count = 0
    package private(set) var sum = 0.0

    mutating func note(_ delay: Duration) {
        let seconds = delay / .seconds(1)
        count += 1
        sum += seconds
        if let step = LatencyHistogram.steps.firstIndex(where: { seconds <= $0 }) { counts[step] += 1 }
    }
}
