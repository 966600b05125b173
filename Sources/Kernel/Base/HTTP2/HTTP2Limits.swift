/// A stream of an HTTP/2 connection: one request and its response.
package struct HTTP2StreamID: Hashable, Comparable, Sendable {
    package let rawValue: Int32
    package init(rawValue: Int32) { self.rawValue = rawValue }
    package static func < (left: HTTP2StreamID, right: HTTP2StreamID) -> Bool { left.rawValue < right.rawValue }
}

/// Why a stream or a connection is ended (RFC 9113 §7).
package struct HTTP2Code: Hashable, Sendable {
    package let rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }

    package static let none = HTTP2Code(rawValue: 0)
    package static let protocolError = HTTP2Code(rawValue: 1)
    package static let refusedStream = HTTP2Code(rawValue: 7)
    package static let cancel = HTTP2Code(rawValue: 8)
    package static let enhanceYourCalm = HTTP2Code(rawValue: 11)
    package static let requiresHTTP1 = HTTP2Code(rawValue: 13)

    private static let names = [
        "NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT", "STREAM_CLOSED",
        "FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR", "CONNECT_ERROR", "ENHANCE_YOUR_CALM",
        "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
    ]
    package var name: String {
        rawValue < UInt32(Self.names.count) ? Self.names[Int(rawValue)] : "error \(rawValue)"
    }
}

/// The limits of an HTTP/2 connection; those of a response are ``HTTP1Limits``.
package enum HTTP2Limits {
    /// The maximum number of our streams, also where the server allows more.
    package static let mostStreams = 100
    /// A file of 300 KB needs no update of its window.
    package static let streamWindow = 512 * 1024
    /// Twice 80 ms at 1 Gbit/s and more: updates are sent when half of a window was used.
    package static let longestStreamWindow = 24 << 20
    /// What arrives is given back at once, so that no stream waits for another; above `longestStreamWindow`.
    package static let connectionWindow: Int32 = 32 << 20
    /// The number of bytes that paused receivers have not taken; above it the socket is not read.
    package static let longestHeld = 4 << 20
    /// The number of CONTINUATION frames of one header section.
    package static let mostContinuations = 8
    /// The number of bytes that the socket does not accept.
    package static let longestOutput = 1 << 20
    /// How often a request is sent again though the connections that refused it served nothing.
    package static let mostRefusals = 2
    /// Servers count the streams that a client resets (CVE-2023-44487).
    package static let mostResets = 100
    package static let resetTime = Interval.seconds(10)
    /// How long a connection with open streams brings nothing before a PING, and how long that waits.
    package static let silence = Interval.seconds(15)
    package static let pingTime = Interval.seconds(10)
    /// Stream numbers end at 2³¹; a connection that comes near is replaced.
    package static let lastStream = HTTP2StreamID(rawValue: 1 << 30)
}

/// How many frames without content a server may send: they cost it nothing.
///
/// Content, requests and time refill it. Time only to what it is at the beginning, which is enough for a PING a second.
package struct FrameAllowance: Hashable, Sendable {
    package static let initial = 1000
    package static let perRequest = 10
    /// The number of bytes of content that allow another frame.
    package static let contentPerFrame = 4096

    private var left = Self.initial
    private var content = 0
    private var lastRefill: Instant

    package init(at now: Instant) { lastRefill = now }

    package mutating func request() { left += Self.perRequest }

    package mutating func content(_ count: Int) {
        content += count
        left += content / Self.contentPerFrame
        content %= Self.contentPerFrame
    }

    /// Returns whether the frame is allowed.
    package mutating func frame(at now: Instant) -> Bool {
        if left < Self.initial {
            let seconds = Int((now - lastRefill).nanoseconds / 1_000_000_000)
            if seconds > 0 { (left, lastRefill) = (min(Self.initial, left + seconds), now) }
        } else {
            lastRefill = now
        }
        guard left > 0 else { return false }
        left -= 1
        return true
    }
}

/// How much a server may send on one stream before it hears from us; follows the product of bandwidth and delay.
///
/// It is doubled when half of it arrived within one round trip of a PING.
package struct ReceiveWindow: Hashable, Sendable {
    package private(set) var size = HTTP2Limits.streamWindow
    private var arrived = 0

    package init() {}

    package mutating func received(_ count: Int) { arrived += count }

    /// Whether enough has arrived since `begin` to show that it is too small.
    package var isFull: Bool { size < HTTP2Limits.longestStreamWindow && arrived >= size / 2 }

    /// A measurement begins, or the receiver has resumed: what came before does not count.
    package mutating func begin() { arrived = 0 }

    /// The measurement is over.
    ///
    /// Returns the new size if it grows.
    package mutating func end() -> Int? {
        let grows = isFull
        arrived = 0
        guard grows else { return nil }
        size = min(HTTP2Limits.longestStreamWindow, size * 2)
        return size
    }
}

/// When the round trip is measured: one PING at a time, and the less often the longer it changed nothing.
struct WindowProbe: Hashable, Sendable {
    private static let shortestPause = Interval.milliseconds(250)
    private static let longestPause = Interval.seconds(4)

    private var value: UInt64 = 0
    private(set) var isUnderWay = false
    private var pause = Self.shortestPause
    private var next: Instant

    init(at now: Instant) { next = now }

    func isDue(at now: Instant) -> Bool { !isUnderWay && next <= now }

    mutating func begin() -> UInt64 {
        isUnderWay = true
        value += 1
        return value
    }

    /// Whether the PING that returned is the one under way.
    func isReply(_ value: UInt64) -> Bool { isUnderWay && value == self.value }

    /// After a window has grown, the next measurement may follow at once.
    mutating func end(hasGrown: Bool, at now: Instant) {
        isUnderWay = false
        pause = hasGrown ? Self.shortestPause : min(Self.longestPause, pause * 2)
        next = hasGrown ? now : now + pause
    }
}

extension TransferFault {
    /// The end of the connection or a reset came before the end of the stream.
    static let streamEndedEarly = TransferFault(
        .truncated, LocalizableMessage("h2-stream-ended-early", "the server ended the response before it was complete"))
    static let wrongStreamLength = TransferFault(
        .truncated,
        LocalizableMessage("h2-length", "the response does not have the length that the server has stated"))
    static let calm = TransferFault(
        .connectionRefused,
        LocalizableMessage("h2-calm", "the server refused further requests (ENHANCE_YOUR_CALM)"))
    static let refusedStream = TransferFault(
        .connectionRefused, LocalizableMessage("h2-refused", "the server refused the request (REFUSED_STREAM)"))
    static let emptyFrames = TransferFault(
        .malformed, LocalizableMessage("h2-empty-frames", "the server sends frames without content"))
    static let silentConnection = TransferFault(
        .connectionLost, LocalizableMessage("h2-silent", "the connection brings nothing, and no reply to a PING"))
    static let unreadOutput = TransferFault(
        .connectionLost, LocalizableMessage("h2-unread", "the server no longer reads what it is sent"))

    static func streamReset(_ kind: Kind, _ code: HTTP2Code) -> TransferFault {
        TransferFault(kind, LocalizableMessage("h2-reset", "the server reset the request (\(code.name))"))
    }

    static func brokenHTTP2(_ code: HTTP2Code) -> TransferFault {
        TransferFault(
            .malformed, LocalizableMessage("h2-broken", "the server broke the rules of HTTP/2 (\(code.name))"))
    }
}
