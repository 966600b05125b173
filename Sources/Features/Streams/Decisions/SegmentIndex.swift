package import PawlBase

/// The ranges of a file's subsegments, from its segment index: a `sidx` box (ISO/IEC 14496-12 §8.16.3).
package struct SegmentIndex: Hashable, Sendable {
    package struct Entry: Hashable, Sendable {
        /// Of the file.
        package var range: ByteRange
        /// In microseconds.
        package var duration: Int64
    }

    /// Without gaps, in order; at least one.
    package private(set) var entries: [Entry] = []

    private static let most = 100_000

    /// Parses the bytes of an index range, which begin at an offset of the file.
    ///
    /// `nil` if they do not begin with a whole index, or if it refers to further indexes.
    package init?(_ bytes: [UInt8], at offset: Int64) {
        let boxes = MP4Boxes(bytes)
        guard let box = boxes.box(at: 0, in: 0..<bytes.count), box.type == "sidx" else { return nil }
        func number(_ index: Int, _ width: Int) -> UInt64? { boxes.number(index, width: width, in: box.content) }
        let start = box.content.lowerBound
        // The version, flags, the track; then times and the first offset in four or eight bytes each.
        guard let version = number(start, 1), version <= 1, let timescale = number(start + 8, 4), timescale > 0 else {
            return nil
        }
        let width = version == 0 ? 4 : 8
        let places = start + 12 + 2 * width
        guard let gap = number(places - width, width).flatMap(Int64.init(exactly:)),
            let count = number(places + 2, 2), 1...UInt64(Self.most) ~= count, gap <= ByteRange.longestFile,
            0...ByteRange.longestFile ~= offset
        else { return nil }
        var next = offset + Int64(box.whole.upperBound) + gap
        for index in 0..<Int(count) {
            let place = places + 4 + 12 * index
            guard let size = number(place, 4), size > 0, size >> 31 == 0, let duration = number(place + 4, 4),
                let range = ByteRange(named: next, next + Int64(size))
            else { return nil }
            entries.append(Entry(range: range, duration: Int64(duration * 1_000_000 / timescale)))
            next = range.end
        }
    }
}
