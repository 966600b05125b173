/// Parser of binary property lists.
///
/// Objects may refer to each other in any way, also in cycles, and one with many references would grow
/// without bounds: depth and work are limited.
struct BinaryPropertyListReader {
    private let bytes: [UInt8]
    private let offsetSize: Int
    private let referenceSize: Int
    private let count: Int
    private let topObject: Int
    private let table: Int
    private var work = PropertyList.Limit.work

    init(_ bytes: [UInt8]) throws(PropertyList.Fault) {
        let trailer = bytes.count - BinaryPropertyList.trailerLength
        guard trailer >= 8 else { throw Self.cut }
        self.bytes = bytes
        offsetSize = Int(bytes[trailer + 6])
        referenceSize = Int(bytes[trailer + 7])
        guard (1...8).contains(offsetSize), (1...8).contains(referenceSize) else { throw Self.cut }
        count = try Self.number(bytes, at: trailer + 8, size: 8)
        topObject = try Self.number(bytes, at: trailer + 16, size: 8)
        table = try Self.number(bytes, at: trailer + 24, size: 8)
        guard table <= trailer, count <= (trailer - table) / offsetSize else { throw Self.cut }
    }

    mutating func top() throws(PropertyList.Fault) -> PropertyList { try object(topObject, depth: 0) }

    private static let cut = PropertyList.Fault(words: "the binary property list is damaged")

    /// A number of up to 8 bytes, the highest first.
    private static func number(_ bytes: [UInt8], at start: Int, size: Int) throws(PropertyList.Fault) -> Int {
        guard start >= 0, start <= bytes.count - size else { throw cut }
        var value: UInt64 = 0
        for byte in bytes[start..<(start + size)] { value = value << 8 | UInt64(byte) }
        guard let number = Int(exactly: value) else { throw cut }
        return number
    }

    private mutating func object(_ index: Int, depth: Int) throws(PropertyList.Fault) -> PropertyList {
        guard index < count, depth < PropertyList.Limit.depth else { throw Self.cut }
        try spend(PropertyList.Limit.workOfAnObject)
        var place = try Self.number(bytes, at: table + index * offsetSize, size: offsetSize)
        guard place < table else { throw Self.cut }
        let marker = bytes[place]
        place += 1
        let low = Int(marker & 0x0F)
        switch marker >> 4 {
        case 0x0:
            guard low == 8 || low == 9 else { throw Self.cut }
            return .boolean(low == 9)
        case 0x1: return .integer(try integer(at: place, exponent: low))
        case 0x2: return .real(try float(at: place, exponent: low))
        case 0x3: return .date(try float(at: place, exponent: low))
        case 0x4: return .data(Array(try run(&place, low, of: 1)))
        case 0x5: return .string(String(decoding: try run(&place, low, of: 1), as: UTF8.self))
        case 0x6: return .string(Self.wide(try run(&place, low, of: 2)))
        case 0x8: return .reference(try field(at: place, size: min(low + 1, 8)))
        case 0xA:
            let places = try references(try run(&place, low, of: referenceSize))
            return .array(try objects(places, depth: depth + 1))
        case 0xD: return .dictionary(try dictionary(place, low, depth: depth + 1))
        default: throw Self.cut
        }
    }

    private mutating func spend(_ amount: Int) throws(PropertyList.Fault) {
        work -= amount
        guard work >= 0 else { throw PropertyList.Fault(words: "the binary property list is too large") }
    }

    /// A number within the objects.
    private func field(at place: Int, size: Int) throws(PropertyList.Fault) -> Int {
        guard place <= table - size else { throw Self.cut }
        return try Self.number(bytes, at: place, size: size)
    }

    /// The bits of a value that may have a sign.
    private func word(at place: Int) throws(PropertyList.Fault) -> UInt64 {
        guard place <= table - 8 else { throw Self.cut }
        return bytes[place..<(place + 8)].reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Only integers of 8 bytes have a sign.
    private func integer(at place: Int, exponent: Int) throws(PropertyList.Fault) -> Int64 {
        switch exponent {
        case 0...2: return Int64(try field(at: place, size: 1 << exponent))
        case 3: return Int64(bitPattern: try word(at: place))
        case 4:
            guard try word(at: place) == 0 else { throw Self.cut }
            return Int64(try field(at: place + 8, size: 8))
        default: throw Self.cut
        }
    }

    private func float(at place: Int, exponent: Int) throws(PropertyList.Fault) -> Double {
        switch exponent {
        case 2: return Double(Float(bitPattern: UInt32(try field(at: place, size: 4))))
        case 3: return Double(bitPattern: try word(at: place))
        default: throw Self.cut
        }
    }

    /// Advances `place` past the count, which is a separate integer when it is 15 or more.
    private func length(_ place: inout Int, _ low: Int) throws(PropertyList.Fault) -> Int {
        guard low == 0xF else { return low }
        guard place < table, bytes[place] >> 4 == 1, bytes[place] & 0x0F <= 3 else { throw Self.cut }
        let size = 1 << Int(bytes[place] & 0x0F)
        defer { place += 1 + size }
        return try field(at: place + 1, size: size)
    }

    private mutating func run(
        _ place: inout Int, _ low: Int, of size: Int
    ) throws(PropertyList.Fault) -> ArraySlice<UInt8> {
        let length = try length(&place, low)
        guard place <= table, length <= (table - place) / size else { throw Self.cut }
        try spend(length * size)
        return bytes[place..<(place + length * size)]
    }

    private static func wide(_ run: ArraySlice<UInt8>) -> String {
        var units: [UInt16] = []
        units.reserveCapacity(run.count / 2)
        for place in stride(from: run.startIndex, to: run.endIndex, by: 2) {
            let (high, low) = (UInt16(run[place]), UInt16(run[place + 1]))
            units.append(high << 8 | low)
        }
        return String(decoding: units, as: UTF16.self)
    }

    private func references(_ run: ArraySlice<UInt8>) throws(PropertyList.Fault) -> [Int] {
        var places: [Int] = []
        for start in stride(from: run.startIndex, to: run.endIndex, by: referenceSize) {
            places.append(try Self.number(bytes, at: start, size: referenceSize))
        }
        return places
    }

    private mutating func objects(_ places: [Int], depth: Int) throws(PropertyList.Fault) -> [PropertyList] {
        var found: [PropertyList] = []
        for place in places { found.append(try object(place, depth: depth)) }
        return found
    }

    private mutating func dictionary(
        _ start: Int, _ low: Int, depth: Int
    ) throws(PropertyList.Fault) -> [String: PropertyList] {
        var place = start
        let places = try references(try run(&place, low, of: 2 * referenceSize))
        let keys = try objects(Array(places.prefix(places.count / 2)), depth: depth)
        let values = try objects(Array(places.suffix(places.count / 2)), depth: depth)
        var found: [String: PropertyList] = [:]
        for (key, value) in zip(keys, values) {
            guard let key = key.string else { throw Self.cut }
            found[key] = value
        }
        return found
    }
}
