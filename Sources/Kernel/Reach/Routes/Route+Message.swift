extension Route {
    /// Reads the body of an `RTM_NEWROUTE` message: `struct rtmsg` and its attributes, rtnetlink(7).
    init?(routeMessage payload: ArraySlice<UInt8>) {
        guard payload.count >= Self.messageBodyLength, let addressFamily = payload.number(UInt8.self, at: 0),
            let family = Family(addressFamily), let kind = payload.number(UInt8.self, at: 7),
            let flags = payload.number(UInt32.self, at: 8)
        else { return nil }
        let isCached = flags & Self.cachedFlag != 0
        self.init(family: family, isUnicast: kind == Self.unicastKind && !isCached)

        let isDead = flags & Self.deadFlags != 0
        for attribute in NetlinkAttribute.split(payload.dropFirst(Self.messageBodyLength)) {
            switch attribute.type {
            case AttributeType.destination: destination = Array(attribute.value)
            case AttributeType.nextHopObject: usesNextHopObject = true
            case AttributeType.outgoingInterface:
                if !isDead, let index = attribute.value.number(Int32.self, at: 0) { interfaces.append(index) }
            case AttributeType.multipath: interfaces += Self.nextHops(attribute.value)
            default: break
            }
        }
        if isDead { usesNextHopObject = false }
    }

    /// The interfaces of the live next hops of a multipath route: a list of `struct rtnexthop`.
    private static func nextHops(_ bytes: ArraySlice<UInt8>) -> [Int32] {
        let headerLength = 8
        var interfaces: [Int32] = []
        var rest = bytes
        while let length = rest.number(UInt16.self, at: 0), let flags = rest.number(UInt8.self, at: 2),
            let index = rest.number(Int32.self, at: 4), length >= headerLength, Int(length) <= rest.count
        {
            if UInt32(flags) & deadFlags == 0 { interfaces.append(index) }
            rest = rest.dropFirst(aligned(Int(length)))
        }
        return interfaces
    }

    static let messageBodyLength = 12
    static let unicastKind: UInt8 = 1
    /// `RTM_F_CLONED`: a cached copy.
    private static let cachedFlag: UInt32 = 0x200
    /// `RTNH_F_DEAD` and `RTNH_F_LINKDOWN`: the interface is off or has no carrier.
    private static let deadFlags: UInt32 = 0x11

    enum AttributeType {
        static let destination: UInt16 = 1
        static let outgoingInterface: UInt16 = 4
        static let multipath: UInt16 = 9
        static let nextHopObject: UInt16 = 30
    }
}

extension Route.Family {
    /// Linux's numbers of the families; they do not depend on the processor.
    package var number: UInt8 {
        switch self {
        case .internet4: 2
        case .internet6: 10
        }
    }

    init?(_ number: UInt8) {
        switch number {
        case 2: self = .internet4
        case 10: self = .internet6
        default: return nil
        }
    }
}
