package import PawlBase

/// The number of connections of a download: fixed, or doubled while that raises throughput.
///
/// Beyond ``usual`` it is doubled only while throughput rises in proportion.
package struct ConnectionRamp: Hashable, Sendable {
    package enum Mode: Hashable, Sendable {
        case fixed(Int)
        case automatic(maximum: Int)

        /// Whether the user has given no number.
        package var isAutomatic: Bool { if case .automatic = self { true } else { false } }

        var maximum: Int {
            switch self {
            case .fixed(let count): count
            case .automatic(let maximum): maximum
            }
        }
    }

    /// A doubling pays when the throughput rises by this factor.
    package static let worthwhile = 1.2
    /// Up to this number, a doubling that raises throughput less than in proportion is followed by another.
    package static let usual = 8
    /// The share of the new connections' part that counts as paid in full.
    package static let full = 0.8
    /// How long the throughput is measured before it counts.
    package static let window = Interval.milliseconds(300)
    /// How many connections begin at once over a long way.
    package static let firstStep = 4
    /// The first window over a long way, until the next measurement: what follows the connections that begin there is the
    /// same whatever they bring.
    package static let firstWindow = Interval.milliseconds(10)
    /// New connections start slowly (RFC 5681 §3.1) and may take this long until they pay.
    package static let patience = Interval.seconds(1)
    /// A response time from which the path counts as long, or the server as slow to respond.
    package static let longWay = Interval.milliseconds(100)

    package let mode: Mode
    /// Connections that may be in use now.
    package private(set) var width: Int
    /// The maximum that the server accepted.
    package private(set) var ceiling: Int
    private var settled: Bool
    private var isLongWay = false
    /// Since when every connection of this width receives bytes.
    private var widthSince: Instant?
    private var windowStart: Instant?
    private var windowBytes: Int64 = 0
    /// Bytes per second at the width before this one, and that width.
    private var before: Double?
    private var paid = 1
    /// The time of the last refusal, and the width in use before the first.
    private var refusedAt: Instant?
    private var desired = 0
    /// One more connection was allowed since the last refusal.
    private var hasRetried = false
    /// Doublings of the wait before another try.
    private var doublings = 0
    private static let mostDoublings = 6

    /// How many connections may come to share what is left; `nil` where each can take all that it finds.
    ///
    /// A connection whose range is shortened later has to be closed, with what is on its way. Over a long path that is
    /// much, and the next one starts slowly.
    package var sharers: Int? { isLongWay ? (settled ? width : ceiling) : nil }

    package init(_ mode: Mode) {
        self.mode = mode
        ceiling = mode.maximum
        switch mode {
        case .fixed(let count):
            width = count
            settled = true
        case .automatic(let maximum):
            width = 1
            settled = maximum <= 1
        }
    }

    /// A response arrived after `wait`.
    ///
    /// Over a long path a connection starts slowly and recovers slowly from each loss, and so does the one
    /// that shows whether more pay: some begin at once there, and the next step is larger.
    package mutating func responded(after wait: Interval) {
        guard !settled, width == 1, before == nil, wait >= ConnectionRamp.longWay else { return }
        isLongWay = true
        width = min(ConnectionRamp.firstStep, ceiling)
        windowStart = nil
        widthSince = nil
    }

    /// Called at each tick with all bytes received so far, the connections that receive bytes, and the bytes
    /// still to fetch.
    package mutating func measure(received: Int64, flowing: Int, remaining: Int64, now: Instant) {
        recover(now: now)
        guard !settled else { return }
        // A window counts only from the moment when every connection of this width receives bytes.
        guard flowing >= width, let start = windowStart, let since = widthSince else {
            windowStart = flowing >= width ? now : nil
            widthSince = widthSince ?? windowStart
            windowBytes = received
            return
        }
        let isFirst = isLongWay && before == nil
        guard now - start >= (isFirst ? ConnectionRamp.firstWindow : ConnectionRamp.window) else { return }
        let rate = Double(received - windowBytes) / (now - start).seconds
        windowStart = now
        windowBytes = received
        if let before, rate < before * ConnectionRamp.worthwhile {
            guard now - since >= ConnectionRamp.patience else { return }
            // The last doubling did not pay: return to the width that did, and stay there. Of those that began at once,
            // it is not known.
            width = min(isLongWay && paid == ConnectionRamp.firstStep ? 2 : paid, ceiling)
            settled = true
            return
        }
        if width >= ConnectionRamp.usual, !pays(rate) {
            // They stay, and are the last.
            settled = now - since >= ConnectionRamp.patience
            return
        }
        before = rate
        grow(secondsLeft: rate > 0 ? Double(remaining) / rate : .infinity)
    }

    /// Whether the last step raised the throughput nearly as much as the number of connections.
    private func pays(_ rate: Double) -> Bool {
        guard let before, paid < width else { return true }
        return rate >= before * ConnectionRamp.full * Double(width) / Double(paid)
    }

    /// A rate limit holds connections back: their common throughput does not predict what another one would
    /// add.
    package mutating func hold(now: Instant) {
        recover(now: now)
        windowStart = nil
        widthSince = nil
    }

    private mutating func grow(secondsLeft: Double) {
        // Over a long way those beyond the usual number need some seconds to pay.
        let least: Double = isLongWay && width >= ConnectionRamp.usual ? 4 : 1
        guard width < ceiling, secondsLeft > least else {
            // It stays as it is: a later window is not compared with one of fewer connections.
            paid = width
            settled = width >= ceiling
            return
        }
        paid = width
        let next = width * (isLongWay && width < ConnectionRamp.usual ? 4 : 2)
        width = min(width < ConnectionRamp.usual ? min(next, ConnectionRamp.usual) : next, ceiling)
        windowStart = nil
        widthSince = nil
    }

    /// The server refused a connection while `working` others received bytes.
    package mutating func shrink(to working: Int, now: Instant) {
        if refusedAt == nil { desired = width }
        // One more was too many again: the next try is later.
        if hasRetried { doublings = min(doublings + 1, ConnectionRamp.mostDoublings) }
        hasRetried = false
        refusedAt = now
        ceiling = max(1, min(ceiling, working))
        width = min(width, ceiling)
        settled = true
    }

    /// A refusal is temporary: as in the host's budget, one more connection is tried after a while.
    private mutating func recover(now: Instant) {
        guard let since = refusedAt, now - since >= HostBudget.recovery * Double(1 << doublings) else { return }
        hasRetried = true
        ceiling += 1
        width = min(desired, ceiling)
        refusedAt = width < desired ? now : nil
    }

    /// Discards the measurement under new conditions (another network, another server).
    package mutating func restart() { self = ConnectionRamp(mode) }
}
