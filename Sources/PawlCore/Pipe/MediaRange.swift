/// The media types that are accepted: `TYPE/SUBTYPE`, `TYPE/*` or `*/*` (RFC 9110 §12.5.1).
package struct MediaRange: Hashable, Sendable {
    private let type: String
    private let subtype: String

    package init?(_ text: String) {
        guard let media = MediaType(parsing: text) else { return nil }
        type = media.type
        subtype = media.subtype
    }

    /// Whether a Content-Type is among them; a missing one is only among all.
    package func contains(_ contentType: String?) -> Bool {
        guard let media = contentType.flatMap({ MediaType(parsing: $0) }) else { return type == "*" }
        return (type == "*" || type == media.type) && (subtype == "*" || subtype == media.subtype)
    }
}

/// The part of a host's limits that this process has, `K/N`.
package struct HostShare: Hashable, Sendable {
    package static let whole = HostShare(number: 1, count: 1)

    /// From 1.
    package let number: Int
    package let count: Int

    private init(number: Int, count: Int) {
        self.number = number
        self.count = count
    }

    package init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).map { Int($0) }
        guard parts.count == 2, let number = parts[0], let count = parts[1], count > 0, count <= 1_000_000,
            (1...count).contains(number)
        else { return nil }
        self.init(number: number, count: count)
    }

    /// The shares of all together are exactly the whole; `nil` where nothing is left for this one.
    package func connections(of whole: Int) -> Int? {
        let own = whole / count + (number <= whole % count ? 1 : 0)
        return own > 0 ? own : nil
    }

    /// With so many processes, each pauses for so much longer.
    package func delay(of whole: Interval) -> Interval { whole * Double(count) }
}
