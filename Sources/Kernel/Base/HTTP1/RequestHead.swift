/// The request line and header section of a request, as parsed by an HTTP/1.1 server (RFC 9112 §3, §5).
///
/// Strict: ambiguous input is refused, since a proxy in between may have parsed it differently.
package struct RequestHead: Hashable, Sendable {
    package struct Parameter: Hashable, Sendable {
        package var name: String
        package var value: String
    }

    package var method: String
    /// Percent-decoded, without the query; begins with `/`, or is `*`.
    package var path: String
    /// Percent-decoded, in order.
    package var query: [Parameter] = []
    /// By name in lower case; several of one name are joined with commas where that is allowed.
    package var fields: [String: String] = [:]
    /// The length of the body that follows, in bytes.
    package var bodyLength = 0
    /// Whether the client waits for 100 Continue before it sends the body (RFC 9110 §10.1.1).
    package var expectsContinue = false
    /// Whether another request may follow on the connection.
    package var keepsConnection = true
    /// The key of a WebSocket handshake (RFC 6455 §4.2.1); `nil` without a handshake.
    package var webSocketKey: String?

    /// The maximum number of fields.
    package static let mostFields = 100
    /// The maximum number of parameters in the query.
    package static let mostParameters = 100
    /// The maximum length of a path in bytes, as it was sent.
    package static let longestPath = 1024
    /// The maximum length in bytes of a field's value that is interpreted for any client.
    package static let longestInterpreted = 1024

    /// Parses a whole header section with the empty line at its end.
    package init(parsing bytes: ArraySlice<UInt8>) throws(RequestFault) {
        // Each line keeps its carriage return, the empty line at the end is left out.
        var lines = bytes.dropLast(3).split(separator: .lineFeed, omittingEmptySubsequences: false)[...]
        guard let first = lines.popFirst() else { throw .malformed("the request is empty") }
        let (method, target, isCurrent) = try RequestHead.requestLine(first.dropLast())
        self.method = method
        path = ""
        guard lines.count <= RequestHead.mostFields else {
            throw RequestFault(431, "the request has more than \(RequestHead.mostFields) fields")
        }
        for line in lines { try takeField(line.dropLast()) }
        try checkLengths()
        try takeTarget(target)
        guard fields["host"] != nil || !isCurrent else { throw .malformed("the request has no Host field") }
        let options = RequestHead.list(fields["connection"])
        keepsConnection = isCurrent && !options.contains("close")
        try takeFraming(isCurrent: isCurrent)
        try takeUpgrade(options, isCurrent: isCurrent)
    }

    private static func requestLine(
        _ line: ArraySlice<UInt8>
    ) throws(RequestFault) -> (method: String, target: ArraySlice<UInt8>, isCurrent: Bool) {
        let parts = line.pieces(between: .space)
        guard parts.count == 3, !parts[0].isEmpty, parts[0].allSatisfy(\.isTokenCharacter) else {
            throw .malformed("the request line is not 'METHOD TARGET HTTP/1.1'")
        }
        let method = String(decoding: parts[0], as: UTF8.self)
        switch String(decoding: parts[2], as: UTF8.self) {
        case "HTTP/1.1": return (method, parts[1], true)
        case "HTTP/1.0": return (method, parts[1], false)
        case let other where other.hasPrefix("HTTP/"):
            throw RequestFault(505, "only HTTP/1.1 and HTTP/1.0 are supported")
        default: throw .malformed("the request line has no version of HTTP")
        }
    }

    // MARK: target

    private mutating func takeTarget(_ target: ArraySlice<UInt8>) throws(RequestFault) {
        if target.elementsEqual([.asterisk]), method == "OPTIONS" {
            path = "*"
            return
        }
        guard target.first == .slash, target.allSatisfy({ $0 > .space && $0 < 0x7F && $0 != .hash }) else {
            throw .malformed("the request's target is not a path")
        }
        let halves = target.split(separator: .questionMark, maxSplits: 1, omittingEmptySubsequences: false)
        guard halves[0].count <= RequestHead.longestPath else {
            throw RequestFault(414, "the path is longer than \(RequestHead.longestPath) bytes")
        }
        path = try RequestHead.decoded(halves[0])
        guard halves.count > 1 else { return }
        let pieces = halves[1].split(separator: UInt8(ascii: "&"))
        guard pieces.count <= RequestHead.mostParameters else {
            throw RequestFault(414, "the query has more than \(RequestHead.mostParameters) parameters")
        }
        for piece in pieces {
            let sides = piece.split(separator: .equals, maxSplits: 1, omittingEmptySubsequences: false)
            query.append(
                Parameter(
                    name: try RequestHead.decoded(sides[0]),
                    value: sides.count > 1 ? try RequestHead.decoded(sides[1]) : ""))
        }
    }

    private static func decoded(_ bytes: ArraySlice<UInt8>) throws(RequestFault) -> String {
        guard let plain = PercentCoding.strictlyDecoded(bytes), !plain.contains(where: \.isControl),
            let text = String(validating: plain, as: UTF8.self)
        else { throw .malformed("the request's target has an invalid percent-encoding") }
        return text
    }

    // MARK: fields

    /// Fields that occur at most once in a request: which of two lengths applies would be ambiguous.
    private static let singletons: Set<String> = [
        "host", "origin", "authorization", "cookie", "content-type", "range", "if-range", "expect", "sec-fetch-site",
        "sec-websocket-key", "sec-websocket-version", "content-length", "upgrade",
    ]

    private mutating func takeField(_ line: ArraySlice<UInt8>) throws(RequestFault) {
        guard let colon = line.firstIndex(of: .colon), colon > line.startIndex else {
            throw .malformed("a line of the header section is not a field")
        }
        // White space before the colon or at a line's beginning is used for request smuggling (RFC 9112 §5.1,
        // §5.2).
        guard line[..<colon].allSatisfy(\.isTokenCharacter) else {
            throw .malformed("a field's name has a character that is not allowed")
        }
        let value = line[(colon + 1)...].trimmed(\.isBlank)
        guard value.allSatisfy({ !$0.isControl || $0 == .tab }) else {
            throw .malformed("a field's value has a control character")
        }
        let name = String(decoding: line[..<colon].map(\.lowercased), as: UTF8.self)
        let text = String(field: value)
        guard let known = fields[name] else {
            fields[name] = text
            return
        }
        guard !RequestHead.singletons.contains(name) else { throw .malformed("the request has two \(name) fields") }
        fields[name] = known + ", " + text
    }

    /// Fields that are interpreted for any client, unlike those that are only compared or passed on.
    private static let interpreted = [
        "host", "origin", "connection", "expect", "upgrade", "range", "content-length", "sec-fetch-site",
    ]

    /// All clients wait while the server's thread interprets one client's fields.
    private func checkLengths() throws(RequestFault) {
        for name in RequestHead.interpreted {
            guard (fields[name]?.utf8.count ?? 0) <= RequestHead.longestInterpreted else {
                throw RequestFault(431, "the field \(name) is longer than \(RequestHead.longestInterpreted) bytes")
            }
        }
    }

    private static func list(_ value: String?) -> [String] {
        (value ?? "").lowercased().split(separator: ",").map { piece in
            String(decoding: Array(piece.utf8).trimmed(\.isBlank), as: UTF8.self)
        }
    }

    private mutating func takeFraming(isCurrent: Bool) throws(RequestFault) {
        if fields["transfer-encoding"] != nil { throw RequestFault(411, "a request with a body needs Content-Length") }
        if let expected = fields["expect"] {
            guard expected.lowercased() == "100-continue" else {
                throw RequestFault(417, "only 100-continue is supported in Expect")
            }
            expectsContinue = isCurrent
        }
        guard let text = fields["content-length"] else {
            if method == "POST" { throw RequestFault(411, "a request with a body needs Content-Length") }
            return
        }
        guard !text.isEmpty, text.utf8.allSatisfy(\.isDigit) else {
            throw .malformed("the Content-Length is not a number")
        }
        bodyLength = Int(text) ?? .max
        guard bodyLength == 0 || method == "POST" else { throw .malformed("only POST may have a body") }
    }

    /// WebSocket is the only protocol that a connection can change to.
    private mutating func takeUpgrade(_ options: [String], isCurrent: Bool) throws(RequestFault) {
        guard let upgrade = fields["upgrade"] else { return }
        guard upgrade.lowercased() == "websocket" else { throw .malformed("only an upgrade to WebSocket is supported") }
        guard method == "GET", isCurrent, options.contains("upgrade"), let key = fields["sec-websocket-key"],
            let bytes = Base64.decode(key.utf8), bytes.count == 16
        else { throw .malformed("the WebSocket handshake is malformed") }
        guard fields["sec-websocket-version"] == "13" else {
            // RFC 6455 §4.4.
            throw RequestFault(426, "only WebSocket version 13 is supported")
        }
        webSocketKey = key
    }
}

/// Why a request is rejected: the status of the response, and a message.
package struct RequestFault: Error, Hashable, Sendable {
    package var status: Int
    package var text: String

    package init(_ status: Int, _ text: String) {
        self.status = status
        self.text = text
    }

    package static func malformed(_ text: String) -> RequestFault { RequestFault(400, text) }
}
