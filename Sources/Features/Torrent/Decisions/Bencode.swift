import PawlBase

/// A value in Bencode (BEP 3), as torrents are written in.
package indirect enum Bencode: Hashable, Sendable {
    case integer(Int64)
    case bytes([UInt8])
    case list([Bencode])
    /// Keys are any bytes.
    case dictionary([[UInt8]: Bencode])

    /// What is read at most.
    package enum Limits {
        package static let length = 32 << 20
        /// Lists and dictionaries within each other: a folder of a tree is one.
        static let depth = 100
        static let values = 2_000_000
    }

    /// Why bytes are no such value.
    package struct Fault: Error, Hashable, Sendable { package let words: String }

    /// A dictionary, and where the values of its keys stand.
    package struct Document: Hashable, Sendable {
        package var root: Bencode
        package var spans: [[UInt8]: Range<Int>]
    }

    /// Reads a dictionary that is all of the bytes.
    package static func document(_ bytes: [UInt8]) throws(Fault) -> Document {
        guard bytes.count <= Limits.length else {
            throw Fault(words: "it has more than \(Limits.length >> 20) MiB")
        }
        guard bytes.first == UInt8(ascii: "d") else {
            throw Fault(words: "it is no torrent: it does not begin with a dictionary in Bencode")
        }
        var reader = BencodeReader(bytes)
        let root = try reader.value(depth: 0)
        guard reader.position == bytes.count else { throw Fault(words: "bytes follow its end") }
        return Document(root: root, spans: reader.spans)
    }

    package subscript(_ key: String) -> Bencode? {
        guard case .dictionary(let members) = self else { return nil }
        return members[Array(key.utf8)]
    }

    package var integer: Int64? { if case .integer(let number) = self { number } else { nil } }
    package var bytes: [UInt8]? { if case .bytes(let bytes) = self { bytes } else { nil } }
    package var list: [Bencode]? { if case .list(let values) = self { values } else { nil } }
    package var members: [[UInt8]: Bencode]? { if case .dictionary(let members) = self { members } else { nil } }
    package var isEmpty: Bool { bytes?.isEmpty ?? list?.isEmpty ?? members?.isEmpty ?? false }
}

/// Reads each byte once.
private struct BencodeReader {
    private let bytes: [UInt8]
    private(set) var position = 0
    private(set) var spans: [[UInt8]: Range<Int>] = [:]
    private var values = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    private func fault(_ words: String) -> Bencode.Fault { .init(words: "\(words) at byte \(position)") }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    mutating func value(depth: Int) throws(Bencode.Fault) -> Bencode {
        values += 1
        guard depth <= Bencode.Limits.depth else { throw fault("it is nested too deeply") }
        guard values <= Bencode.Limits.values else { throw fault("it has too many values") }
        switch next {
        case UInt8(ascii: "i"):
            position += 1
            return .integer(try integer())
        case UInt8(ascii: "l"):
            position += 1
            return .list(try list(depth))
        case UInt8(ascii: "d"):
            position += 1
            return .dictionary(try dictionary(depth))
        case _: return .bytes(try string())
        }
    }

    /// Digits without a zero before them, up to `end`, which is passed.
    private mutating func digits(before end: UInt8) throws(Bencode.Fault) -> Int64 {
        // No 64-bit number has more.
        let digits = bytes[position...].prefix(20).prefix { $0.isDigit }
        guard let number = digits.decimalNumber, digits.count == 1 || digits.first != UInt8(ascii: "0"),
            bytes.indices.contains(digits.endIndex), bytes[digits.endIndex] == end
        else { throw fault("there is no number") }
        position = digits.endIndex + 1
        return number
    }

    private mutating func integer() throws(Bencode.Fault) -> Int64 {
        let isNegative = next == .dash
        if isNegative { position += 1 }
        let number = try digits(before: UInt8(ascii: "e"))
        guard !isNegative || number != 0 else { throw fault("there is a negative zero") }
        return isNegative ? -number : number
    }

    private mutating func string() throws(Bencode.Fault) -> [UInt8] {
        let count = try digits(before: .colon)
        guard count <= Int64(bytes.count - position) else { throw fault("it is cut off: \(count) bytes are missing") }
        defer { position += Int(count) }
        return Array(bytes[position..<position + Int(count)])
    }

    private mutating func list(_ depth: Int) throws(Bencode.Fault) -> [Bencode] {
        var values: [Bencode] = []
        while next != UInt8(ascii: "e") { values.append(try value(depth: depth + 1)) }
        position += 1
        return values
    }

    /// Keys in any order, as some programs write them; none twice.
    private mutating func dictionary(_ depth: Int) throws(Bencode.Fault) -> [[UInt8]: Bencode] {
        var members: [[UInt8]: Bencode] = [:]
        while next != UInt8(ascii: "e") {
            let key = try string()
            let start = position
            let value = try value(depth: depth + 1)
            guard members.updateValue(value, forKey: key) == nil else { throw fault("a key stands there twice") }
            if depth == 0 { spans[key] = start..<position }
        }
        position += 1
        return members
    }
}
