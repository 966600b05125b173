/// How many connections a download uses: a fixed number, or one that doubles while doubling pays.
package struct Growth: Hashable, Sendable {
    package enum Mode: Hashable, Sendable {
        case fixed(Int)
        case automatic(maximum: Int)
    }

    /// A doubling pays when the throughput rises by this factor.
    package static let worthwhile = 1.2
    /// How long a width is measured.
    package static let window = Span.milliseconds(300)

    package let mode: Mode
    /// Connections that may be in use now.
    package private(set) var width: Int
    /// The server or the line would not have more than this.
    package private(set) var ceiling: Int
    private var settled: Bool
    private var windowStart: Moment?
    private var windowBytes: Int64 = 0
    /// Bytes per second at the width before this one, and that width.
    private var before: Double?
    private var paid = 1

    package init(_ mode: Mode) {
        self.mode = mode
        switch mode {
        case .fixed(let count):
            width = count
            ceiling = count
            settled = true
        case .automatic(let maximum):
            width = 1
            ceiling = maximum
            settled = maximum <= 1
        }
    }

    /// Called at each tick with all bytes received so far, the connections that bring bytes, and what is still to come.
    package mutating func measure(received: Int64, flowing: Int, remaining: Int64, now: Moment) {
        guard !settled else { return }
        // A window counts only from the moment when every connection of this width brings bytes.
        guard flowing >= width, let start = windowStart else {
            windowStart = flowing >= width ? now : nil
            windowBytes = received
            return
        }
        guard now - start >= Growth.window else { return }
        let rate = Double(received - windowBytes) / (now - start).seconds
        windowStart = nil
        if let before, rate < before * Growth.worthwhile {
            // The last doubling did not pay: back to what did, and stay there.
            width = min(paid, ceiling)
            settled = true
            return
        }
        before = rate
        let secondsLeft = rate > 0 ? Double(remaining) / rate : .infinity
        guard width < ceiling, secondsLeft > 1 else {
            settled = width >= ceiling
            return
        }
        paid = width
        width = min(width * 2, ceiling)
    }

    /// The server refused a connection while `working` others brought bytes.
    package mutating func shrink(to working: Int) {
        ceiling = max(1, min(ceiling, working))
        width = min(width, ceiling)
        settled = true
    }

    /// Nothing of the measurement holds for the new conditions (another network, another server).
    package mutating func restart() {
        self = Growth(mode)
    }
}
