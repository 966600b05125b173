import PawlBase

/// What was chosen of a presentation: its plan, what was taken instead of what was asked for, and what still has to be
/// requested to divide files into segments.
package struct MPDPlan: Hashable, Sendable {
    /// A file with an index of its segments.
    package struct Index: Hashable, Sendable {
        package var track: Int
        package var part: Int
        /// The range of the index.
        package var segment: StreamSegment
    }

    package private(set) var plan: StreamPlan
    package private(set) var notices: [String]
    package private(set) var indexes: [Index] = []
    private let isNumberedByTime: Bool

    /// Throws also where the choice is encrypted, before anything is requested.
    ///
    /// `isNumberedByTime`: for a recording, whose segments are known by their times.
    package init(
        _ document: MPDDocument, _ choice: StreamChoice, isNumberedByTime: Bool = false
    ) throws(StreamFlaw) {
        self.isNumberedByTime = isNumberedByTime
        let selection = try MPDSelection(document, choice)
        notices = selection.notices
        plan = StreamPlan(tracks: [])
        for (track, chosen) in selection.tracks.enumerated() {
            plan.tracks.append(try Self.track(chosen))
            for (part, pick) in chosen.picks.enumerated() { try add(pick, to: track, part) }
        }
    }

    private static func track(_ chosen: MPDSelection.Track) throws(StreamFlaw) -> StreamTrack {
        let one = chosen.main.representation
        let form = one.height > 0 ? " \(one.width)x\(one.height)" : ""
        var track = StreamTrack(
            content: chosen.content,
            identity: "\(chosen.content)\(form) \(one.codecs ?? one.mediaType) \(one.bandwidth) "
                + "\(chosen.main.set.language ?? "-") \(one.id)",
            bandwidth: one.bandwidth)
        track.container = container(one.mediaType)
        track.language = chosen.main.set.language
        track.name = chosen.main.set.label
        track.codecs = one.codecs
        return track
    }

    private static func container(_ mediaType: String) -> StreamTrack.Container? {
        switch mediaType {
        case "video/mp4", "audio/mp4", "application/mp4": .fragments
        case "video/mp2t": .transportStream
        case "text/vtt": .webVTT
        case "": nil
        default: .bytes
        }
    }

    private mutating func add(_ pick: MPDSelection.Pick, to track: Int, _ part: Int) throws(StreamFlaw) {
        let before = plan.tracks[track].parts
        let most = mostMore(in: track)
        let found = try MPDSegments(
            pick.representation, in: pick.period, most: most, isNumberedByTime: isNumberedByTime)
        var new = found.part
        // A document in each segment, such as TTML.
        guard plan.tracks[track].container != .bytes || new.initialization != nil || new.segments.count == 1 else {
            throw StreamFlaw("segments of \(Redaction.printable(pick.representation.mediaType)) cannot be joined")
        }
        if let last = before.last {
            let shift = new.timestampOffset.addingClamped(-last.timestampOffset)
            // The media time goes on where it does for the whole presentation; times are rounded.
            new.isDiscontinuous = !(-100_000...100_000 ~= shift)
            let first = isNumberedByTime ? 0 : (last.segments.last?.number ?? 0) + 1
            for index in new.segments.indices { new.segments[index].number += first }
        }
        plan.tracks[track].parts.append(new)
        if let index = found.index { indexes.append(Index(track: track, part: part, segment: index)) }
    }

    /// How many segments a track can have beside those that it has.
    private func mostMore(in track: Int) -> Int {
        let counts = plan.tracks.map { $0.parts.reduce(0) { $0 + $1.segments.count } }
        return min(MPDSegments.most - counts[track], MPDSegments.mostInAll - counts.reduce(0, +))
    }

    /// Divides a file into the subsegments of its index.
    ///
    /// What is in front of the first one is the initialization, with the index, so that the parts make up the file.
    package mutating func divide(_ index: Index, by found: SegmentIndex) throws(StreamFlaw) {
        let part = plan.tracks[index.track].parts[index.part]
        guard let whole = part.segments.first, let first = found.entries.first else { return }
        guard
            plan.tracks[index.track].parts.reduce(0, { $0 + $1.segments.count }) + found.entries.count
                <= MPDSegments.most
        else { throw MPDTimes.tooMany }
        var front = whole
        (front.range, front.duration) = (ByteRange(0, first.range.start), 0)
        plan.tracks[index.track].parts[index.part].initialization = front
        plan.tracks[index.track].parts[index.part].segments = found.entries.map { entry in
            var segment = whole
            (segment.range, segment.duration) = (entry.range, entry.duration)
            return segment
        }
        renumber(index.track)
    }

    /// The segments of a track of a programme that is running, or was, as its playlist would list them; `nil` if there is no such
    /// track any more.
    package func media(ofTrack identity: String, isEnded: Bool) -> HLSMedia? {
        guard let track = plan.tracks.first(where: { $0.identity == identity }) else { return nil }
        var media = HLSMedia()
        media.isEnded = isEnded
        for part in track.parts {
            let map = part.initialization.map { HLSMedia.Map(address: $0.address, range: $0.range) }
            for (index, segment) in part.segments.enumerated() {
                media.segments.append(
                    HLSMedia.Segment(
                        segment: segment, map: map, isDiscontinuous: part.isDiscontinuous && index == 0))
            }
        }
        return media
    }

    private mutating func renumber(_ track: Int) {
        var number: UInt64 = 0
        for part in plan.tracks[track].parts.indices {
            for segment in plan.tracks[track].parts[part].segments.indices {
                plan.tracks[track].parts[part].segments[segment].number = number
                number += 1
            }
        }
    }
}
