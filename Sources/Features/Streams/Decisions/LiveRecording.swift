package import PawlBase

/// What is recorded of a programme that is still running: which segments of its playlist are new, when that is requested
/// again, and when the recording ends (RFC 8216 §6.3).
package struct LiveRecording: Hashable, Sendable {
    package enum End: Hashable, Sendable {
        /// It is as long as was wanted.
        case reached
        /// The programme has ended.
        case programme
        /// Something follows that cannot be joined.
        case change(String)
        /// The playlist has nothing new, or is not there any more.
        case silence(String)

        /// What the user is told.
        package var notice: String? {
            switch self {
            case .reached: nil
            case .programme: "the programme has ended: the recording is shorter than was wanted"
            case .change(let why), .silence(let why): "the recording ends here: \(why)"
            }
        }
    }

    /// What a playlist adds.
    package struct Addition: Hashable, Sendable {
        package var segments: [HLSMedia.Segment] = []
        /// Numbers of segments that were there between two requests only.
        package var missed: [UInt64] = []
    }

    /// In microseconds.
    private let duration: Int64
    private var recorded: Int64 = 0
    private var count = 0
    /// The media sequence number that follows.
    private var next: UInt64?
    /// The number of the segment before it.
    private var newest: UInt64?
    /// The name of the segment before it: what is before and behind that in its address may be a signature.
    private var last: Substring?
    private var map: HLSMedia.Map?
    private var lastNews: Instant
    /// How often in a row the playlist could not be had.
    private var failures = 0
    /// When the playlist is to be requested again.
    package private(set) var due: Instant
    package private(set) var end: End?

    /// So many target durations before its end a recording begins (§6.3.3).
    private static let lead: Int64 = 3
    /// A programme without a new segment for so long, or for ten target durations, is over.
    private static let silence = Interval.seconds(60)
    private static let mostFailures = 5
    private static let mostMissed: UInt64 = 1_000

    /// `duration`: in microseconds.
    package init(duration: Int64, now: Instant) {
        self.duration = duration
        (lastNews, due) = (now, now)
    }

    /// The playlist was received; `asked`: when it was requested.
    package mutating func received(_ media: HLSMedia, asked: Instant, now: Instant) -> Addition {
        guard end == nil else { return Addition() }
        let target = min(max(media.longest, 1_000_000), 60_000_000)
        var addition = Addition()
        var new = media.segments[...]
        if let next {
            if isNumberedAnew(media, next) {
                end = .change("its segments are numbered anew")
                return addition
            }
            // Times are rounded: the next segment may begin a little before the end of the one before.
            new = new.drop { isRecorded($0) }
            if let first = new.first?.segment, first.number > next {
                let (whole, rest) = (first.number - next).quotientAndRemainder(dividingBy: first.step)
                let count = whole + (first.step > 1 && rest >= first.step - first.step / 2 ? 1 : 0)
                guard count <= Self.mostMissed else {
                    end = .change("its segments have other numbers")
                    return addition
                }
                addition.missed = (0..<count).map { next + $0 * first.step }
            }
        } else {
            new = Self.latest(of: media, within: target * Self.lead)
            map = new.first?.map
        }
        for segment in new where !isRecorded(segment) {
            if segment.map != map {
                end = .change("another initialization follows, and joined to it the file would play wrongly")
                break
            }
            if map != nil, segment.isDiscontinuous, next != nil || !addition.segments.isEmpty {
                end = .change("its times begin anew, and joined to it the file would play wrongly")
                break
            }
            addition.segments.append(segment)
            recorded = recorded.addingClamped(segment.segment.duration)
            count += 1
            newest = segment.segment.number
            next = segment.segment.number &+ segment.segment.step
            last = Self.name(of: segment)
            if recorded >= duration {
                end = .reached
                break
            }
            if count >= HLSPlaylist.mostSegments {
                end = .change("it has \(HLSPlaylist.mostSegments) segments")
                break
            }
        }
        failures = 0
        if !new.isEmpty { lastNews = now }
        if end == nil, media.isEnded { end = .programme }
        let patience = max(Self.silence, Interval(microseconds: target * 10))
        if end == nil, now - lastNews >= patience {
            end = .silence("the playlist has had no new segment for \(Int64(patience.seconds)) s")
        }
        // §6.3.4: after half the time if nothing was new.
        due = asked + Interval(microseconds: new.isEmpty ? target / 2 : target)
        return addition
    }

    private func isRecorded(_ segment: HLSMedia.Segment) -> Bool {
        newest.map { segment.segment.number <= $0 } ?? false
    }

    /// Whether its numbers stand for other segments than before: they went back, or the last one has another name.
    private func isNumberedAnew(_ media: HLSMedia, _ next: UInt64) -> Bool {
        guard let newest = media.segments.last?.segment else { return false }
        guard newest.number &+ newest.step &+ newest.step / 2 >= next else { return true }
        return media.segments.contains {
            $0.segment.number &+ $0.segment.step == next && Self.name(of: $0) != last
        }
    }

    private static func name(of segment: HLSMedia.Segment) -> Substring? {
        segment.segment.address.path.pathParts().last
    }

    /// The playlist could not be had, or could not be read.
    package mutating func failed(_ why: String, now: Instant) {
        failures += 1
        due = now + .seconds(1)
        if end == nil, failures == Self.mostFailures {
            end = .silence("the playlist cannot be requested again: \(why)")
        }
    }

    /// The segments that begin at most so many microseconds before the end, at least the last one.
    private static func latest(of media: HLSMedia, within time: Int64) -> ArraySlice<HLSMedia.Segment> {
        var (start, length) = (media.segments.endIndex, Int64(0))
        while start > media.segments.startIndex {
            length = length.addingClamped(media.segments[start - 1].segment.duration)
            if length > time, start < media.segments.endIndex { break }
            start -= 1
        }
        return media.segments[start...]
    }
}

extension HLSMedia {
    /// The target duration, else the longest segment's, in microseconds.
    fileprivate var longest: Int64 { target ?? segments.map(\.segment.duration).max() ?? 0 }
}

extension Interval {
    fileprivate init(microseconds: Int64) { self.init(nanoseconds: microseconds * 1000) }
}

extension LiveRecording {
    /// `90` or `90s`, `30m`, `2h`, in microseconds; `nil` for anything else, and for more than a week.
    package static func duration(parsing text: String) -> Int64? {
        let bytes = Array(text.utf8)
        let digits = bytes.prefix(while: \.isDigit)
        let units: [String: Int64] = ["": 1, "s": 1, "m": 60, "h": 3600]
        guard let number = digits.decimalNumber,
            let unit = units[String(decoding: bytes[digits.endIndex...], as: UTF8.self)],
            1...mostSeconds / unit ~= number
        else { return nil }
        return number * unit * 1_000_000
    }

    /// A week.
    package static let mostSeconds: Int64 = 7 * 86_400
}

extension StreamFile.Item {
    /// A segment of a programme that is being recorded.
    package init(recording segment: StreamSegment) { self.init(segment: segment, isInitialization: false) }
}
