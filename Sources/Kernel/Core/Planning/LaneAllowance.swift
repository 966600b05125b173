package import PawlBase

/// The number of connections under a rate limit.
///
/// Under one of Pawl's own limits a connection is not read as fast as its server sends: its speed says
/// nothing of the server, and data in the sockets is lost with the connection. So a further connection is
/// planned only while none is held back by the limit, and only as long as the servers send less than the
/// limit allows.
package struct LaneAllowance: Hashable, Sendable {
    /// One connection since the last measurement.
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

    /// How long connections are measured before one more is planned.
    package static let period = Interval.milliseconds(600)
    /// The share of the limit that counts as used; the rest is the measurement's error.
    package static let room = 0.9

    /// Bytes per second of all connections together; `nil` for no limit.
    package private(set) var rate: Int64?
    /// The maximum number of concurrent connections.
    package private(set) var width = Int.max
    private var judgedAt: Instant?

    package init() {}

    /// Changes the limit.
    package mutating func change(rate: Int64?, now: Instant) {
        guard rate != self.rate else { return }
        self.rate = rate
        width = rate == nil ? .max : 1
        judgedAt = now
    }

    /// Called at each tick with the active connections.
    package mutating func judge(_ lanes: [Sample], now: Instant) {
        guard let rate, let since = judgedAt else { return }
        // One that is held back has all that the limit allows.
        if lanes.contains(where: \.isHeld) {
            width = 1
            judgedAt = now
            return
        }
        guard now - since >= LaneAllowance.period, !lanes.isEmpty, lanes.allSatisfy({ $0.isFlowing && $0.speed > 0 })
        else { return }
        judgedAt = now
        let sum = lanes.reduce(0) { $0 + $1.speed }
        let room = Double(max(rate, 0)) * LaneAllowance.room
        guard sum < room else {
            width = 1
            return
        }
        let fed = (room / (sum / Double(lanes.count))).rounded(.up)
        // The speeds of new connections are not known yet.
        width = min(lanes.count * 2, Int(min(fed, 1_000)))
    }
}
