import Testing

@testable import PawlReach

/// The bytes that the kernel would send, built field by field.
private enum Raw {
    static func attribute(_ type: UInt16, _ value: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(number: UInt16(4 + value.count))
        bytes.append(number: type)
        bytes += value
        while bytes.count % 4 != 0 { bytes.append(0) }
        return bytes
    }

    static func number(_ value: Int32) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(number: value)
        return bytes
    }

    static func link(index: Int32, flags: UInt32) -> [UInt8] {
        var bytes: [UInt8] = [0, 0, 1, 0]
        bytes.append(number: index)
        bytes.append(number: flags)
        bytes.append(number: UInt32(0))
        return bytes
    }

    static func route(
        family: UInt8 = 2, prefix: UInt8 = 0, table: UInt8 = 254, kind: UInt8 = 1, flags: UInt32 = 0,
        attributes: [[UInt8]]
    ) -> [UInt8] {
        var bytes: [UInt8] = [family, prefix, 0, 0, table, 3, 0, kind]
        bytes.append(number: flags)
        return bytes + attributes.joined()
    }

    static func nextHop(_ index: Int32, flags: UInt8 = 0, attributes: [UInt8] = []) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(number: UInt16(8 + attributes.count))
        bytes += [flags, 0]
        bytes.append(number: index)
        return bytes + attributes
    }

    static func message(_ type: UInt16, _ payload: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(number: UInt32(16 + payload.count))
        bytes.append(number: type)
        bytes.append(number: UInt16(2))
        bytes.append(number: UInt32(1))
        bytes.append(number: UInt32(77))
        bytes += payload
        while bytes.count % 4 != 0 { bytes.append(0) }
        return bytes
    }
}

private let links = [
    NetworkInterface(index: 1, leadsOut: false), NetworkInterface(index: 2, leadsOut: true),
    NetworkInterface(index: 3, leadsOut: false),
]

private func leadsOut(_ bytes: [UInt8]) -> Bool? { Route(routeMessage: bytes[...])?.leadsOut(through: links) }

@Suite struct `A link message` {
    @Test(arguments: [
        (UInt32(0x10043), true), (0x1, false), (0x10000, false), (0x10049, false), (0x1003, false), (0, false),
    ]) func `leads out when up, with carrier and not loopback`(flags: UInt32, expected: Bool) {
        let link = NetworkInterface(linkMessage: Raw.link(index: 7, flags: flags)[...])
        #expect(link == NetworkInterface(index: 7, leadsOut: expected))
    }

    @Test func `that is truncated is no link`() {
        let bytes = Raw.link(index: 7, flags: 0x10043)
        for length in 0..<12 { #expect(NetworkInterface(linkMessage: bytes.prefix(length)) == nil) }
    }
}

@Suite struct `A route message` {
    private let out = Raw.attribute(4, Raw.number(2))

    @Test func `with a default route through a live interface leads out`() {
        #expect(leadsOut(Raw.route(attributes: [Raw.attribute(5, [192, 0, 2, 1]), out])) == true)
        #expect(leadsOut(Raw.route(family: 10, attributes: [out])) == true)
    }

    @Test(arguments: [Int32(1), 3, 99]) func `through loopback, a dead or an unknown interface does not`(index: Int32) {
        #expect(leadsOut(Raw.route(attributes: [Raw.attribute(4, Raw.number(index))])) == false)
    }

    @Test(arguments: [UInt8(0), 2, 3, 4, 5, 6, 7, 8, 9, 10]) func `of a kind other than unicast does not`(kind: UInt8) {
        #expect(leadsOut(Raw.route(kind: kind, attributes: [out])) == false)
    }

    @Test func `of a table that policy rules point to leads out`() {
        #expect(leadsOut(Raw.route(table: 100, attributes: [out])) == true)
    }

    @Test(
        arguments: [
            ([169, 254, 0, 0], 16, false), ([127, 0, 0, 0], 8, false), ([224, 0, 0, 0], 4, false),
            ([239, 1, 2, 3], 32, false), ([192, 168, 1, 0], 24, true), ([169, 253, 0, 0], 16, true),
            ([240, 0, 0, 0], 4, true),
        ] as [([UInt8], UInt8, Bool)]) func `IPv4 destinations count unless link-local, multicast or loopback`(
            destination: [UInt8], prefix: UInt8, expected: Bool
        )
    {
        let bytes = Raw.route(prefix: prefix, attributes: [Raw.attribute(1, destination), out])
        #expect(leadsOut(bytes) == expected)
    }

