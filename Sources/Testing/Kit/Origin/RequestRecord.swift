package import PawlBase

/// One request as it was received.
package struct Request: Hashable, Sendable {
    package var method: String
    /// As sent: path and query.
    package var target: String
    package var version: String
    package var headers: [(name: String, value: String)] { zip(names, values).map { ($0, $1) } }
    private var names: [String]
    private var values: [String]

    package init(method: String, target: String, version: String, headers: [(name: String, value: String)]) {
        self.method = method
        self.target = target
        self.version = version
        names = headers.map(\.name)
        values = headers.map(\.value)
    }

    package var path: String { String(target.prefix { $0 != "?" }) }

    /// The value of the first field of that name, in any case.
    package func header(_ name: String) -> String? {
        let wanted = name.lowercased()
        return zip(names, values).first { $0.0.lowercased() == wanted }?.1
    }

    /// The Range field; `nil` when there is none, or in a form that this server does not support.
    package var range: RangeHeader? {
        guard let text = header("Range"), text.hasPrefix("bytes=") else { return nil }
        return RangeHeader(text.dropFirst(6))
    }
}

/// One range of a Range field (RFC 9110 §14.1.2), ends inclusive as in the field.
package enum RangeHeader: Hashable, Sendable {
    case from(Int64, last: Int64?)
    case suffix(Int64)

    init?(_ text: Substring) {
        guard let dash = text.firstIndex(of: "-"), !text.contains(",") else { return nil }
        let last = Int64(text[text.index(after: dash)...])
        if dash == text.startIndex {
            guard let last else { return nil }
            self = .suffix(last)
        } else {
            guard let first = Int64(text[..<dash]) else { return nil }
            self = .from(first, last: last)
        }
    }

    /// The bytes of the range in content of `length` bytes, `nil` when it is unsatisfiable (416).
    package func resolved(in length: Int64) -> ByteRange? {
        switch self {
        case .from(let first, let last):
            let end = last.map { min($0 + 1, length) } ?? length
            return first < length && first < end ? ByteRange(first, end) : nil
        case .suffix(let count): return count > 0 && length > 0 ? ByteRange(max(0, length - count), length) : nil
        }
    }
}

/// How an exchange ended.
package enum ExchangeEnd: Hashable, Sendable {
    /// Everything planned was handed to the kernel.
    case completed
    /// The server cut it on purpose.
    case cut
    /// The client closed or reset the connection.
    case peerClosed
    /// `stop()` came first.
    case stopped
}

/// The origin's record of a request.
package struct RequestRecord: Sendable {
    /// Counts from 0 in the order of arrival, over the whole origin.
    package var number: Int
    /// Counts from 0 in the order of accepting.
    package var connection: Int
    package var request: Request
    /// `nil` when no status line was sent.
    package var status: Int?
    /// Offset in the content at which the body began; 0 for bodies that are no part of the content.
    package var bodyStart: Int64 = 0
    /// Whether the body is the resource's content, and not a page, redirect or multipart wrapping.
    package var isContent = false
    /// Bytes of the body handed to the kernel, without chunk framing.
    package var bodySent: Int64 = 0
    /// `true` while the exchange waits: held back, stalled, or late.
    package var isHeld = false
    package var end: ExchangeEnd?

    package var path: String { request.path }
    package var range: RangeHeader? { request.range }
    package var hasRange: Bool { request.header("Range") != nil }
    /// The bytes of the content that were sent.
    package var contentSent: ByteRange? { isContent && bodySent > 0 ? ByteRange(bodyStart, bodyStart + bodySent) : nil }
}

/// All requests of an origin so far.
package struct RequestLog: Sendable {
    package var records: [RequestRecord] = []
    /// Connections accepted, those closed at once included.
    package var connections = 0
    /// Connections open now.
    package var open = 0
    /// The most that were open at once.
    package var mostOpen = 0

    /// The records of one path.
    package func of(_ path: String) -> [RequestRecord] { records.filter { $0.path == path } }

    /// Bytes of body sent for a path, or for all.
    package func bodySent(_ path: String? = nil) -> Int64 {
        records.reduce(0) { $0 + (path == nil || $1.path == path ? $1.bodySent : 0) }
    }

    /// Bytes of the content that were sent more than once, for any reason.
    package func sentTwice(_ path: String) -> Int64 {
        let sent = of(path).compactMap(\.contentSent)
        return sent.reduce(0) { $0 + $1.count } - ByteRangeSet(sent).count
    }
}
