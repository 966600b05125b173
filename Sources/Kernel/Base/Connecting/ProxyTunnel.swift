/// The response of an HTTP proxy to CONNECT (RFC 9110 §9.3.6).
package struct ProxyTunnel: Hashable, Sendable {
    package enum Step: Hashable, Sendable {
        /// All bytes were read; more are needed.
        case more
        /// What follows comes from the target.
        case open
        /// The proxy requires a login; `keeps`: the request can be sent again over the same connection.
        case challenged(ResponseHead, keeps: Bool)
        /// With this status.
        case refused(Int)
        case failed(TransferFault)
    }

    private var reader = ResponseReader()
    private let drains: Bool
    /// The 407 whose body is being read, and how much of that was read.
    private var challenge: ResponseHead?
    private var drained = 0
    /// When its body is no longer waited for.
    package private(set) var due: Instant?

    /// `drains`: whether the body of a 407 is read so that the connection can carry the next request.
    package init(drains: Bool) {
        self.drains = drains
        reader.begin()
    }

    /// The request; `target` is host and port.
    package static func request(to target: String, authorization: String?, userAgent: String) -> [UInt8] {
        var lines = ["CONNECT \(target) HTTP/1.1", "Host: \(target)"]
        if let authorization { lines.append("Proxy-Authorization: \(authorization)") }
        if !userAgent.isEmpty { lines.append("User-Agent: \(userAgent)") }
        // HTTP/1.0 proxies know it by this name only.
        lines.append("Proxy-Connection: Keep-Alive")
        return Array(lines.joined(separator: "\r\n").utf8) + Array("\r\n\r\n".utf8)
    }

    /// Reads from the front of `bytes` up to the next step; returns how many bytes that was.
    package mutating func received(_ bytes: UnsafeRawBufferPointer, at now: Instant) -> (used: Int, step: Step) {
        var used = 0
        while true {
            let (count, step) = unsafe reader.scan(UnsafeRawBufferPointer(rebasing: bytes[used...]))
            var taken = count
            if case .data(let length) = step {
                reader.take(length)
                taken += length
            }
            used += taken
            if let challenge {
                drained += taken
                if drained > HTTP1Limits.longestDrain { return (used, .challenged(challenge, keeps: false)) }
            }
            switch step {
            case .incomplete: return (used, .more)
            case .data: continue
            case .head(let head):
                if let step = begin(head, at: now) { return (used, step) }
            case .end: return (used, challenge.map { .challenged($0, keeps: true) } ?? .more)
            case .broken(let fault): return (used, lost(fault))
            }
        }
    }

    /// The result of a head; `nil` for one whose body is read first.
    private mutating func begin(_ head: ResponseHead, at now: Instant) -> Step? {
        if 200..<300 ~= head.status { return .open }
        guard head.status == 407 else { return .refused(head.status) }
        guard drains, HTTP1Limits.isWorthDraining(reader.body, keepsConnection: reader.keepsConnection) else {
            return .challenged(head, keeps: false)
        }
        challenge = head
        due = now + HTTP1Limits.drainTime
        return nil
    }

    /// The connection was lost, or the body of a 407 is late.
    package func lost(_ fault: TransferFault) -> Step {
        challenge.map { .challenged($0, keeps: false) } ?? .failed(fault)
    }

    /// A 407 as the final response to the request for which the tunnel was meant, without its body.
    package static func refusal(_ head: ResponseHead) -> ResponseHead {
        let fields = head.fields.filter { $0.name.utf8.isCaseInsensitively("proxy-authenticate") }
        let lines = ["HTTP/1.1 407 Proxy Authentication Required", "Content-Length: 0"]
        let text = (lines + fields.map { "\($0.name): \($0.value)" } + ["", ""]).joined(separator: "\r\n")
        guard var refusal = ResponseHead(parsing: Array(text.utf8)) else { return head }
        refusal.lines = Array(text.utf8)
        return refusal
    }
}
