/// How many connections a download uses: a fixed number, or one that doubles while doubling pays.
package struct ConnectionRamp: Hashable, Sendable {
    package enum Mode: Hashable, Sendable {
        case fixed(Int)
        case automatic(maximum: Int)

        var maximum: Int {
            switch self {
            case .fixed(let count): count
            case .automatic(let maximum): maximum
            }
        }
    }

    /// A doubling pays when the throughput rises by this factor.
    package static let worthwhile = 1.2
    /// How long the throughput is measured before it is believed.
    package static let window = Interval.milliseconds(300)
    /// New connections begin slowly (RFC 5681 §3.1) and may take this long until they pay.
    package static let patience = Interval.seconds(1)
    /// An answer that takes this long came a long way, or from a server that has to think.
    package static let longWay = Interval.milliseconds(100)

    package let mode: Mode
    /// Connections that may be in use now.
    package private(set) var width: Int
    /// The server would not have more than this.
    package private(set) var ceiling: Int
    private var settled: Bool
    private var isLongWay = false
    /// Since when every connection of this width brings bytes.
    private var widthSince: Instant?
    private var windowStart: Instant?
    private var windowBytes: Int64 = 0
    /// Bytes per second at the width before this one, and that width.
    private var before: Double?
    private var paid = 1
    /// The last refusal, and what was in use before the first.
    private var refusedAt: Instant?
    private var wished = 0
    /// Since the last refusal one more connection was allowed.
    private var hasRetried = false
    /// Doublings of the wait until then.
    private var doublings = 0
    private static let mostDoublings = 6

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

    /// An answer came after `wait`.
    ///
    /// Over a long way a connection begins slowly and recovers slowly from each loss, and so does the one that is to show
    /// whether it pays: two begin at once there, and the next step is a larger one.
    package mutating func answered(after wait: Interval) {
        guard !settled, width == 1, before == nil, wait >= ConnectionRamp.longWay else { return }
        isLongWay = true
        width = min(2, ceiling)
        windowStart = nil
        widthSince = nil
    }

    /// Called at each tick with all bytes received so far, the connections that bring bytes, and what is still to come.
    package mutating func measure(received: Int64, flowing: Int, remaining: Int64, now: Instant) {
        recover(now: now)
        guard !settled else { return }
        // A window counts only from the moment when every connection of this width brings bytes.
        guard flowing >= width, let start = windowStart, let since = widthSince else {
            windowStart = flowing >= width ? now : nil
            widthSince = widthSince ?? windowStart
            windowBytes = received
            return
        }
        guard now - start >= ConnectionRamp.window else { return }
        let rate = Double(received - windowBytes) / (now - start).seconds
        windowStart = now
        windowBytes = received
        if let before, rate < before * ConnectionRamp.worthwhile {
            guard now - since >= ConnectionRamp.patience else { return }
            // The last doubling did not pay: back to what did, and stay there.
            width = min(paid, ceiling)
            settled = true
            return
        }
        before = rate
        grow(secondsLeft: rate > 0 ? Double(remaining) / rate : .infinity)
    }

    /// A rate limit holds connections back: what they bring together tells nothing of what another one would add.
    package mutating func hold(now: Instant) {
        recover(now: now)
        windowStart = nil
        widthSince = nil
    }

    private mutating func grow(secondsLeft: Double) {
        guard width < ceiling, secondsLeft > 1 else {
            settled = width >= ceiling
            return
        }
        paid = width
        width = min(width * (isLongWay ? 4 : 2), ceiling)
        windowStart = nil
        widthSince = nil
    }

    /// The server refused a connection while `working` others brought bytes.
    package mutating func shrink(to working: Int, now: Instant) {
        if refusedAt == nil { wished = width }
        // One more was one too many again: the next time it is tried later.
        if hasRetried { doublings = min(doublings + 1, ConnectionRamp.mostDoublings) }
        hasRetried = false
        refusedAt = now
        ceiling = max(1, min(ceiling, working))
        width = min(width, ceiling)
        settled = true
    }

    /// A refusal is of its time: as the host's budget does, this tries one connection more after a while.
    private mutating func recover(now: Instant) {
        guard let since = refusedAt, now - since >= HostBudget.recovery * Double(1 << doublings) else {
            return
        }
        hasRetried = true
        ceiling += 1
        width = min(wished, ceiling)
        refusedAt = width < wished ? now : nil
    }

    /// Nothing of the measurement holds for the new conditions (another network, another server).
    package mutating func restart() {
        self = ConnectionRamp(mode)
    }
}
