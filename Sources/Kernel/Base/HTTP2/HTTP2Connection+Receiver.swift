// The receivers, time and windows.
extension HTTP2Connection {
    package mutating func wantsBody(_ id: HTTP2StreamID) {
        if streams[id]?.state == .judging { streams[id]?.state = .body }
    }

    /// The request is over: the receiver does not want the body, or no more of it; or it was cancelled.
    ///
    /// A short rest is ignored. So are others after too many resets, until there may be more of them.
    package mutating func leave(_ id: HTTP2StreamID, hasEnded: Bool = false, at now: Instant) -> Rest {
        guard let stream = streams[id], !stream.isDraining else { return .left }
        drop(held: id)
        if hasEnded || stream.ending != nil || isClosed {
            remove(id, at: now)
            return .left
        }
        if stream.state != .waiting, let left = stream.left, left <= Int64(HTTP1Limits.longestDrain) {
            streams[id]?.state = .draining(until: now + HTTP1Limits.drainTime)
            return .left
        }
        guard mayReset(at: now) else {
            streams[id]?.state = .draining(until: resetsSince + HTTP2Limits.resetTime)
            return .left
        }
        remove(id, at: now)
        return .reset(.cancel)
    }

    /// The receiver took bytes of a body.
    ///
    /// Returns how much of the stream's window they give back.
    package mutating func took(_ id: HTTP2StreamID, _ count: Int) -> Int {
        guard let stream = streams[id], stream.state == .body, stream.ending == nil, !isClosed else { return 0 }
        return count
    }

    /// The receiver takes no more for now, and not these bytes; what comes after them is held too.
    package mutating func pause(_ id: HTTP2StreamID, holding count: Int) {
        guard streams[id]?.state == .body else { return }
        streams[id]?.state = .paused
        streams[id]?.held += count
        totalHeld += count
    }

    /// Everything held is offered again: `took` or `pause` for each part, then `settled`.
    ///
    /// Returns whether it was paused.
    package mutating func resume(_ id: HTTP2StreamID, at now: Instant) -> Bool {
        guard streams[id]?.state == .paused else { return false }
        if !reads { (lastReceived, pinged) = (now, nil) }
        drop(held: id)
        streams[id]?.state = .body
        streams[id]?.window.begin()
        return true
    }

    /// What was held has been offered.
    ///
    /// Returns how the request ends, if its end was already known.
    package mutating func settled(_ id: HTTP2StreamID, at now: Instant) -> Ending? {
        guard let stream = streams[id], stream.held == 0, let ending = stream.ending else { return nil }
        remove(id, at: now)
        return ending
    }

    package func isPaused(_ id: HTTP2StreamID) -> Bool { streams[id]?.state == .paused }

    /// Whether available bytes are to be read.
    package var reads: Bool { !isClosed && totalHeld <= HTTP2Limits.longestHeld }

    /// The number of bytes that are held.
    package var held: Int { totalHeld }

    // MARK: time and windows

    /// The PING that is to be sent to measure the windows, if there is anything to learn.
    package mutating func probe(at now: Instant) -> UInt64? {
        guard !isClosed, probe.isDue(at: now),
            streams.values.contains(where: { $0.state == .body && $0.window.isFull })
        else { return nil }
        for id in streams.keys { streams[id]?.window.begin() }
        return probe.begin()
    }

    /// A PING has returned.
    ///
    /// Returns the streams whose windows grow, and their new sizes.
    package mutating func pong(_ value: UInt64, at now: Instant) -> [(stream: HTTP2StreamID, size: Int)] {
        guard probe.isReply(value) else { return [] }
        var grown: [(stream: HTTP2StreamID, size: Int)] = []
        for (id, stream) in streams where stream.state == .body {
            if let size = streams[id]?.window.end() { grown.append((id, size)) }
        }
        probe.end(hasGrown: !grown.isEmpty, at: now)
        return grown
    }

    package var deadline: Instant? {
        if isClosed { return nil }
        let drains = streams.values.lazy.compactMap { if case .draining(let end) = $0.state { end } else { nil } }
        let silence = isAwaited ? pinged.map { $0 + HTTP2Limits.pingTime } ?? lastReceived + HTTP2Limits.silence : nil
        let idle = idleSince.map { $0 + HTTP1Limits.idleTime }
        return [drains.min(), silence, idle].lazy.compactMap { $0 }.min()
    }

    /// What is due.
    package mutating func passed(_ now: Instant) -> [Order] {
        if isClosed { return [] }
        if let since = idleSince, since + HTTP1Limits.idleTime <= now { return [.close] }
        var orders: [Order] = []
        for (id, stream) in streams.sorted(by: { $0.key < $1.key }) {
            guard case .draining(let end) = stream.state, end <= now else { continue }
            guard mayReset(at: now) else {
                streams[id]?.state = .draining(until: resetsSince + HTTP2Limits.resetTime)
                continue
            }
            remove(id, at: now)
            orders.append(.reset(id, .cancel))
        }
        guard isAwaited else { return orders }
        if let pinged {
            if pinged + HTTP2Limits.pingTime <= now { orders.append(.lost(.silentConnection)) }
        } else if lastReceived + HTTP2Limits.silence <= now {
            pinged = now
            // Any byte shows that the server is there: its value is no measurement's.
            orders.append(.ping(0))
        }
        return orders
    }

    /// Whether something is to arrive.
    private var isAwaited: Bool {
        reads && streams.values.contains { $0.ending == nil && $0.state != .paused && !$0.isDraining }
    }

    mutating func mayReset(at now: Instant) -> Bool {
        if resetsSince + HTTP2Limits.resetTime <= now { (resets, resetsSince) = (0, now) }
        guard resets < HTTP2Limits.mostResets else { return false }
        resets += 1
        return true
    }
}
