/// The state of one network interface in a link message.
struct NetworkInterface: Hashable, Sendable {
    var index: Int32
    /// Whether it is up, has carrier (cable, radio or tunnel), and is not the loopback.
    var leadsOut: Bool

    init(index: Int32, leadsOut: Bool) {
        self.index = index
        self.leadsOut = leadsOut
    }

    /// Reads the body of an `RTM_NEWLINK` message: `struct ifinfomsg` of rtnetlink(7).
    init?(linkMessage payload: ArraySlice<UInt8>) {
        guard let index = payload.number(Int32.self, at: 4), let flags = payload.number(UInt32.self, at: 8) else {
            return nil
        }
        let isUp = flags & Flag.up != 0
        let hasCarrier = flags & Flag.carrier != 0
        let isLoopback = flags & Flag.loopback != 0
        self.init(index: index, leadsOut: isUp && hasCarrier && !isLoopback)
    }

    /// Flags of netdevice(7).
    enum Flag {
        static let up: UInt32 = 0x1
        static let loopback: UInt32 = 0x8
        /// `IFF_LOWER_UP`: the link has carrier.
        static let carrier: UInt32 = 0x10000
    }

    static let messageBodyLength = 16
}
