/// The speed in each of the last seconds, 3600 unless stated otherwise.
///
/// Seconds without a value count as 0: nothing was transferred in them. One or two of them are no gap, since values are
/// added about once a second.
package struct SpeedHistory: Hashable, Sendable {
    /// In seconds.
    private let span: Int
    /// The maximum distance between values of adjacent samples, in seconds.
    private static let interval: Int64 = 2

    /// Bytes per second; that of second `s` is at `s % span`.
    private var speeds: [Int64] = []
    /// The latest second with a value.
    private var latest: Int64 = 0

    package init(span: Int = 3600) { self.span = max(1, span) }

    /// Adds the speed in bytes per second of a second, which must not be before the latest one.
    package mutating func add(_ speed: Int64, at second: Int64) {
        guard second >= 0, speeds.isEmpty || second >= latest else { return }
        if speeds.isEmpty { speeds = [Int64](repeating: 0, count: span) } else { skip(to: second, speed) }
        latest = second
        speeds[index(second)] = max(0, speed)
    }

    private mutating func skip(to second: Int64, _ speed: Int64) {
        guard second - latest < Int64(span) else {
            speeds = [Int64](repeating: 0, count: span)
            return
        }
        let skipped = second - latest <= Self.interval ? max(0, speed) : 0
        for passed in latest..<second { speeds[index(passed + 1)] = skipped }
    }

    /// The means of `step` seconds each, the latest last, until and with `second`, or the latest value where another is
    /// expected; leading zeros are left out.
    package func means(of step: Int, count: Int, until second: Int64) -> [Int64] {
        guard !speeds.isEmpty, step > 0 else { return [] }
        var means: [Int64] = []
        let isDue = second > latest && second - latest <= Self.interval
        let second = isDue ? latest : second
        for number in (0..<count).reversed() {
            let end = second - Int64(number * step)
            let sum = (0..<step).reduce(Int64(0)) {
                $0.addingReportingOverflow(speed(at: end - Int64($1))).partialValue
            }
            means.append(max(0, sum) / Int64(step))
        }
        return Array(means.drop { $0 == 0 })
    }

    private func speed(at second: Int64) -> Int64 {
        guard second >= 0, second <= latest, latest - second < Int64(span) else { return 0 }
        return speeds[index(second)]
    }

    private func index(_ second: Int64) -> Int { Int(second % Int64(span)) }
}
