/// What a socket is connected to.
package enum Endpoint: Hashable, Sendable {
    /// Four bytes of IPv4 or sixteen of IPv6; the zone is the interface of a link-local address (RFC 4007 §11).
    case address([UInt8], zone: String?, port: UInt16)
    /// A Unix socket.
    case local(path: String)

    /// `nil` unless the text is a numeric address without brackets; an IPv6 address may have a zone.
    package init?(_ text: String, port: UInt16) {
        let parts = text.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
        guard let bytes = NumericAddress.bytes(of: String(parts[0])),
            parts.count == 1 || bytes.count == 16 && !parts[1].isEmpty
        else { return nil }
        self = .address(bytes, zone: parts.count == 1 ? nil : String(parts[1]), port: port)
    }

    /// The bytes of its address, none for a Unix socket.
    var bytes: [UInt8] { if case .address(let bytes, _, _) = self { bytes } else { [] } }
}

/// Connects to the addresses of a host, each some time after the one before if that has not failed at once, until the
/// first has succeeded (RFC 8305 §4, §5).
package struct AddressRace: Hashable, Sendable {
    package struct Attempt: Hashable, Sendable {
        /// Never used twice in one establishment.
        package let number: Int
        package let endpoint: Endpoint
    }

    /// The Connection Attempt Delay of RFC 8305 §5.
    package static let delay = Interval.milliseconds(250)
    /// How many addresses are tried: all of them may be under way at once.
    package static let most = 16

    /// The addresses that were not tried, the next one last.
    private var waiting: [Endpoint]
    private var next: Int
    /// The attempts under way.
    package private(set) var open: [Attempt] = []
    /// When the next address is tried although attempts are under way.
    package private(set) var due: Instant?
    /// Of the last attempt that failed; an address that must not be contacted counts more.
    package private(set) var fault = TransferFault.noResponse

    /// `next`: the number of the first attempt.
    package init(_ endpoints: [Endpoint], deniesPrivate: Bool, next: Int) {
        self.next = next
        let allowed = endpoints.filter { !deniesPrivate || !PrivateNetworks.contains($0.bytes) }
        if let denied = endpoints.first(where: { !allowed.contains($0) }) {
            fault = .deniedAddress(NumericAddress.text(of: denied.bytes))
        }
        // In the resolver's order, but the families alternate: a broken one costs one delay, not one for each of its
        // addresses.
        var families = [[Endpoint]](repeating: [], count: 2)
        let first = allowed.first?.bytes.count
        for endpoint in allowed { families[endpoint.bytes.count == first ? 0 : 1].append(endpoint) }
        let longest = max(families[0].count, families[1].count)
        let order = (0..<longest).flatMap { index in families.compactMap { index < $0.count ? $0[index] : nil } }
        waiting = order.prefix(Self.most).reversed()
    }

    /// Begins with the next address; `nil` if there is none.
    package mutating func start(at now: Instant) -> Attempt? {
        guard let endpoint = waiting.popLast() else {
            due = nil
            return nil
        }
        let attempt = Attempt(number: next, endpoint: endpoint)
        next += 1
        open.append(attempt)
        due = waiting.isEmpty ? nil : now + Self.delay
        return attempt
    }

    /// Returns `false` if the attempt is not under way.
    package mutating func failed(_ attempt: Int, _ fault: TransferFault) -> Bool {
        guard let index = open.firstIndex(where: { $0.number == attempt }) else { return false }
        open.remove(at: index)
        if self.fault.kind != .privateAddress { self.fault = fault }
        return true
    }
}
