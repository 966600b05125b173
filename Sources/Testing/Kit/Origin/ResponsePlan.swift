/// A response as it will be sent: everything that depends on the request is decided here, before the first byte.
struct ResponsePlan {
    enum Body {
        /// Bytes of the resource, from this offset of its representation.
        case content(Payload, from: Int64)
        case bytes([UInt8])
    }

    package var status: Int
    var version = "HTTP/1.1"
    var lines: [[UInt8]] = []
    var body: Body
    /// The body bytes to send; may exceed what the header lines declare.
    var count: Int64
    var isChunked = false
    /// Whether the connection ends with this response.
    var closes = false
    /// Whether it is an error of a concurrency limit or a login, which is sent whole: cuts apply to the requested content.
    var isRefusal = false
    /// Whether the body is the plain content at its offset.
    var isContent = false

    var bodyStart: Int64 {
        guard isContent, case .content(_, let start) = body else { return 0 }
        return start
    }

    mutating func add(_ line: String) { lines.append(Array(line.utf8)) }

    /// The header section as it is sent.
    func head(bareLF: Bool) -> [UInt8] {
        let lineEnd: [UInt8] = bareLF ? [10] : [13, 10]
        var bytes = Array("\(version) \(status) \(Self.reason(status))".utf8) + lineEnd
        for line in lines { bytes += line + lineEnd }
        return bytes + lineEnd
    }

    static func reason(_ status: Int) -> String {
        let reasons = [
            100: "Continue", 103: "Early Hints", 200: "OK", 206: "Partial Content", 301: "Moved Permanently",
            302: "Found", 303: "See Other", 307: "Temporary Redirect", 308: "Permanent Redirect", 401: "Unauthorized",
            403: "Forbidden", 404: "Not Found", 410: "Gone", 416: "Range Not Satisfiable", 429: "Too Many Requests",
            500: "Internal Server Error", 502: "Bad Gateway", 503: "Service Unavailable",
        ]
        return reasons[status] ?? "Status \(status)"
    }
}

extension ResponsePlan {
    init(_ instead: Behaviour.SubstituteResponse) {
        self.init(status: instead.status, body: .bytes(instead.body), count: Int64(instead.body.count))
        for line in instead.lines { add(line) }
        if instead.hasLength { add("Content-Length: \(instead.body.count)") } else { closes = true }
    }

    /// Adds the traits of a behaviour that apply to every response.
    mutating func dress(_ behaviour: Behaviour) {
        if behaviour.hasDate { add("Date: \(HTTPDate.text(HTTPDate.now))") }
        lines += behaviour.lines
        switch behaviour.kept {
        case .open, .diesOnReuse: break
        case .closes:
            add("Connection: close")
            closes = true
        case .closesSilently: closes = true
        }
    }
}
