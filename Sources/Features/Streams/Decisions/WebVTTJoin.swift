import PawlBase

/// Segments of WebVTT (RFC 8216 §3.5) as one file: one header, one timeline, and each cue once.
///
/// A cue that lasts beyond the end of its segment is in the next one again.
package struct WebVTTJoin: Hashable, Sendable {
    private struct Cue: Hashable {
        /// In milliseconds.
        var start: Int64
        var end: Int64
        /// What follows the times, and the text.
        var rest: [UInt8]
    }

    /// What cue times lack to those of the file, in milliseconds, without what the segment's own map adds.
    private var shift: Int64 = 0
    /// The MPEG-2 timestamp of the cue time 0 in the first segment of the part, and in the last one, which counts on where
    /// 33 bits begin anew.
    private var firstMap: Int64?
    private var lastMap: Int64 = 0
    private var hasHeader = false
    private var hasCues = false
    /// The last cues, in order.
    private var recent: [Cue] = []
    private var known: Set<Cue> = []
    private var styles: Set<[UInt8]> = []

    /// More than are ever shown at once.
    private static let mostRecent = 1024
    private static let longest = 16 << 20

    package init() {}

    /// Segments from here on begin a timeline of their own, at that time of the file, in microseconds.
    package mutating func begin(at start: Int64) {
        shift = start / 1000
        firstMap = nil
    }

    /// What a segment adds to the file.
    package mutating func joined(_ segment: [UInt8]) throws(StreamFlaw) -> [UInt8] {
        guard SegmentText.isWebVTT(segment) else { throw StreamFlaw("it does not begin with WEBVTT") }
        guard segment.count <= Self.longest else { throw StreamFlaw("it is larger than \(Self.longest) bytes") }
        var blocks = Self.blocks(segment)
        let header = blocks.isEmpty ? [] : blocks.removeFirst()
        let shift = try shift(of: header)
        var result = hasHeader ? [] : Array("WEBVTT\n\n".utf8)
        hasHeader = true
        for block in blocks { result += try text(block, shift: shift) }
        return result
    }

    // MARK: times

    /// `X-TIMESTAMP-MAP=MPEGTS:900000,LOCAL:00:00:00.000`: which timestamp of the video a cue time is.
    private mutating func shift(of header: [ArraySlice<UInt8>]) throws(StreamFlaw) -> Int64 {
        let name = Array("X-TIMESTAMP-MAP=".utf8)
        var map: Int64 = 0
        if let line = header.first(where: { $0.starts(with: name) }) {
            var (timestamp, local) = (Int64?.none, Int64?.none)
            for item in line.dropFirst(name.count).pieces(between: .comma).map({ $0.trimmed(\.isBlank) }) {
                if item.starts(with: "MPEGTS:".utf8) { timestamp = item.dropFirst(7).decimalNumber }
                if item.starts(with: "LOCAL:".utf8) { local = WebVTTTime.parse(item.dropFirst(6)) }
            }
            guard let timestamp, let local else { throw StreamFlaw("its X-TIMESTAMP-MAP cannot be read") }
            map = (timestamp & Self.mask) - local * 90
        }
        guard let firstMap else {
            (self.firstMap, lastMap) = (map, map)
            return shift
        }
        // The nearest to the last one of all that are equal in 33 bits.
        let step = (map - lastMap) & Self.mask
        lastMap = lastMap.addingClamped(step <= Self.mask / 2 ? step : step - Self.mask - 1)
        return shift.addingClamped(lastMap.addingClamped(-firstMap) / 90)
    }

    private static let mask: Int64 = (1 << 33) - 1

    // MARK: blocks

    private mutating func text(_ block: [ArraySlice<UInt8>], shift: Int64) throws(StreamFlaw) -> [UInt8] {
        if let place = block.prefix(2).firstIndex(where: Self.isTiming) {
            return try cue(block[place...], named: block[..<place], shift: shift)
        }
        // Both are valid in front of the first cue only.
        guard !hasCues, let first = block.first, Self.isStyle(first) else { return [] }
        let text = Self.text(block[...])
        return styles.count < Self.mostRecent && styles.insert(text).inserted ? text : []
    }

    private mutating func cue(
        _ lines: ArraySlice<ArraySlice<UInt8>>, named name: ArraySlice<ArraySlice<UInt8>>, shift: Int64
    ) throws(StreamFlaw) -> [UInt8] {
        guard let timing = lines.first, let found = WebVTTTime.timing(timing) else {
            throw StreamFlaw("the time of a cue in it cannot be read")
        }
        let (start, end) = (found.start.addingClamped(shift), found.end.addingClamped(shift))
        var rest = Array(found.settings) + [.lineFeed]
        for line in lines.dropFirst() { rest += WebVTTTime.shifted(line, by: shift) + [.lineFeed] }
        let cue = Cue(start: max(0, start), end: max(0, end), rest: rest)
        // One that ended before the file begins is never shown.
        guard end > 0 || shift >= 0, known.insert(cue).inserted else { return [] }
        hasCues = true
        recent.append(cue)
        if recent.count >= Self.mostRecent * 2 {
            for old in recent.prefix(Self.mostRecent) { known.remove(old) }
            recent.removeFirst(Self.mostRecent)
        }
        let times = WebVTTTime.text(cue.start) + " --> " + WebVTTTime.text(cue.end)
        return Self.text(name, isWhole: false) + Array(times.utf8) + rest + [.lineFeed]
    }

    private static func isTiming(_ line: ArraySlice<UInt8>) -> Bool {
        line.indices.contains { line[$0...].starts(with: "-->".utf8) }
    }

    private static func isStyle(_ line: ArraySlice<UInt8>) -> Bool {
        let word = line.trimmed(\.isBlank)
        return word.elementsEqual("STYLE".utf8) || word.elementsEqual("REGION".utf8)
    }

    private static func text(_ lines: ArraySlice<ArraySlice<UInt8>>, isWhole: Bool = true) -> [UInt8] {
        lines.flatMap { $0 + [.lineFeed] } + (isWhole ? [.lineFeed] : [])
    }

    /// The lines between empty ones; the first block is the header.
    private static func blocks(_ segment: [UInt8]) -> [[ArraySlice<UInt8>]] {
        var blocks: [[ArraySlice<UInt8>]] = []
        var block: [ArraySlice<UInt8>] = []
        for line in lines(segment[...]) {
            if !line.isEmpty {
                block.append(line)
            } else if !block.isEmpty {
                blocks.append(block)
                block = []
            }
        }
        return block.isEmpty ? blocks : blocks + [block]
    }

    /// Lines end with LF, CR or both.
    private static func lines(_ text: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
        var lines: [ArraySlice<UInt8>] = []
        var rest = text
        while !rest.isEmpty {
            let line = rest.prefix { $0 != .lineFeed && $0 != .carriageReturn }
            lines.append(line)
            rest = rest[line.endIndex...]
            rest = rest.dropFirst(rest.starts(with: [.carriageReturn, .lineFeed]) ? 2 : 1)
        }
        return lines
    }
}

