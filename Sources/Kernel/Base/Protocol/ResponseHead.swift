/// A response's head, parsed in one pass over its lines: only the fields that a decision uses.
///
/// The fields are kept by reference until one is changed: a head is passed on many times, and each copy costs
/// one retain.
package struct ResponseHead: Hashable, Sendable {
    private struct Values: Hashable {
        var status: Int
        var isOfStream = false
        var contentLength: Int64?
        var hasContradictoryLength = false
        var contentRange: ContentRangeField = .absent
        var acceptRanges: AcceptRanges = .unstated
        var contentEncoding: String?
        var contentType: String?
        var dispositions: [[UInt8]] = []
        var entityTag: EntityTag?
        var lastModified: UnixTime?
        var date: UnixTime?
        var retryAfter: String?
        var rateLimit: RateLimitFields?
        var location: String?
        var hasContradictoryLocation = false
        var link: String?
        var transportSecurity: String?
        var digests: [StatedDigest] = []
        var storedForm = StoredForm()
        var refusal: StatedRefusal?
        var lines: [UInt8] = []
    }

    private var shared: CopyOnWrite<Values>

    private var values: Values {
        _read { yield shared.value }
        _modify { yield &shared.value }
    }

    /// The status code; 0 for FTP and SFTP, which have none.
    package var status: Int {
        get { values.status }
        set { values.status = newValue }
    }
    /// Whether it came over a connection that carries many requests at once.
    package var isOfStream: Bool {
        get { values.isOfStream }
        set { values.isOfStream = newValue }
    }
    /// The body's length in bytes: Content-Length, or the size that an FTP or SFTP server reported.
    ///
    /// `nil` when absent, malformed, or overruled by Transfer-Encoding (RFC 9112 §6.3).
    package var contentLength: Int64? {
        get { values.contentLength }
        set { values.contentLength = newValue }
    }
    /// Two different lengths were given: the end of the body is unknown (RFC 9112 §6.3).
    package var hasContradictoryLength: Bool {
        get { values.hasContradictoryLength }
        set { values.hasContradictoryLength = newValue }
    }
    package var contentRange: ContentRangeField {
        get { values.contentRange }
        set { values.contentRange = newValue }
    }
    package var acceptRanges: AcceptRanges {
        get { values.acceptRanges }
        set { values.acceptRanges = newValue }
    }
    /// Content-Encoding as sent, `nil` when absent or `identity`.
    package var contentEncoding: String? {
        get { values.contentEncoding }
        set { values.contentEncoding = newValue }
    }
    package var contentType: String? {
        get { values.contentType }
        set { values.contentType = newValue }
    }
    /// The first Content-Disposition field.
    package var contentDisposition: String? {
        get { values.dispositions.first.map { String(field: $0) } }
        set { values.dispositions = newValue.map { [Array($0.utf8)] } ?? [] }
    }
    /// The Content-Disposition fields as sent, at most ``mostDispositions``: the bytes of a name may be of any charset.
    var dispositions: [[UInt8]] {
        get { values.dispositions }
        set { values.dispositions = newValue }
    }
    static let mostDispositions = 8

    /// The file name that the server suggests: that of the first Content-Disposition field with one, not yet made safe.
    package func suggestedName(_ charsets: CharsetDecoder) -> String? {
        guard !dispositions.isEmpty else { return nil }
        let stated = contentType.flatMap { MediaType(parsing: $0)?["charset"] }.map { Array($0.utf8) }
        return dispositions.lazy.compactMap { ContentDisposition.fileName(from: $0, charsets, stated: stated) }.first
    }
    package var entityTag: EntityTag? {
        get { values.entityTag }
        set { values.entityTag = newValue }
    }
    /// Last-Modified as a time; `nil` when absent or not a date.
    package var lastModified: UnixTime? {
        get { values.lastModified }
        set { values.lastModified = newValue }
    }
    /// The server's own clock at the response (Date), for Retry-After dates and the age of Last-Modified.
    package var date: UnixTime? {
        get { values.date }
        set { values.date = newValue }
    }
    package var retryAfter: String? {
        get { values.retryAfter }
        set { values.retryAfter = newValue }
    }
    /// What the server states of its quotas of requests; `nil` if nothing.
    package var rateLimit: RateLimitFields? {
        get { values.rateLimit }
        set { values.rateLimit = newValue }
    }
    package var location: String? {
        get { values.location }
        set { values.location = newValue }
    }
    /// Two different Location values were given: the redirect's target is unknown.
    package var hasContradictoryLocation: Bool {
        get { values.hasContradictoryLocation }
        set { values.hasContradictoryLocation = newValue }
    }
    package var link: String? {
        get { values.link }
        set { values.link = newValue }
    }
    /// Strict-Transport-Security.
    package var transportSecurity: String? {
        get { values.transportSecurity }
        set { values.transportSecurity = newValue }
    }
    /// What digest fields state, in the order received; see ``applicableDigests``.
    var digests: [StatedDigest] {
        get { values.digests }
        set { values.digests = newValue }
    }
    /// What fields state of the form in which the object is stored.
    var storedForm: StoredForm {
        get { values.storedForm }
        set { values.storedForm = newValue }
    }
    /// What the body of a refused request says of it; set by the transport.
    package var refusal: StatedRefusal? {
        get { values.refusal }
        set { values.refusal = newValue }
    }
    /// The head as received, for API clients; empty for FTP and SFTP.
    ///
    /// No decision uses it.
    package var lines: [UInt8] {
        get { values.lines }
        set { values.lines = newValue }
    }

    package init(status: Int) { shared = CopyOnWrite(Values(status: status)) }

    /// A file's attributes from an FTP or SFTP server.
    package init(fileLength: Int64?, modified: UnixTime?) {
        self.init(status: 0)
        contentLength = fileLength.flatMap { $0 >= 0 ? $0 : nil }
        lastModified = modified
    }

    /// Whether the body is in parts, each with a Content-Range of its own (RFC 9110 §14.6).
    package var isMultipart: Bool {
        guard let contentType else { return false }
        let type = contentType.utf8.prefix { $0 != .semicolon && $0 != .comma }
        return Array(type).trimmed(\.isWhiteSpace).isCaseInsensitively("multipart/byteranges")
    }
}

