/// A value of Apple's property lists, those of keyed archives included.
///
/// Foundation's decoders do not support the references of keyed archives (`UID`), which resume data consists
/// of, and this module does not import Foundation; the parts of both formats that are needed are small.
package indirect enum PropertyList: Hashable, Sendable {
    case boolean(Bool)
    case integer(Int64)
    case real(Double)
    /// Seconds since 2001-01-01T00:00:00Z.
    case date(Double)
    case data([UInt8])
    case string(String)
    case array([PropertyList])
    case dictionary([String: PropertyList])
    /// The index of an object in a keyed archive.
    case reference(Int)

    /// Why bytes are no property list.
    package struct Fault: Error, Hashable, Sendable {
        package let words: String
    }

    /// Limits far above any resume data, for hostile input.
    enum Limit {
        static let length = 1 << 20
        static let depth = 64
        /// Of all objects with their payload, each counted once per reference.
        static let work = 8 << 20
        static let workOfAnObject = 64
    }

    /// Parses a binary or an XML property list.
    package init(_ bytes: [UInt8]) throws(Fault) {
        guard bytes.count <= Limit.length else { throw Fault(words: "it is larger than 1 MiB") }
        if bytes.starts(with: BinaryPropertyList.magic) {
            self = try BinaryPropertyList.read(bytes)
        } else {
            self = try XMLPropertyList.read(bytes)
        }
    }

    /// The value as a binary property list.
    package var bytes: [UInt8] { BinaryPropertyList.write(self) }
}

extension PropertyList {
    package var string: String? { if case .string(let value) = self { value } else { nil } }

    package var data: [UInt8]? { if case .data(let value) = self { value } else { nil } }

    package var array: [PropertyList]? { if case .array(let value) = self { value } else { nil } }

    package var dictionary: [String: PropertyList]? { if case .dictionary(let value) = self { value } else { nil } }

    package var reference: Int? { if case .reference(let value) = self { value } else { nil } }

    /// A whole number, also one written as a float.
    package var integer: Int64? {
        switch self {
        case .integer(let value): value
        case .real(let value): Int64(exactly: value)
        case .boolean, .date, .data, .string, .array, .dictionary, .reference: nil
        }
    }
}

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
