import PawlBase

/// The name of a box: four bytes.
struct BoxType: Hashable, Sendable, ExpressibleByStringLiteral {
    let code: UInt32

    init(code: UInt32) { self.code = code }

    init(stringLiteral name: StaticString) {
        precondition(name.utf8CodeUnitCount == 4, "a box has a name of four bytes")
        code = name.withUTF8Buffer { unsafe $0.reduce(0) { $0 << 8 | UInt32($1) } }
    }

    private var bytes: [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: code >> (24 - 8 * $0)) } }

    /// Visible ASCII, or the © with which QuickTime begins names.
    var isPlausible: Bool { bytes.allSatisfy { 0x20...0x7E ~= $0 || $0 == 0xA9 } }
    var text: String { String(latin1: bytes) }
}

/// A box of the ISO base media file format (ISO/IEC 14496-12 §4.2), by its place in the bytes that hold it.
struct MP4Box: Hashable, Sendable {
    let type: BoxType
    /// With its header.
    let whole: Range<Int>
    let content: Range<Int>
}

/// Reads boxes in order; nothing is copied, and each read is inside the bytes.
struct MP4Boxes<Bytes: RandomAccessCollection<UInt8>> where Bytes.Index == Int {
    let bytes: Bytes

    init(_ bytes: Bytes) { self.bytes = bytes }

    private static var most: Int { 1 << 16 }

    /// The big-endian number at an index; `nil` if it is not inside the range.
    func number(_ index: Int, width: Int, in range: Range<Int>) -> UInt64? {
        guard index >= range.lowerBound, width <= range.upperBound - index else { return nil }
        return bytes[index..<(index + width)].reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// The box that begins at an index and ends inside the range.
    ///
    /// A box that says that it reaches to the end of the file is none: nothing could be appended to it.
    func box(at index: Int, in range: Range<Int>) -> MP4Box? {
        guard let short = number(index, width: 4, in: range), let code = number(index + 4, width: 4, in: range) else {
            return nil
        }
        let long = short == 1 ? number(index + 8, width: 8, in: range) : nil
        let header = long == nil ? 8 : 16
        let type = BoxType(code: UInt32(truncatingIfNeeded: code))
        guard let size = Int(exactly: long ?? short), size >= header, size <= range.upperBound - index,
            type.isPlausible
        else { return nil }
        return MP4Box(type: type, whole: index..<(index + size), content: (index + header)..<(index + size))
    }

    /// The boxes that fill a range without a gap; `nil` if they do not, or if there are too many.
    func tiling(_ range: Range<Int>) -> [MP4Box]? {
        var boxes: [MP4Box] = []
        var index = range.lowerBound
        while index < range.upperBound {
            guard boxes.count < Self.most, let box = box(at: index, in: range) else { return nil }
            boxes.append(box)
            index = box.whole.upperBound
        }
        return boxes
    }

    /// The boxes of that type inside others of the types on the way; `nil` if a box on the way is damaged.
    func boxes(_ path: [BoxType], in range: Range<Int>) -> [MP4Box]? {
        var found = [range]
        var boxes: [MP4Box] = []
        for type in path {
            boxes = []
            for range in found {
                guard let inner = tiling(range) else { return nil }
                boxes += inner.filter { $0.type == type }
            }
            found = boxes.map(\.content)
        }
        return boxes
    }
}
