/// The parts of a route message that decide whether the machine is online.
struct Route: Hashable, Sendable {
    enum Family: Hashable, Sendable {
        case internet4
        case internet6
    }

    var family: Family
    /// Whether it is an ordinary route: not local, broadcast, multicast, blackhole, unreachable or prohibited, and not
    /// a cached copy of another route.
    var isUnicast: Bool
    /// The prefix it leads to; empty for the default route.
    var destination: [UInt8]
    /// The interfaces it may leave through, without those that the kernel reports as dead.
    var interfaces: [Int32]
    /// Whether it names a next hop object (ip-nexthop(8)) instead of an interface.
    var usesNextHopObject: Bool

    init(
        family: Family, isUnicast: Bool = true, destination: [UInt8] = [], interfaces: [Int32] = [],
        usesNextHopObject: Bool = false
    ) {
        self.family = family
        self.isUnicast = isUnicast
        self.destination = destination
        self.interfaces = interfaces
        self.usesNextHopObject = usesNextHopObject
    }

    /// Whether the destination is useless for a download: link-local (RFC 3927, RFC 4291 §2.5.6), multicast
    /// (RFC 5771, RFC 4291 §2.7) or loopback.
    var staysOnTheLink: Bool {
        guard let first = destination.first else { return false }
        let second = destination.count > 1 ? destination[1] : 0
        switch family {
        case .internet4: return first == 127 || first & 0xF0 == 224 || (first == 169 && second == 254)
        case .internet6:
            let isLoopback =
                destination.count == 16 && destination.last == 1 && destination.dropLast().allSatisfy { $0 == 0 }
            return isLoopback || first == 0xFF || (first == 0xFE && second & 0xC0 == 0x80)
        }
    }

    /// Whether a download can leave this machine by this route.
    ///
    /// Routes of every table count, since the tables that policy rules point to (tunnels, VRFs, phones) lead out as
    /// well as the main one.
    func leadsOut(through links: [NetworkInterface]) -> Bool {
        guard isUnicast, !staysOnTheLink else { return false }
        // The interface of a next hop object is not resolved; any live one is good enough.
        if usesNextHopObject && interfaces.isEmpty { return links.contains(where: \.leadsOut) }
        return interfaces.contains { index in links.contains { $0.index == index && $0.leadsOut } }
    }
}
