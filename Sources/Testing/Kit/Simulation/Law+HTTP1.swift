import PawlBase

// The use of HTTP/1.1 connections.
extension Law {
    /// The header section that a request gets is the one that the server has sent for it.
    static func response(head: [UInt8], expected: [UInt8]) -> String? {
        head == expected ? nil : "got another header section: \(String(decoding: head, as: UTF8.self))"
    }

    /// Of `count` bytes of a body the first `agreed` are those of the response, of which `left` were missing.
    static func response(agreed: Int, of count: Int, left: Int64) -> String? {
        agreed == count && count <= left
            ? nil : "got \(count) bytes of which \(agreed) are of the body, where \(left) were missing"
    }

    static func response(complete count: Int64, of length: Int64) -> String? {
        count == length ? nil : "is complete after \(count) of \(length) bytes"
    }

    /// A connection carries another request.
    static func reuse(isFree: Bool, found: HTTP1Connection.Probe, spoilt: String?) -> String? {
        if !isFree { return "is sent on a connection that carries another request" }
        if let spoilt { return "is sent on a connection that is not to be used again: \(spoilt)" }
        switch found {
        case .nothing: return nil
        case .bytes: return "is sent on a connection with bytes that were not read"
        case .end: return "is sent on a connection that was closed"
        }
    }

    static func sendings(_ count: Int) -> String? { count <= 2 ? nil : "is sent \(count) times" }

    /// A request has failed because its connection was lost.
    static func reported(isReused: Bool, hasResponded: Bool) -> String? {
        isReused && !hasResponded ? "fails because a reused connection was lost" : nil
    }

    static func drained(_ count: Int, until deadline: Instant?, now: Instant) -> String? {
        if count > HTTP1Limits.longestDrain { return "\(count) bytes of an unwanted body were read" }
        guard let deadline, deadline < now else { return nil }
        return "an unwanted body is read \((now - deadline).seconds) s too long"
    }
}
