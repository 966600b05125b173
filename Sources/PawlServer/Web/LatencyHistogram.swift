/// How long something waited, each time: in steps, as Prometheus counts them.
struct LatencyHistogram: Hashable, Sendable {
    /// Upper ends of the steps in seconds; what took longer is in `count` alone.
    static let steps = [0.001, 0.005, 0.02, 0.1, 0.5, 2]

    /// Of each step, without those of the steps below it.
    private(set) var counts = [Int](repeating: 0, count: steps.count)
    private(set) var count = 0
    private(set) var sum = 0.0

    mutating func note(_ delay: Duration) {
        let seconds = delay / .seconds(1)
        count += 1
        sum += seconds
        if let step = LatencyHistogram.steps.firstIndex(where: { seconds <= $0 }) { counts[step] += 1 }
    }
}
