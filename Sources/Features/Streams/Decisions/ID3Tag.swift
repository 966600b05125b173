import PawlBase

/// The tags in front of a segment of packed audio (RFC 8216 §3.4), which hold its timestamp.
package enum ID3Tag {
    /// The length of the tags with which these bytes begin; 0 without one, and for a tag that is cut off.
    package static func length(in bytes: some RandomAccessCollection<UInt8>) -> Int {
        var rest = bytes[...]
        while let tag = oneLength(Array(rest.prefix(10))), tag <= rest.count { rest = rest.dropFirst(tag) }
        return bytes.count - rest.count
    }

    /// A tag of ID3v2 has ten bytes in front, whose last four are its length in seven bits each, and maybe ten behind.
    private static func oneLength(_ header: [UInt8]) -> Int? {
        guard header.count == 10, header.starts(with: "ID3".utf8), header[3] < 0xFF, header[4] < 0xFF else {
            return nil
        }
        let size = header[6...]
        guard size.allSatisfy({ $0 < 0x80 }) else { return nil }
        let hasFooter = header[5] & 0x10 != 0
        return 10 + size.reduce(0) { $0 << 7 | Int($1) } + (hasFooter ? 10 : 0)
    }

    /// What a segment of packed audio adds to the file: all of the first one, the others without their tags.
    package static func joined<Bytes: RandomAccessCollection<UInt8>>(
        _ segment: Bytes, isFirst: Bool
    )
        -> Bytes.SubSequence
    {
        isFirst ? segment[...] : segment.dropFirst(length(in: segment))
    }
}
