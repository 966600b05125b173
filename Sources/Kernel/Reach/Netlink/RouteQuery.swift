/// Queries the kernel for a route that leads out of this machine.
enum RouteQuery {
    /// `true` also when the kernel cannot be queried: an unknown state must not hold a download back.
    static func isOnline() -> Bool { response() ?? true }

    /// `nil` when the kernel cannot be queried.
    static func response() -> Bool? {
        var links: [NetworkInterface] = []
        let complete = dump(NetlinkMessage.Kind.getLink, family: 0, bodyLength: NetworkInterface.messageBodyLength) {
            message in
            if message.type == NetlinkMessage.Kind.newLink, let link = NetworkInterface(linkMessage: message.payload) {
                links.append(link)
            }
            return true
        }
        guard complete else { return nil }
        guard links.contains(where: \.leadsOut) else { return false }

        var anyResponse = false
        for family in [Route.Family.internet4, .internet6] {
            var found = false
            let complete = dump(
                NetlinkMessage.Kind.getRoute, family: family.number, bodyLength: Route.messageBodyLength
            ) { message in
                let route = message.type == NetlinkMessage.Kind.newRoute ? Route(routeMessage: message.payload) : nil
                found = route?.leadsOut(through: links) ?? false
                return !found
            }
            if found { return true }
            anyResponse = anyResponse || complete
        }
        return anyResponse ? false : nil
    }

    /// Passes every message of a dump to `take` until it returns `false`, so that a router's million routes are not
    /// read for one query.
    ///
    /// Returns whether the dump was complete or was ended by `take`.
    private static func dump(_ type: UInt16, family: UInt8, bodyLength: Int, take: (NetlinkMessage) -> Bool) -> Bool {
        // A separate socket: closing it ends a dump early.
        guard let socket = NetlinkSocket() else { return false }
        guard socket.send(NetlinkMessage.dumpRequest(type, family: family, bodyLength: bodyLength)) else {
            return false
        }
        var buffer = [UInt8](repeating: 0, count: NetlinkSocket.bufferLength)
        while case .datagram(let datagram) = socket.receive(into: &buffer, waiting: true) {
            for message in NetlinkMessage.split(datagram) {
                if message.type == NetlinkMessage.Kind.done { return true }
                if message.type == NetlinkMessage.Kind.error { return false }
                if !take(message) { return true }
            }
        }
        return false
    }
}
