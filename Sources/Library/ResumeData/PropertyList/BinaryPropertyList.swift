/// Apple's binary property lists (`bplist00`): objects, a table of their offsets, and a trailer with the
/// table's position.
enum BinaryPropertyList {
    static let magic = Array("bplist0".utf8)
    static let trailerLength = 32

    static func read(_ bytes: [UInt8]) throws(PropertyList.Fault) -> PropertyList {
        var reader = try BinaryPropertyListReader(bytes)
        return try reader.top()
    }

    static func write(_ value: PropertyList) -> [UInt8] {
        var writer = BinaryPropertyListWriter()
        return writer.write(value)
    }
}