/// Times of WebVTT, in milliseconds.
enum WebVTTTime {
    /// `00:01.500` or `01:00:01.500`, with as many digits of hours as it needs.
    static func parse(_ text: ArraySlice<UInt8>) -> Int64? {
        let parts = text.pieces(between: .colon)
        guard 2...3 ~= parts.count, let seconds = parts.last, seconds.count == 6,
            let point = seconds.dropFirst(2).first,
            point == .dot, parts[parts.count - 2].count == 2, parts[0].count <= 9,
            let minute = parts[parts.count - 2].decimalNumber, minute < 60,
            let second = seconds.prefix(2).decimalNumber, second < 60,
            let milliseconds = seconds.suffix(3).decimalNumber,
            let hour = parts.count == 3 ? parts[0].decimalNumber : 0
        else { return nil }
        return ((hour * 60 + minute) * 60 + second) * 1000 + milliseconds
    }

    static func text(_ milliseconds: Int64) -> String {
        func padded(_ number: Int64, _ width: Int) -> String {
            let digits = String(number)
            return String(repeating: "0", count: max(0, width - digits.count)) + digits
        }
        let seconds = milliseconds / 1000
        return padded(seconds / 3600, 2) + ":" + padded(seconds / 60 % 60, 2) + ":" + padded(seconds % 60, 2) + "."
            + padded(milliseconds % 1000, 3)
    }

    /// The line with the times of a cue; what follows them is as written, with the blanks in front.
    static func timing(_ line: ArraySlice<UInt8>) -> (start: Int64, end: Int64, settings: ArraySlice<UInt8>)? {
        let line = line.drop(while: \.isBlank)
        let first = line.prefix { !$0.isBlank && $0 != .dash }
        let arrow = line[first.endIndex...].drop(while: \.isBlank)
        guard arrow.starts(with: "-->".utf8) else { return nil }
        let rest = arrow.dropFirst(3).drop(while: \.isBlank)
        let second = rest.prefix { !$0.isBlank }
        guard let start = parse(first), let end = parse(second) else { return nil }
        return (start, end, rest[second.endIndex...])
    }

    /// A line of a cue's text whose timestamps, as in karaoke, are moved too.
    static func shifted(_ line: ArraySlice<UInt8>, by shift: Int64) -> [UInt8] {
        guard shift != 0, line.contains(.less) else { return Array(line) }
        var result: [UInt8] = []
        var rest = line
        while let byte = rest.popFirst() {
            result.append(byte)
            guard byte == .less else { continue }
            let tag = rest.prefix { $0 != .greater && $0 != .less }
            guard let time = parse(tag) else { continue }
            result += Array(text(max(0, time.addingClamped(shift))).utf8)
            rest = rest[tag.endIndex...]
        }
        return result
    }
}
