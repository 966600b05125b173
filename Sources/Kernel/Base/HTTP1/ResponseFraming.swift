/// The framing of a response's body and the persistence of its connection, from its head (RFC 9112 §6.3,
/// §9.3).
package struct ResponseFraming: Hashable, Sendable {
    /// The framing of the body.
    package enum Body: Hashable, Sendable {
        case none
        case length(Int64)
        case chunked
        case untilClose
    }

    package private(set) var status = 0
    package private(set) var body = Body.untilClose
    package private(set) var keepsConnection = false
    /// The values of the Set-Cookie fields.
    package private(set) var cookies: [String] = []

    /// Whether another head follows for the same request.
    package var isInterim: Bool { (100..<200).contains(status) && status != 101 }

    /// Parses a whole head with the empty line at its end, its content fields included.
    package static func read(_ head: [UInt8]) throws(TransferFault) -> (framing: ResponseFraming, content: ResponseHead)
    {
        var framing = ResponseFraming()
        var fields = Fields()
        let isCurrent = try framing.readStatus(head)
        // A message with NUL in a field is rejected (RFC 9110 §5.5).
        guard head.firstIndex(of: 0, from: 0) == nil else {
            throw TransferFault(
                .malformed, LocalizableMessage("fault-head-nul", "the response head contains a NUL byte"))
        }
        guard let content = ResponseHead(parsing: head, look: { fields.take($0, $1) }) else {
            throw TransferFault.headNotHTTP
        }
        framing.cookies = fields.cookies
        try framing.decide(fields, isCurrent: isCurrent)
        return (framing, content)
    }

    /// The same of an HTTP/2 stream: its end ends a body without a length, and no field decides about the connection
    /// (RFC 9113 §8.1).
    package static func read(
        stream head: [UInt8]
    ) throws(TransferFault) -> (
        framing: ResponseFraming, content: ResponseHead
    ) {
        var framing = ResponseFraming()
        var fields = Fields()
        guard var content = ResponseHead(parsing: head, look: { fields.take($0, $1) }) else {
            throw TransferFault.headNotHTTP
        }
        content.isOfStream = true
        framing.status = content.status
        framing.cookies = fields.cookies
        try framing.decide(fields, isCurrent: true)
        if framing.body == .chunked { framing.body = .untilClose }
        framing.keepsConnection = true
        return (framing, content)
    }

    private init() {}

    /// Whether the first bytes received can become a head.
    package static func canBegin(_ bytes: [UInt8]) -> Bool { beginning.starts(with: bytes.prefix(7)) }

    private static let beginning = Array("HTTP/1.".utf8)

    /// Whether the bytes begin with an alert of TLS (RFC 8446 §5.1).
    package static func isAlert(_ bytes: [UInt8]) -> Bool { bytes.starts(with: [0x15, 0x03]) }

    /// Whether the bytes are a server's first frame of HTTP/2: SETTINGS, or GOAWAY (RFC 9113 §3.4, §4.1); `nil` as long as they
    /// may be.
    package static func isHTTP2(_ bytes: [UInt8]) -> Bool? {
        // The length, whose first byte is zero, the type, flags, and the connection's stream.
        let connection: [UInt8] = [0, 0, 0, 0]
        guard bytes.first == 0 else { return false }
        guard bytes.count >= 9 else { return nil }
        return (bytes[3] == 4 || bytes[3] == 7) && bytes[5..<9].elementsEqual(connection)
    }

    /// Returns whether the version is 1.1 (or a later one of the same major number).
    private mutating func readStatus(_ head: [UInt8]) throws(TransferFault) -> Bool {
        guard head.count > 12, Self.canBegin(head), (0x30...0x39).contains(head[7]) else {
            throw TransferFault.headNotHTTP
        }
        var index = 8
        while index < head.count, head[index] == 0x20 || head[index] == 0x09 { index += 1 }
        let digits = head[index...].prefix { (0x30...0x39).contains($0) }
        guard index > 8, digits.count == 3 else {
            throw TransferFault(.malformed, LocalizableMessage("fault-no-status", "the response has no status"))
        }
        status = digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
        return head[7] > 0x30
    }

    private mutating func decide(_ fields: Fields, isCurrent: Bool) throws(TransferFault) {
        keepsConnection = isCurrent ? !fields.closes : fields.keeps && !fields.closes
        if fields.hasForeignCoding {
            throw TransferFault(
                .malformed,
                LocalizableMessage("fault-transfer-coding", "the response has an unsupported transfer coding"))
        }
        switch status {
        case 100..<200, 204, 304:
            body = .none
            if status == 101 { keepsConnection = false }
        default:
            if fields.isChunked {
                body = .chunked
                // Both at once indicate request smuggling; chunks of HTTP/1.0 are as suspicious (RFC 9112
                // §6.1).
                if fields.hasLength || !isCurrent { keepsConnection = false }
            } else if fields.hasBadLength {
                throw TransferFault(
                    .malformed,
                    LocalizableMessage(
                        "fault-bad-length", "the response has an invalid Content-Length, or two that differ"))
            } else if let length = fields.length {
                body = .length(length)
            } else {
                body = .untilClose
                keepsConnection = false
            }
        }
    }
}

/// The fields that determine the framing.
private struct Fields {
    var length: Int64?
    var hasLength = false
    var hasBadLength = false
    var isChunked = false
    var hasForeignCoding = false
    var closes = false
    var keeps = false
    var cookies: [String] = []

    /// Both without surrounding white space.
    mutating func take(_ name: ArraySlice<UInt8>, _ value: ArraySlice<UInt8>) {
        switch name.count {
        case 10:
            if name.isCaseInsensitively("connection") {
                take(connection: value)
            } else if name.isCaseInsensitively("set-cookie") {
                cookies.append(String(decoding: value, as: UTF8.self))
            }
        case 14: if name.isCaseInsensitively("content-length") { take(length: value) }
        case 17: if name.isCaseInsensitively("transfer-encoding") { take(coding: value) }
        default: break
        }
    }

    private mutating func take(connection value: ArraySlice<UInt8>) {
        if value.isCaseInsensitively("keep-alive") {
            keeps = true
            return
        }
        for option in value.split(separator: .comma) {
            if option.trimmed(\.isBlank).isCaseInsensitively("close") { closes = true }
            if option.trimmed(\.isBlank).isCaseInsensitively("keep-alive") { keeps = true }
        }
    }

    /// Copies of one number are harmless (RFC 9110 §8.6).
    private mutating func take(length value: ArraySlice<UInt8>) {
        hasLength = true
        if let number = value.decimalNumber, length == nil || length == number {
            length = number
            return
        }
        for piece in value.split(separator: .comma, omittingEmptySubsequences: false) {
            let number = piece.trimmed(\.isBlank).decimalNumber
            if number == nil || length != nil && length != number { hasBadLength = true }
            length = number
        }
    }

    private mutating func take(coding value: ArraySlice<UInt8>) {
        for piece in value.split(separator: .comma) {
            let coding = piece.trimmed(\.isBlank)
            // `identity` was a coding of RFC 2616 that means none.
            if coding.isEmpty || coding.isCaseInsensitively("identity") { continue }
            // A repeated name is one coding: no server sends chunks within chunks, and some proxies add their
            // own field to an existing one.
            if coding.isCaseInsensitively("chunked") { isChunked = true } else { hasForeignCoding = true }
        }
    }
}
