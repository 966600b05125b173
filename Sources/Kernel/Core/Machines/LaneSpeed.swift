package import PawlBase

/// How fast a lane receives, and since when too slowly.
package struct LaneSpeed: Hashable, Sendable {
    /// How long a lane may be at or under the lowest speed.
    static let patience = Interval.seconds(10)
    /// The divisor for the share of the time from which a lane counts as held.
    private static let heldShare = 4.0
    private static let period = Interval.milliseconds(500)

    /// Bytes received, including compared ones.
    package private(set) var received: Int64 = 0
    package private(set) var lastByteAt: Instant
    /// Bytes per second; 0 until measured.
    package private(set) var present: Double = 0
    private(set) var best: Double = 0
    /// From the request to the head of its response.
    private(set) var opening = Interval.zero
    private var measuredAt: Instant
    private var measuredBytes: Int64 = 0
    /// Since when it is slower than the others.
    package private(set) var slowSince: Instant?
    /// Since when it receives no more than ``DownloadPlan/lowestSpeed``.
    private(set) var tooSlowSince: Instant?
    /// One of Pawl's own limits kept it from being read for a good part of the last measurement: its speed
    /// says nothing of the server, and data in its socket would be lost with it.
    package private(set) var isHeld = false
    /// How long it was kept from being read since the last measurement.
    private var heldFor = Interval.zero
    private var syncedAt: Instant

    init(now: Instant) {
        lastByteAt = now
        measuredAt = now
        syncedAt = now
    }

    /// What is measured begins now: the request is sent, or the body flows.
    mutating func began(now: Instant) {
        lastByteAt = now
        measuredAt = now
    }

    /// The program let it wait, not the server.
    mutating func waited(now: Instant) { lastByteAt = now }

    /// The head of the response arrived.
    mutating func responded(now: Instant) {
        lastByteAt = now
        opening = now - measuredAt
    }

    /// It has received so many bytes in all, and one of Pawl's own limits keeps it from being read, or does not; returns
    /// how many are new.
    mutating func received(_ bytes: Int64, waits: Bool, now: Instant) -> Int64 {
        let new = bytes - received
        assert(new >= 0, "a lane counts the bytes that it received, and never fewer")
        received = bytes
        if new > 0 || waits { lastByteAt = now }
        if waits {
            if now > syncedAt { heldFor = Interval(nanoseconds: heldFor.nanoseconds + (now - syncedAt).nanoseconds) }
            // At once, not only with the next measurement: a decision may come before that.
            if heldFor * Self.heldShare >= Self.period { isHeld = true }
            tooSlowSince = nil
        }
        syncedAt = now
        return new
    }

    /// Measures at most each half second, smoothed by halves.
    mutating func measure(now: Instant) {
        let span = now - measuredAt
        guard span >= Self.period else { return }
        let new = Double(received - measuredBytes) / span.seconds
        present = present == 0 ? new : (present + new) / 2
        best = max(best, present)
        isHeld = heldFor * Self.heldShare >= span
        heldFor = .zero
        measuredAt = now
        measuredBytes = received
    }

    /// Nothing ran for `span`.
    mutating func stoodStill(for span: Interval, now: Instant) {
        func later(_ time: Instant) -> Instant { min(now, time + span) }
        lastByteAt = later(lastByteAt)
        measuredAt = later(measuredAt)
        syncedAt = later(syncedAt)
        slowSince = slowSince.map(later)
        tooSlowSince = tooSlowSince.map(later)
    }

    /// Whether it is faster than the lowest speed, or held back, which is not the server's doing.
    mutating func exceeds(_ floor: Int64, now: Instant) -> Bool {
        let isFast = present > Double(floor) || isHeld
        tooSlowSince = isFast ? nil : tooSlowSince ?? now
        return isFast
    }

    /// Whether it was at or under the lowest speed for too long.
    func isTooSlow(now: Instant) -> Bool { tooSlowSince.map { now - $0 >= Self.patience } ?? false }

    /// Whether it was under `limit` for 5 s, or under a twentieth of the mean for 1 s.
    ///
    /// A lane that Pawl's own limit holds back is not slow, and the data in its socket has been sent already.
    mutating func isSlow(under limit: Double, mean: Double, now: Instant) -> Bool {
        guard present < limit, !isHeld else {
            slowSince = nil
            return false
        }
        guard let since = slowSince else {
            slowSince = now
            return false
        }
        return now - since >= .seconds(present < mean / 20 ? 1 : 5)
    }

    /// Whether it has fallen to a twentieth of its best speed for so long.
    func crawls(for span: Interval, now: Instant) -> Bool {
        guard present < best / 20, let since = slowSince else { return false }
        return now - since >= span
    }
}
