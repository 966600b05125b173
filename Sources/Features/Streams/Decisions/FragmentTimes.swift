import PawlBase

/// A file of fragments: what they need to be played, and when they are played (ISO/IEC 14496-12 §8).
package struct FragmentTimes: Hashable, Sendable {
    private struct Track: Hashable {
        var number: UInt64 = 0
        var timescale: Int64 = 1
        /// The timescale, the kind and the sample descriptions.
        var form: [[UInt8]] = []
        /// How long a sample is for which no fragment says it.
        var duration: Int64 = 0
        /// What is presented at 0, by the edit list.
        var origin: Int64 = 0
        var first: Int64?
        var next: Int64 = 0
        var end: Int64 = 0
    }

    /// What each track needs; where it is equal, the fragments of one file can be played with the initialization of another.
    package let forms: [[[UInt8]]]
    /// When the first sample is presented, in microseconds.
    package let start: Int64
    /// When the last one has been.
    package let end: Int64

    init(forms: [[[UInt8]]], start: Int64, end: Int64) { (self.forms, self.start, self.end) = (forms, start, end) }

    /// The longest box that is looked into.
    private static let most: Int64 = 16 << 20
    private static let mostBoxes = 1 << 22
    /// No time is later.
    private static let latest: Int64 = 1 << 60

    /// `read`: so many bytes from a place of the file, fewer only at its end.
    ///
    /// `nil` if it is none, or if its times cannot be known.
    package init?(length: Int64, read: (_ offset: Int64, _ count: Int) -> [UInt8]) {
        var tracks: [Track] = []
        var offset: Int64 = 0
        var count = 0
        while offset < length {
            count += 1
            guard count <= Self.mostBoxes else { return nil }
            let head = MP4Boxes(read(offset, 16))
            guard let short = head.number(0, width: 4, in: head.bytes.indices),
                let code = head.number(4, width: 4, in: head.bytes.indices),
                let size = short == 1 ? head.number(8, width: 8, in: head.bytes.indices) : short, size >= 8,
                size <= UInt64(length - offset)
            else { return nil }
            let type = BoxType(code: UInt32(truncatingIfNeeded: code))
            if type == "moov" || type == "moof" {
                guard size <= UInt64(Self.most) else { return nil }
                let boxes = MP4Boxes(read(offset, Int(size)))
                guard let box = boxes.box(at: 0, in: boxes.bytes.indices), box.whole.count == size else { return nil }
                if type == "moof" {
                    guard Self.add(boxes, box.content, to: &tracks) else { return nil }
                } else {
                    guard tracks.isEmpty, let found = Self.tracks(boxes, box.content) else { return nil }
                    tracks = found
                }
            }
            offset += Int64(size)
        }
        let found = tracks.filter { $0.first != nil }
        let starts = found.compactMap { track in track.first.flatMap { Self.microseconds($0, track) } }
        let ends = found.compactMap { Self.microseconds($0.end, $0) }
        guard let start = starts.min(), let end = ends.max(), starts.count == found.count, ends.count == found.count
        else { return nil }
        self.init(forms: tracks.map(\.form), start: start, end: end)
    }

    private static func microseconds(_ time: Int64, _ track: Track) -> Int64? {
        let (whole, rest) = (time - track.origin).quotientAndRemainder(dividingBy: track.timescale)
        guard whole.magnitude < 1 << 40 else { return nil }
        return whole * 1_000_000 + rest * 1_000_000 / track.timescale
    }

    // MARK: initialization

    private static func tracks(_ boxes: MP4Boxes<[UInt8]>, _ movie: Range<Int>) -> [Track]? {
        guard let found = boxes.boxes(["trak"], in: movie), 1...64 ~= found.count,
            let header = boxes.boxes(["mvhd"], in: movie)?.first,
            let scale = boxes.timescale(header)
        else { return nil }
        var tracks: [Track] = []
        for box in found {
            func inner(_ path: [BoxType]) -> MP4Box? { boxes.boxes(path, in: box.content)?.first }
            func number(_ box: MP4Box, _ index: Int, _ width: Int) -> UInt64? {
                boxes.number(box.content.lowerBound + index, width: width, in: box.content)
            }
            var track = Track()
            guard let header = inner(["tkhd"]), let version = number(header, 0, 1),
                let id = number(header, version == 1 ? 20 : 12, 4), let media = inner(["mdia", "mdhd"]),
                let timescale = boxes.timescale(media), let handler = inner(["mdia", "hdlr"]),
                let kind = number(handler, 8, 4),
                let descriptions = inner(["mdia", "minf", "stbl", "stsd"])
            else { return nil }
            (track.number, track.timescale) = (id, timescale)
            track.form =
                ["\(timescale)", "\(kind)"].map { Array($0.utf8) } + [Array(boxes.bytes[descriptions.content])]
            if let list = inner(["edts", "elst"]) {
                guard let origin = origin(boxes, list, timescale, scale) else { return nil }
                track.origin = origin
            }
            tracks.append(track)
        }
        for box in boxes.boxes(["mvex", "trex"], in: movie) ?? [] {
            let id = boxes.number(box.content.lowerBound + 4, width: 4, in: box.content)
            let duration = boxes.number(box.content.lowerBound + 12, width: 4, in: box.content)
            for index in tracks.indices where tracks[index].number == id {
                tracks[index].duration = Int64(duration ?? 0)
            }
        }
        return tracks
    }

    /// An edit list may leave out a beginning, and wait in front of it (§8.6.6).
    private static func origin(
        _ boxes: MP4Boxes<[UInt8]>, _ list: MP4Box, _ timescale: Int64, _ scale: Int64
    ) -> Int64? {
        func number(_ index: Int, _ width: Int) -> UInt64? {
            boxes.number(list.content.lowerBound + index, width: width, in: list.content)
        }
        guard let version = number(0, 1), let count = number(4, 4) else { return nil }
        let width = version == 1 ? 8 : 4
        var wait: Int64 = 0
        for index in 0..<Int(min(count, 3)) {
            let place = 8 + index * (2 * width + 4)
            guard let duration = number(place, width), let bits = number(place + width, width) else { return nil }
            let time = width == 4 ? Int64(Int32(truncatingIfNeeded: bits)) : Int64(truncatingIfNeeded: bits)
            guard time == -1 else { return abs(time / 4) < latest ? time - wait : nil }
            let (whole, rest) = duration.quotientAndRemainder(dividingBy: UInt64(scale))
            guard whole < 1 << 28 else { return nil }
            wait += Int64(whole) * timescale + Int64(rest) * timescale / scale
        }
        return -wait
    }

    // MARK: fragments

    private static func add(_ boxes: MP4Boxes<[UInt8]>, _ fragment: Range<Int>, to tracks: inout [Track]) -> Bool {
        guard let found = boxes.boxes(["traf"], in: fragment) else { return false }
        for box in found {
            guard let inner = boxes.tiling(box.content), let header = inner.first(where: { $0.type == "tfhd" }) else {
                return false
            }
            func number(_ box: MP4Box, _ index: Int, _ width: Int) -> UInt64? {
                boxes.number(box.content.lowerBound + index, width: width, in: box.content)
            }
            guard let flags = number(header, 0, 4), let id = number(header, 4, 4),
                let index = tracks.firstIndex(where: { $0.number == id })
            else { return false }
            var usual = tracks[index].duration
            if flags & 8 != 0 {
                // Behind the place of the data and the number of the sample description.
                let place = 8 + (flags & 1 == 0 ? 0 : 8) + (flags & 2 == 0 ? 0 : 4)
                guard let duration = number(header, place, 4) else { return false }
                usual = Int64(duration)
            }
            if let time = inner.first(where: { $0.type == "tfdt" }) {
                guard let version = number(time, 0, 1), let value = number(time, 4, version == 1 ? 8 : 4),
                    value < UInt64(latest)
                else { return false }
                tracks[index].next = Int64(value)
            }
            for run in inner where run.type == "trun" {
                guard add(boxes, run, usual, to: &tracks[index]) else { return false }
            }
        }
        return true
    }

    /// `usual`: how long a sample is for which the run does not say it.
    private static func add(
        _ boxes: MP4Boxes<[UInt8]>, _ run: MP4Box, _ usual: Int64, to track: inout Track
    ) -> Bool {
        func number(_ index: Int) -> UInt64? {
            boxes.number(run.content.lowerBound + index, width: 4, in: run.content)
        }
        guard let flags = number(0), let samples = number(4), samples <= 1 << 20 else { return false }
        var place = 8 + [1, 4].reduce(0) { $0 + (flags & $1 == 0 ? 0 : 4) }
        // Without fields all samples are like one.
        let isPlain = flags & 0xF00 == 0
        for _ in 0..<(isPlain ? min(samples, 1) : samples) {
            var duration = isPlain ? usual * Int64(samples) : usual
            var shift: Int64 = 0
            for field: UInt64 in [0x100, 0x200, 0x400, 0x800] where flags & field != 0 {
                guard let value = number(place) else { return false }
                if field == 0x100 { duration = Int64(value) }
                if field == 0x800 { shift = Int64(Int32(truncatingIfNeeded: value)) }
                place += 4
            }
            let shown = track.next + shift
            track.first = min(track.first ?? shown, shown)
            track.next += duration
            track.end = max(track.end, shown + duration)
            guard track.next < latest else { return false }
        }
        return true
    }
}

extension MP4Boxes {
    /// Of a header of a movie or its media: behind version and flags, and two times.
    fileprivate func timescale(_ header: MP4Box) -> Int64? {
        let version = number(header.content.lowerBound, width: 1, in: header.content)
        return number(header.content.lowerBound + (version == 1 ? 20 : 12), width: 4, in: header.content)
            .flatMap { 1...UInt64(Int32.max) ~= $0 ? Int64($0) : nil }
    }
}
