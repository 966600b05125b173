/// How many connections a rate limit feeds.
///
/// Under a limit of our own a connection is not read as fast as its server sends: what it brings says nothing of the
/// server, and what waits in the sockets is thrown away with the connection. So a further connection is planned only
/// while none is held back by the limit, and only as long as the servers give less than the limit allows.
package struct LaneAllowance: Hashable, Sendable {
    /// One connection since the last judgement.
    package struct Sample: Hashable, Sendable {
        /// Bytes per second, 0 until measured.
        package var speed: Double
        package var isHeld: Bool
        package var isFlowing: Bool

        package init(speed: Double, isHeld: Bool, isFlowing: Bool = true) {
            self.speed = speed
            self.isHeld = isHeld
            self.isFlowing = isFlowing
        }
    }

    /// How long connections are watched before one more is planned.
    package static let period = Interval.milliseconds(600)
    /// Of the limit; the rest is the measurement's error.
    package static let room = 0.9

    /// Bytes per second of all connections together; `nil` for no limit.
    package private(set) var rate: Int64?
    /// The most connections at once.
    package private(set) var width = Int.max
    private var judgedAt: Instant?

    package init() {}

    /// The limit that holds from now on.
    package mutating func change(rate: Int64?, now: Instant) {
        guard rate != self.rate else { return }
        self.rate = rate
        width = rate == nil ? .max : 1
        judgedAt = now
    }

    /// Called at each tick with the connections at work.
    package mutating func judge(_ lanes: [Sample], now: Instant) {
        guard let rate, let since = judgedAt else { return }
        // One that is held back has all that the limit gives.
        if lanes.contains(where: \.isHeld) {
            width = 1
            judgedAt = now
            return
        }
        guard now - since >= LaneAllowance.period, !lanes.isEmpty,
            lanes.allSatisfy({ $0.isFlowing && $0.speed > 0 })
        else { return }
        judgedAt = now
        let sum = lanes.reduce(0) { $0 + $1.speed }
        let room = Double(max(rate, 0)) * LaneAllowance.room
        guard sum < room else {
            width = 1
            return
        }
        let fed = (room / (sum / Double(lanes.count))).rounded(.up)
        // The speeds of new connections have still to be seen.
        width = min(lanes.count * 2, Int(min(fed, 1_000)))
    }
}
