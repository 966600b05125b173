@testable import PawlBase
@testable import PawlStreams

/// Presentations of DASH, and how users choose from them.
enum MPDLaws {
    static func check(_ input: inout FuzzInput) throws(BrokenLaw) {
        let bytes = input.rest()
        try checkTexts(String(decoding: bytes.prefix(200), as: UTF8.self))
        let address = WebAddress(scheme: .https, host: "h", port: 443, path: "/d/x.mpd", query: "q")
        try checkRecording(bytes, address)
        guard let document = try? MPDDocument(bytes, at: address) else { return }
        for quality in [StreamChoice.Quality.best, .worst, .height(720), .bitrate(1_000_000)] {
            var choice = StreamChoice()
            (choice.quality, choice.audio, choice.subtitles) = (quality, quality == .worst ? .all : .usual, .all)
            guard let plan = try? MPDPlan(document, choice) else { continue }
            try check(plan)
        }
    }

    /// The same document twice, as of a programme that is running.
    private static func checkRecording(_ bytes: [UInt8], _ address: WebAddress) throws(BrokenLaw) {
        let start = Instant(nanoseconds: 0)
        var recording = LiveRecording(duration: .max, now: start)
        var last: UInt64?
        for seconds in [0, 4] as [Int64] {
            let now = start + .seconds(Double(seconds))
            guard
                let document = try? MPDDocument(
                    bytes, at: address, now: UnixTime(seconds: 1_700_000_000 + seconds)),
                let plan = try? MPDPlan(document, StreamChoice(), isNumberedByTime: true),
                let track = plan.plan.tracks.first,
                let media = plan.media(ofTrack: track.identity, isEnded: !document.isRunning)
            else { return }
            let addition = recording.received(media, asked: now, now: now)
            try hold(addition.missed.count <= 1_000, "\(addition.missed.count) segments missed")
            for segment in addition.segments where seconds > 0 {
                try hold(last.map { segment.segment.number > $0 } ?? true, "segment \(segment.segment.number) again")
            }
            last = addition.segments.last?.segment.number ?? last
        }
    }

    private static func checkTexts(_ text: String) throws(BrokenLaw) {
        if let quality = StreamChoice.Quality(parsing: text) {
            try hold(StreamChoice.Quality(parsing: quality.text) == quality, "another quality: \(quality.text)")
        }
        if let languages = StreamChoice.Languages(parsing: text), let own = languages.text {
            try hold(StreamChoice.Languages(parsing: own) == languages, "other languages: \(own)")
        }
        if let duration = MPDNumbers.duration(text) { try hold(duration >= 0, "a time before the start: \(duration)") }
        if let template = try? MPDTemplate(text) {
            let length = template.text(MPDTemplate.Values(representation: "id", number: .max)).utf8.count
            try hold(length <= text.utf8.count * 33, "a name of \(length) bytes")
        }
    }

    private static func check(_ plan: MPDPlan) throws(BrokenLaw) {
        let tracks = plan.plan.tracks
        try hold(!tracks.isEmpty, "a plan without tracks")
        let counts = tracks.map { $0.parts.reduce(0) { $0 + $1.segments.count } }
        try hold(counts.allSatisfy { 1...MPDSegments.most ~= $0 }, "segments: \(counts)")
        try hold(counts.reduce(0, +) <= MPDSegments.mostInAll, "segments in all: \(counts)")
        for track in tracks {
            try hold(track.parts.allSatisfy { !$0.segments.isEmpty }, "a part without segments")
            let segments = track.parts.flatMap(\.segments)
            try hold(segments.map(\.number) == Array(0..<UInt64(segments.count)), "numbers with gaps")
            for segment in segments + track.parts.compactMap(\.initialization) {
                let schemes = ([segment.address] + segment.mirrors).map(\.scheme)
                try hold(schemes.allSatisfy { [.http, .https].contains($0) }, "not HTTP: \(segment.address.text)")
                try hold(!segment.mirrors.contains(segment.address), "its own mirror: \(segment.address.text)")
                try hold(segment.duration >= 0, "a duration of \(segment.duration)")
            }
            let addresses = segments.reduce(0) { $0 + 1 + $1.mirrors.count }
            try hold(addresses <= MPDSegments.most * 4, "\(addresses) addresses")
        }
        for index in plan.indexes {
            let part = tracks[index.track].parts[index.part]
            try hold(part.segments.count == 1 && index.segment.range != nil, "an index of many segments")
        }
    }
}

/// Segments as servers send them: boxes, packets, indexes, tags and subtitles.
enum SegmentLaws {
    static func check(_ input: inout FuzzInput) throws(BrokenLaw) {
        let bytes = input.rest()
        try checkContainers(bytes)
        try checkFragments(bytes)
        try checkIndex(bytes)
        let tags = ID3Tag.length(in: bytes)
        let audio = Array(ID3Tag.joined(bytes, isFirst: false))
        try hold(0...bytes.count ~= tags && bytes.count - tags == audio.count, "tags of \(tags) bytes")
        try hold(ID3Tag.length(in: audio) == 0, "a tag behind the tags")
        try checkSubtitles(bytes)
        try checkTimes(bytes)
    }

