/// One message of a netlink datagram (netlink(7)): its type and what follows the 16 bytes of header.
struct NetlinkMessage: Hashable, Sendable {
    var type: UInt16
    var payload: ArraySlice<UInt8>

    static let headerLength = 16

    /// The types that every netlink family shares, and the two in a dump of links and routes.
    enum Kind {
        static let error: UInt16 = 2
        static let done: UInt16 = 3
        static let newLink: UInt16 = 16
        static let getLink: UInt16 = 18
        static let newRoute: UInt16 = 24
        static let getRoute: UInt16 = 26
    }

    /// The messages in `datagram`, in order.
    ///
    /// Parsing ends at an invalid length; the messages before it are kept.
    static func split(_ datagram: ArraySlice<UInt8>) -> [NetlinkMessage] {
        var messages: [NetlinkMessage] = []
        var rest = datagram
        while let length = rest.number(UInt32.self, at: 0), let type = rest.number(UInt16.self, at: 4),
            length >= headerLength, Int(length) <= rest.count
        {
            let payload = rest.dropFirst(headerLength).prefix(Int(length) - headerLength)
            messages.append(NetlinkMessage(type: type, payload: payload))
            rest = rest.dropFirst(aligned(Int(length)))
        }
        return messages
    }

    /// A request for every object of `type` in the address family `family`: header and an all-zero body of
    /// `bodyLength` bytes that begins with the family.
    static func dumpRequest(_ type: UInt16, family: UInt8, bodyLength: Int) -> [UInt8] {
        let requestAndDump: UInt16 = 0x301
        let length = headerLength + bodyLength
        var bytes: [UInt8] = []
        bytes.append(number: UInt32(length))
        bytes.append(number: type)
        bytes.append(number: requestAndDump)
        bytes.append(number: UInt32(1))
        bytes.append(number: UInt32(0))
        bytes.append(family)
        bytes.append(contentsOf: repeatElement(0, count: bodyLength - 1))
        return bytes
    }
}

/// One attribute after a message's fixed part (rtnetlink(7)).
struct NetlinkAttribute: Hashable, Sendable {
    var type: UInt16
    var value: ArraySlice<UInt8>

    /// The attributes in `bytes`; parsing ends at an invalid length.
    static func split(_ bytes: ArraySlice<UInt8>) -> [NetlinkAttribute] {
        let headerLength = 4
        // The two highest bits mean "nested" and "network byte order"; they are not part of the type.
        let typeMask: UInt16 = 0x3FFF
        var attributes: [NetlinkAttribute] = []
        var rest = bytes
        while let length = rest.number(UInt16.self, at: 0), let type = rest.number(UInt16.self, at: 2),
            length >= headerLength, Int(length) <= rest.count
        {
            let value = rest.dropFirst(headerLength).prefix(Int(length) - headerLength)
            attributes.append(NetlinkAttribute(type: type & typeMask, value: value))
            rest = rest.dropFirst(aligned(Int(length)))
        }
        return attributes
    }
}

/// Netlink pads messages, attributes and next hops to four bytes.
func aligned(_ length: Int) -> Int { (length + 3) & ~3 }

extension ArraySlice<UInt8> {
    /// The number in this machine's byte order, `offset` bytes from the start; `nil` past the end.
    package func number<Number: FixedWidthInteger>(_ type: Number.Type, at offset: Int) -> Number? {
        let width = Number.bitWidth / 8
        guard offset >= 0, count >= offset + width else { return nil }
        var little: Number = 0
        for index in (0..<width).reversed() {
            little = little << 8 | Number(truncatingIfNeeded: self[startIndex + offset + index])
        }
        return Number(littleEndian: little)
    }
}

extension [UInt8] {
    /// Appends `number` in this machine's byte order.
    mutating func append<Number: FixedWidthInteger>(number: Number) {
        var bytes: [UInt8] = []
        for index in 0..<Number.bitWidth / 8 {
            bytes.append(UInt8(truncatingIfNeeded: number.littleEndian >> Number(index * 8)))
        }
        append(contentsOf: bytes)
    }
}
