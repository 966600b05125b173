@testable import PawlReach

/// Datagrams from the kernel: parsing ends, and never beyond their bytes.
enum NetlinkLaws {
    static func check(_ input: inout FuzzInput) throws(BrokenLaw) {
        let datagram = input.rest()
        let messages = NetlinkMessage.split(datagram[...])
        let length = messages.reduce(0) { $0 + $1.payload.count + NetlinkMessage.headerLength }
        try hold(length <= datagram.count, "more came out than went in")
        let links = messages.compactMap { NetworkInterface(linkMessage: $0.payload) }
        for message in messages {
            let attributes = NetlinkAttribute.split(message.payload)
            let length = attributes.reduce(0) { $0 + $1.value.count + 4 }
            try hold(length <= message.payload.count, "more came out than went in")
            guard let route = Route(routeMessage: message.payload) else { continue }
            try hold(route.interfaces.count <= message.payload.count / 8, "interfaces out of nothing")
            let leadsOut = route.leadsOut(through: links)
            try hold(!leadsOut || links.contains(where: \.leadsOut), "out through nothing")
        }
    }
}
