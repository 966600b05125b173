package import PawlBase

/// Bytes per second from a running total: over the last second, and smoothed.
package struct SpeedMeter: Hashable, Sendable {
    private struct Sample: Hashable, Sendable {
        var at: Instant
        var total: Int64
    }

    private static let window = Interval.seconds(1)
    /// The time constant of the smoothed speed, in seconds.
    private static let memory = 5.0

    /// How long the smoothed speed is measured before it is reported: what servers and sockets hold ready
    /// arrives at once at the start.
    private static let settling = Interval.milliseconds(500)

    /// The samples of a short download.
    private static let fewest = 4

    private var samples: [Sample] = []
    /// The sum of the speeds so far, each with the weight that its time has left, and of the weights.
    private var weighted = 0.0
    private var weights = 0.0
    private var begunAt: Instant?

    package init() {}

    /// Notes the running total at `now`; call it a few times a second.
    package mutating func note(total: Int64, now: Instant) {
        if let last = samples.last {
            guard now > last.at else { return }
            let span = (now - last.at).seconds
            let speed = Double(total - last.total) / span
            let rest = Exponential.decay(span / SpeedMeter.memory)
            weighted = weighted * rest + speed * (1 - rest)
            weights = weights * rest + (1 - rest)
        }
        if begunAt == nil {
            begunAt = now
            samples.reserveCapacity(SpeedMeter.fewest)
        }
        samples.append(Sample(at: now, total: total))
        // One sample at or before the window's edge stays, so that the window is always covered.
        while samples.count > 2, now - samples[1].at >= SpeedMeter.window { samples.removeFirst() }
    }

    /// Bytes received in the second before `now`; 0 without a sample in it (D6).
    package func lastSecond(now: Instant) -> Int64 {
        guard let first = samples.first, let last = samples.last, now - last.at < SpeedMeter.window else { return 0 }
        let span = max((last.at - first.at).seconds, 0.05)
        return Int64(Double(last.total - first.total) / span)
    }

    /// The mean speed, in which the last seconds have the most weight; 0 before enough was measured.
    package func smoothed(now: Instant) -> Int64 {
        guard let last = samples.last, let begunAt, last.at - begunAt >= SpeedMeter.settling, weights > 0 else {
            return 0
        }
        let mean = weighted / weights
        let silence = (now - last.at).seconds
        let speed = silence > 1 ? mean * Exponential.decay(silence / SpeedMeter.memory) : mean
        return Int64(speed.rounded())
    }
}

/// e^-x without a mathematics library: exact enough for smoothing.
enum Exponential {
    static func decay(_ exponent: Double) -> Double {
        // (1 + x/64)^-64 is within 1 % of e^-x for the small x that ticks give, and goes to 0 for large ones.
        var factor = 1 / (1 + max(0, exponent) / 64)
        for _ in 0..<6 { factor *= factor }
        return factor
    }
}