    private static func failure(
        _ bytes: [UInt8], _ container: StreamTrack.Container?, _ isFirst: Bool = false
    ) -> String? {
        SegmentCheck.failure(of: bytes, container: container, isInitialization: isFirst)
    }

    private static func checkContainers(_ bytes: [UInt8]) throws(BrokenLaw) {
        let found = SegmentCheck.container(of: bytes)
        let timed = SegmentCheck.failure(
            of: bytes, container: .transportStream, isInitialization: false, duration: 2_000_000)
        try hold(timed != nil || failure(bytes, .transportStream) == nil, "times make a segment of what is none")
        let audio = bytes.dropFirst(ID3Tag.length(in: bytes)).prefix(2)
        let isAAC = audio.first == 0xFF && (audio.last ?? 0) & 0xF6 == 0xF0
        if isAAC, failure(bytes, .packedAudio) == nil {
            try hold(failure(Array(bytes.dropLast()), .packedAudio) != nil, "AAC without its end")
        }
        if failure(bytes, nil) == nil { try hold(found != nil, "joined, but unknown") }
        let isInStep =
            !bytes.isEmpty && bytes.count % 188 == 0
            && stride(from: 0, to: bytes.count, by: 188).allSatisfy { bytes[$0] == 0x47 }
        try hold((failure(bytes, .transportStream) == nil) == isInStep, "packets in step: \(isInStep)")
        for container in [.fragments, .packedAudio, .webVTT, .bytes] as [StreamTrack.Container] {
            if let why = failure(bytes, container) { try hold(why.utf8.count < 200, "a long sentence: \(why)") }
        }
    }

    /// The sum of the boxes' sizes, without a size of more than 32 bits.
    private static func isTiled(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            var size = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
            if size == 1 { size = rest.dropFirst(8).prefix(8).reduce(0) { ($0 << 8 | Int($1)) & 0xFFFF_FFFF } }
            guard rest.count >= 8, size >= 8, size <= rest.count else { return false }
            rest = rest.dropFirst(size)
        }
        return true
    }

    private static func checkFragments(_ bytes: [UInt8]) throws(BrokenLaw) {
        let cut = Array(bytes.dropLast())
        if failure(bytes, .fragments) == nil {
            try hold(isTiled(bytes), "a fragment with a gap")
            try hold(failure(bytes + bytes, .fragments) == nil, "two fragments are none")
            try hold(failure(cut, .fragments) != nil, "a fragment without its end")
        }
        if failure(bytes, .fragments, true) == nil {
            try hold(isTiled(bytes), "an initialization with a gap")
            try hold(SegmentCheck.protection(of: bytes) == nil, "an encrypted initialization")
            try hold(failure(cut, .fragments, true) != nil, "an initialization without its end")
        }
    }

    /// Times of a file, of which only parts are read.
    private static func checkTimes(_ bytes: [UInt8]) throws(BrokenLaw) {
        let times = FragmentTimes(length: Int64(bytes.count)) { offset, count in
            Array(bytes.dropFirst(Int(offset)).prefix(count))
        }
        if let times { try hold(times.start <= times.end && !times.forms.isEmpty, "times that end before they begin") }
    }

    private static func checkIndex(_ bytes: [UInt8]) throws(BrokenLaw) {
        guard let index = SegmentIndex(bytes, at: 1000) else { return }
        try hold(!index.entries.isEmpty && index.entries.count * 12 < bytes.count, "an index of nothing")
        try hold(index.entries.allSatisfy { !$0.range.isEmpty && $0.duration >= 0 }, "an empty subsegment")
        for (one, next) in zip(index.entries, index.entries.dropFirst()) {
            try hold(one.range.end == next.range.start, "a gap between subsegments")
        }
    }

    /// Zero bytes separate segments.
    private static func checkSubtitles(_ bytes: [UInt8]) throws(BrokenLaw) {
        var join = WebVTTJoin()
        var file: [UInt8] = []
        do {
            for segment in bytes.split(separator: 0) {
                if segment.count % 7 == 0 { join.begin(at: Int64(segment.count) * 1_000_000 - 50_000_000) }
                file += try join.joined(Array(segment))
            }
        } catch { return }
        guard !file.isEmpty else { return }
        try hold(file.count <= 4 * bytes.count + 64, "\(bytes.count) bytes became \(file.count)")
        var again = WebVTTJoin()
        guard let repeated = try? again.joined(file) else { throw BrokenLaw(description: "the file cannot be read") }
        try hold(repeated == file, "the file means another")
    }
}
