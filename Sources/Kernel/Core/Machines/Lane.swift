package import PawlBase
package import PawlJournal

/// A check whether a host repeats this entity tag, which differs from the one before.
package struct TagQuestion: Hashable, Sendable {
    package var source: Int
    package var host: String
    package var tag: EntityTag?
}

/// One connection's work inside a download: a sequence of requests for one range.
package struct Lane: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// Receives bytes that it owns.
        case data
        /// Receives the same bytes as another lane, to finish first.
        case racing(LaneID)
        /// Compares bytes on disk with the server's, writes nothing.
        case settling
        /// Requests the whole although bytes are on disk; owns nothing until its response starts the file
        /// over.
        case restarting
        /// Requests one byte, to see whether that host repeats this entity tag, which differs from the one
        /// before.
        indirect case checkingTag(TagQuestion)
    }

    package enum Stage: Hashable, Sendable {
        case asking
        /// The response was accepted and waits for the file's place on disk.
        case claiming
        case flowing
    }

    package let id: LaneID
    package var kind: Kind
    package var source: Int
    package var stage = Stage.asking
    package var requested: RequestedRange
    /// The next byte of the file that it writes, as the shell last reported it: the shell owns the cursor
    /// while the lane flows.
    package var cursor: Int64
    /// The end of its range; decided here.
    package var end: Int64
    /// How many bytes before `cursor` the response contains first, to be compared with the disk.
    package var overlap: Int64
    /// How many those were when it was requested.
    let compares: Int64
    /// Where the body ends according to its head.
    package var responseEnd = ByteRange.open
    /// The host of the request: another lane's redirect may lead the source elsewhere in the meantime.
    package var host = ""
    /// The validators of its response.
    package var identity: ContentIdentity?
    /// The digests that its response states of the content.
    package var stated: [LearntDigest] = []
    /// How many bytes behind its end, which another lane wrote, it still compares.
    package var joint: Int64 = 0
    /// Those bytes equal the server's.
    var isJoined = false
    package var redirects = 0
    /// The question to the program that it waits for.
    package var pending: PendingQuestion?
    /// How many logins of the program its requests were refused with.
    var logins = Logins()

    /// Refused logins for the origin and for the proxy.
    struct Logins: Hashable, Sendable {
        var origin = 0
        var proxy = 0
    }
    /// The program has decided about its response.
    var isValidated = false
    /// Whether the refusal of its request was reported already.
    var hasReportedRefusal = false
    package var slot: Int
    /// Bytes received, including compared ones.
    package var received: Int64 = 0
    package var lastByteAt: Instant
    package var speed: Double = 0
    /// The highest speed so far.
    var bestSpeed: Double = 0
    /// From the request to the head of its response.
    var opening = Interval.zero
    var measuredAt: Instant
    var measuredBytes: Int64 = 0
    package var slowSince: Instant?
    /// One of Pawl's own limits kept it from being read for a good part of the last measurement: its speed
    /// says nothing of the server, and data in its socket would be lost with it.
    package var isHeld = false
    /// How long it was kept from being read since the last measurement.
    var heldFor = Interval.zero
    var syncedAt: Instant
    /// Since when it receives no more than ``DownloadPlan/lowestSpeed``.
    var tooSlowSince: Instant?

    package init(
        id: LaneID, kind: Kind, source: Int, requested: RequestedRange, range: ByteRange, overlap: Int64, slot: Int,
        now: Instant
    ) {
        self.id = id
        self.kind = kind
        self.source = source
        self.requested = requested
        cursor = range.start
        end = range.end
        self.overlap = overlap
        compares = overlap
        self.slot = slot
        lastByteAt = now
        measuredAt = now
        syncedAt = now
    }

    /// Whether it receives bytes of its own or another's range.
    package var isBringing: Bool {
        switch kind {
        case .data, .racing: true
        case .settling, .restarting, .checkingTag: false
        }
    }

    package var isRacing: LaneID? { if case .racing(let owner) = kind { owner } else { nil } }

    /// Whether it was at or under the lowest speed for `slowPatience`.
    func isTooSlow(now: Instant) -> Bool { tooSlowSince.map { now - $0 >= Lane.slowPatience } ?? false }

    static let slowPatience = Interval.seconds(10)

    /// What the writer of its body needs to know of it.
    package struct Extent: Hashable, Sendable {
        package let cursor: Int64
        package let end: Int64
        package let responseEnd: Int64
        package let overlap: Int64
        package let slot: Int
        /// It writes nothing.
        package let onlyCompares: Bool
    }

    package var extent: Extent {
        Extent(
            cursor: cursor, end: end, responseEnd: responseEnd, overlap: overlap, slot: slot,
            onlyCompares: kind == .settling)
    }

    /// Whether nothing follows the bytes on disk in this response, and a comparison has to show that they are its
    /// own.
    func comparesEnd(of map: SegmentMap) -> Bool {
        guard map.total == nil, kind == .data, overlap > 0 else { return false }
        return responseEnd == cursor && map.done.upperBound == cursor
    }

    /// Measures the speed at most each half second, smoothed by halves.
    mutating func measure(now: Instant) {
        let span = now - measuredAt
        guard stage == .flowing, span >= Lane.measured else { return }
        let present = Double(received - measuredBytes) / span.seconds
        speed = speed == 0 ? present : (speed + present) / 2
        bestSpeed = max(bestSpeed, speed)
        isHeld = heldFor * Lane.heldShare >= span
        heldFor = .zero
        measuredAt = now
        measuredBytes = received
    }

    /// The divisor for the share of the time from which a lane counts as held.
    static let heldShare = 4.0

    /// Notes whether it waited since the last call.
    mutating func note(waits: Bool, now: Instant) {
        if waits, now > syncedAt { heldFor = Interval(nanoseconds: heldFor.nanoseconds + (now - syncedAt).nanoseconds) }
        // At once, not only with the next measurement: a decision may come before that.
        if waits, heldFor * Lane.heldShare >= Lane.measured { isHeld = true }
        syncedAt = now
    }

    private static let measured = Interval.milliseconds(500)
}