/// Content-Range (RFC 9110 §14.4).
package enum ContentRangeField: Hashable, Sendable {
    case absent
    /// `bytes first-last/total`, as a half-open range; `total` is `nil` for `*`.
    case range(ByteRange, total: Int64?)
    /// `bytes */total`, the form of a 416.
    case unsatisfied(total: Int64)
    /// Present and none of these, with the field's text.
    case malformed(String)
}

package enum AcceptRanges: Hashable, Sendable {
    case unstated
    case bytes
    case none
}

/// An entity tag (RFC 9110 §8.8.3); `opaque` is the text between the quotes.
package struct EntityTag: Hashable, Sendable {
    @Bytewise package var opaque: String
    package var isWeak: Bool

    package init(opaque: String, isWeak: Bool) {
        self.opaque = opaque
        self.isWeak = isWeak
    }
}

extension ResponseHead {
    /// The length of the whole resource, if a response that is about it states one.
    package var resourceLength: Int64? {
        switch (self.status, self.contentRange) {
        case (200, .range(_, let total?)): total
        case (0, _), (200, _): self.contentLength
        case (206, .range(_, let total)): total
        case (416, .unsatisfied(let total)): total
        case _: nil
        }
    }
}

/// The names of status codes (RFC 9110 §15, RFC 6585).
package enum HTTPStatus {
    /// `nil` for a code without a common name.
    package static func reason(of status: Int) -> String? { reasons[status] }

    private static let reasons: [Int: String] = [
        100: "Continue", 101: "Switching Protocols", 200: "OK", 201: "Created", 202: "Accepted",
        203: "Non-Authoritative Information", 204: "No Content", 205: "Reset Content", 206: "Partial Content",
        300: "Multiple Choices", 301: "Moved Permanently", 302: "Found", 303: "See Other", 304: "Not Modified",
        305: "Use Proxy", 307: "Temporary Redirect", 308: "Permanent Redirect", 400: "Bad Request", 401: "Unauthorized",
        402: "Payment Required", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed", 406: "Not Acceptable",
        407: "Proxy Authentication Required", 408: "Request Timeout", 409: "Conflict", 410: "Gone",
        411: "Length Required", 412: "Precondition Failed", 413: "Content Too Large", 414: "URI Too Long",
        415: "Unsupported Media Type", 416: "Range Not Satisfiable", 417: "Expectation Failed",
        421: "Misdirected Request", 422: "Unprocessable Content", 425: "Too Early", 426: "Upgrade Required",
        428: "Precondition Required", 429: "Too Many Requests", 431: "Request Header Fields Too Large",
        451: "Unavailable For Legal Reasons", 500: "Internal Server Error", 501: "Not Implemented", 502: "Bad Gateway",
        503: "Service Unavailable", 504: "Gateway Timeout", 505: "HTTP Version Not Supported",
        511: "Network Authentication Required",
    ]
}