    @Test(
        arguments: [
            ([0xFE, 0x80], false), ([0xFE, 0xBF], false), ([0xFF, 0x00], false), ([0xFE, 0xC0], true),
            ([0xFD, 0x00], true), ([0x20, 0x01], true),
        ] as [([UInt8], Bool)]) func `IPv6 destinations count unless link-local or multicast`(
            start: [UInt8], expected: Bool
        )
    {
        let destination = start + [UInt8](repeating: 0, count: 14)
        let bytes = Raw.route(family: 10, prefix: 64, attributes: [Raw.attribute(1, destination), out])
        #expect(leadsOut(bytes) == expected)
    }

    @Test func `to the IPv6 loopback address does not lead out`() {
        let destination = [UInt8](repeating: 0, count: 15) + [1]
        #expect(leadsOut(Raw.route(family: 10, attributes: [Raw.attribute(1, destination), out])) == false)
    }

    @Test(arguments: [UInt32(0x1), 0x10, 0x200]) func `marked dead, without carrier or cached does not`(flags: UInt32) {
        #expect(leadsOut(Raw.route(flags: flags, attributes: [out])) == false)
        #expect(leadsOut(Raw.route(flags: flags, attributes: [Raw.attribute(30, Raw.number(1))])) == false)
    }

    @Test func `with several next hops leads out when one of them is alive`() {
        let gateway = Raw.attribute(5, [192, 0, 2, 1])
        func multipath(_ hops: [UInt8]...) -> Bool? {
            leadsOut(Raw.route(attributes: [Raw.attribute(9, Array(hops.joined()))]))
        }
        #expect(multipath(Raw.nextHop(3, attributes: gateway), Raw.nextHop(2, attributes: gateway)) == true)
        #expect(multipath(Raw.nextHop(3), Raw.nextHop(2, flags: 1)) == false)
        #expect(multipath(Raw.nextHop(3), Raw.nextHop(2, flags: 16)) == false)
        #expect(multipath(Raw.nextHop(1), Raw.nextHop(3)) == false)
    }

    @Test func `with a next hop object takes any live interface for it`() {
        let bytes = Raw.route(attributes: [Raw.attribute(30, Raw.number(12))])
        #expect(leadsOut(bytes) == true)
        let dead = [NetworkInterface(index: 2, leadsOut: false)]
        #expect(Route(routeMessage: bytes[...])?.leadsOut(through: dead) == false)
    }

    @Test func `of another family is no route`() { #expect(leadsOut(Raw.route(family: 28, attributes: [out])) == nil) }

    @Test func `truncated anywhere is either no route or one without the missing part`() {
        let bytes = Raw.route(attributes: [Raw.attribute(1, [192, 168, 1, 0]), out])
        for length in bytes.indices {
            let route = Route(routeMessage: bytes.prefix(length))
            #expect((route == nil) == (length < 12))
            #expect(route?.leadsOut(through: links) ?? false == false)
        }
    }
}

@Suite struct `A netlink datagram` {
    @Test func `is split into its messages`() {
        let datagram = Raw.message(16, [1, 2, 3]) + Raw.message(24, []) + Raw.message(3, [0, 0, 0, 0])
        let messages = NetlinkMessage.split(datagram[...])
        #expect(messages.map(\.type) == [16, 24, 3])
        #expect(messages.map { Array($0.payload) } == [[1, 2, 3], [], [0, 0, 0, 0]])
    }

    @Test func `truncated anywhere gives the complete messages before the cut`() {
        let first = Raw.message(16, [1, 2, 3, 4])
        let datagram = first + Raw.message(24, [5, 6, 7, 8])
        for length in datagram.indices {
            #expect(NetlinkMessage.split(datagram.prefix(length)).count == (length >= first.count ? 1 : 0))
        }
    }

    @Test func `with a length of zero ends instead of looping forever`() {
        #expect(NetlinkMessage.split([UInt8](repeating: 0, count: 64)[...]).isEmpty)
        #expect(NetlinkAttribute.split([UInt8](repeating: 0, count: 64)[...]).isEmpty)
    }

    @Test func `the request for a dump has the length in its header`() {
        let bytes = NetlinkMessage.dumpRequest(26, family: 10, bodyLength: 12)
        let message = NetlinkMessage.split(bytes[...]).first
        #expect(bytes.count == 28)
        #expect(message?.type == 26)
        #expect(message.map { Array($0.payload) } == [10] + [UInt8](repeating: 0, count: 11))
    }
}
