import PawlBase

/// Writes each value as a separate object, keys in order, so that the same value gives the same bytes.
struct BinaryPropertyListWriter {
    /// An object's bytes; its references follow once their size is known.
    private struct Object {
        var bytes: [UInt8]
        var references: [Int] = []
    }

    private var objects: [Object] = []

    mutating func write(_ value: PropertyList) -> [UInt8] {
        _ = add(value)
        var bytes = Array("bplist00".utf8)
        var offsets: [Int] = []
        let referenceSize = Self.size(objects.count)
        for object in objects {
            offsets.append(bytes.count)
            bytes += object.bytes
            for reference in object.references { Self.put(reference, referenceSize, into: &bytes) }
        }
        let table = bytes.count
        let offsetSize = Self.size(table)
        for offset in offsets { Self.put(offset, offsetSize, into: &bytes) }
        bytes += [0, 0, 0, 0, 0, 0, UInt8(offsetSize), UInt8(referenceSize)]
        for number in [objects.count, 0, table] { Self.put(number, 8, into: &bytes) }
        return bytes
    }

    private mutating func add(_ value: PropertyList) -> Int {
        let index = objects.count
        objects.append(Object(bytes: []))
        let object =
            switch value {
            case .boolean(let value): Object(bytes: [value ? 9 : 8])
            case .integer(let value): Object(bytes: Self.integer(value))
            case .real(let value): Object(bytes: [0x23] + Self.big(value.bitPattern))
            case .date(let value): Object(bytes: [0x33] + Self.big(value.bitPattern))
            case .data(let value): Object(bytes: Self.head(0x40, value.count) + value)
            case .string(let value): Object(bytes: Self.text(value))
            case .reference(let value): Object(bytes: [0x83] + Self.big(UInt32(truncatingIfNeeded: value)))
            case .array(let values): Object(bytes: Self.head(0xA0, values.count), references: values.map { add($0) })
            case .dictionary(let values): dictionary(values)
            }
        objects[index] = object
        return index
    }

    private mutating func dictionary(_ values: [String: PropertyList]) -> Object {
        let sorted = values.sorted { $0.key < $1.key }
        let references = sorted.map { add(.string($0.key)) } + sorted.map { add($0.value) }
        return Object(bytes: Self.head(0xD0, sorted.count), references: references)
    }

    private static func text(_ value: String) -> [UInt8] {
        if value.utf8.allSatisfy(\.isASCII) { return head(0x50, value.utf8.count) + value.utf8 }
        return head(0x60, value.utf16.count) + value.utf16.flatMap { big($0) }
    }

    /// Unsigned numbers take as many bytes as necessary; a signed one takes 8.
    private static func integer(_ value: Int64) -> [UInt8] {
        switch value {
        case 0..<0x100: [0x10, UInt8(value)]
        case 0..<0x1_0000: [0x11] + big(UInt16(value))
        case 0..<0x1_0000_0000: [0x12] + big(UInt32(value))
        default: [0x13] + big(value)
        }
    }

    private static func head(_ marker: UInt8, _ count: Int) -> [UInt8] {
        count < 15 ? [marker | UInt8(count)] : [marker | 0x0F] + integer(Int64(count))
    }

    private static func size(_ largest: Int) -> Int {
        largest < 0x100 ? 1 : largest < 0x1_0000 ? 2 : largest < 0x1_0000_0000 ? 4 : 8
    }

    private static func put(_ value: Int, _ size: Int, into bytes: inout [UInt8]) {
        bytes += big(UInt64(value)).suffix(size)
    }

    private static func big<Number: FixedWidthInteger>(_ value: Number) -> [UInt8] {
        stride(from: Number.bitWidth - 8, through: 0, by: -8).map { UInt8(truncatingIfNeeded: value >> $0) }
    }
}
