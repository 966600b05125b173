import PawlBase

// The use of HTTP/2 connections.
extension Law {
    /// A connection carries so many streams with a new one, as far as the client can know.
    static func streams(_ count: Int, of most: Int, hasGoneAway: Bool) -> String? {
        if hasGoneAway { return "is sent after GOAWAY" }
        return count <= most ? nil : "is stream \(count) of \(most)"
    }

    /// A request is sent for the `sendings`th time; `free` of the earlier ones were refused by connections that have served
    /// others.
    static func resent(_ sendings: Int, free: Int, hasHead: Bool) -> String? {
        if hasHead { return "is sent again though its response had begun" }
        if sendings - free > 1 + HTTP2Limits.mostRefusals { return "is sent \(sendings) times, \(free) of them free" }
        // Each of them ends a connection, or waits for others.
        return free <= mostFree ? nil : "is refused \(free) times beside others"
    }

    private static let mostFree = 40

    /// A request fails without a response.
    static func reported(sendings: Int, free: Int, wasRefused: Bool, isLost: Bool, hasHead: Bool) -> String? {
        if hasHead { return nil }
        if wasRefused, sendings - free <= HTTP2Limits.mostRefusals {
            return "fails because its stream was refused, after \(sendings) times"
        }
        return isLost && sendings - free == 1 ? "fails because a connection was lost that has served others" : nil
    }

    /// A server may send `allowed` bytes on a stream, of which the receiver has taken some.
    static func credit(_ allowed: Int, taken: Int, window: Int) -> String? {
        allowed - taken <= window ? nil : "may get \(allowed - taken) bytes more, its window is \(window)"
    }
}
