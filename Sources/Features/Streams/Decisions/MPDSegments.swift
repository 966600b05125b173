import PawlBase

/// Expands what describes the segments of a representation into their addresses.
struct MPDSegments {
    /// The most segments of a track.
    static let most = 100_000
    /// The most of all tracks.
    static let mostInAll = 2 * most

    let representation: MPDDocument.Representation
    let period: MPDDocument.Period
    private let segmentation: MPDSegmentation?

    private(set) var part = StreamPart()
    /// The index of the one segment, by which that can be divided.
    private(set) var index: StreamSegment?
    /// Numbers are times, which stay the same while segments come and go.
    private let isNumberedByTime: Bool

    init(
        _ representation: MPDDocument.Representation, in period: MPDDocument.Period, most: Int,
        isNumberedByTime: Bool = false
    ) throws(StreamFlaw) {
        self.representation = representation
        self.isNumberedByTime = isNumberedByTime
        self.period = period
        segmentation = representation.segmentation
        guard most > 0 else { throw MPDTimes.tooMany }
        guard !isNumberedByTime || segmentation?.kind == .template || segmentation?.kind == .list else {
            throw flaw("is of a programme that is running, and has neither a SegmentTemplate nor a SegmentList")
        }
        switch segmentation?.kind {
        case .template: try addTemplate(most)
        case .list: try addList(most)
        case .base, nil: try addWhole()
        }
        guard !part.segments.isEmpty || isNumberedByTime else { throw flaw("has no segment") }
        part.timestampOffset = period.start.addingClamped(-(try segmentation?.offset() ?? 0))
    }

    private func flaw(_ words: String) -> StreamFlaw {
        StreamFlaw("its Representation \(Redaction.printable(String(representation.id.prefix(100)))) \(words)")
    }

    // MARK: addresses

    /// Where a URL of a document leads.
    static func address(_ reference: String, in base: WebAddress) throws(StreamFlaw) -> WebAddress {
        let found: WebAddress
        do throws(Failure) { found = try base.resolving(reference) } catch {
            throw StreamFlaw("the URL \(Redaction.address(reference)) in it cannot be used")
        }
        guard found.scheme == base.scheme || [.http, .https].contains(found.scheme) else {
            throw StreamFlaw("the URL \(Redaction.address(reference)) in it is not of HTTP")
        }
        return found
    }

    /// A segment with that many other addresses at most.
    private func segment(
        _ reference: MPDSegmentation.Reference, number: Int64, duration: Int64, mirrors: Int = 3
    ) throws(StreamFlaw) -> StreamSegment {
        guard let base = representation.bases.first else { throw flaw("has no URL") }
        func address(_ base: WebAddress) throws(StreamFlaw) -> WebAddress {
            guard let url = reference.url else { return base }
            return try Self.address(url, in: base)
        }
        var segment = StreamSegment(
            address: try address(base), range: reference.range, number: UInt64(clamping: number), duration: duration)
        // The same URL for all bases if it is absolute.
        for base in representation.bases.dropFirst().prefix(mirrors) {
            let mirror = try address(base)
            if mirror != segment.address, !segment.mirrors.contains(mirror) { segment.mirrors.append(mirror) }
        }
        return segment
    }

    /// Adds segments in order; the number is that of the track, which grows by one each.
    private mutating func add(_ references: [(MPDSegmentation.Reference, Int64)]) throws(StreamFlaw) {
        // However many bases there are, the addresses are bounded.
        let mirrors = Self.most / max(references.count, 1) - 1
        part.segments.reserveCapacity(references.count)
        for (number, (reference, duration)) in references.enumerated() {
            part.segments.append(
                try segment(reference, number: Int64(number), duration: duration, mirrors: max(0, mirrors)))
        }
    }

    private mutating func addInitialization(_ reference: MPDSegmentation.Reference?) throws(StreamFlaw) {
        guard let reference else { return }
        part.initialization = try segment(reference, number: 0, duration: 0)
    }

    // MARK: templates and lists

    private mutating func addTemplate(_ most: Int) throws(StreamFlaw) {
        guard let segmentation, let text = segmentation.attributes["media"] else { throw flaw("has no media template") }
        let template = try MPDTemplate(text)
        var values = MPDTemplate.Values(representation: representation.id, bandwidth: representation.bandwidth)
        var initialization = segmentation.initialization
        if let text = segmentation.attributes["initialization"] {
            initialization = MPDSegmentation.Reference(url: try MPDTemplate(text).text(values))
        }
        try addInitialization(initialization)
        let hasParts = template.has("SubNumber")
        var references: [(MPDSegmentation.Reference, Int64)] = []
        var times: [MPDTimes.Time] = []
        for time in try MPDTimes(segmentation, in: period, most: most).times {
            guard time.parts == 1 || hasParts else { throw flaw("has partial segments without a number") }
            for sub in 1...time.parts {
                (values.number, values.time, values.subNumber) = (time.number, time.start, sub)
                guard references.count < most else { throw MPDTimes.tooMany }
                references.append((MPDSegmentation.Reference(url: template.text(values)), time.duration / time.parts))
                times.append(time)
            }
        }
        let isVaried = references.count == 1 || hasParts || template.has("Number") || template.has("Time")
        guard isVaried else { throw flaw("has the same URL for all segments") }
        try add(references)
        if isNumberedByTime { try number(by: times, segmentation) }
    }

    private mutating func number(by times: [MPDTimes.Time], _ segmentation: MPDSegmentation) throws(StreamFlaw) {
        let offset = segmentation.timeline == nil ? 0 : try segmentation.number("presentationTimeOffset", usually: 0)
        let start = Int128(period.start) * Int128(try segmentation.timescale()) / 1_000_000
        for (index, time) in times.enumerated() {
            guard time.ticks > 0, time.parts == 1 else { throw flaw("has segments without a time of their own") }
            part.segments[index].number = UInt64(clamping: start + Int128(time.start) - Int128(offset))
            part.segments[index].step = UInt64(time.ticks)
        }
    }

    private mutating func addList(_ most: Int) throws(StreamFlaw) {
        guard let segmentation, let list = segmentation.list ?? (isNumberedByTime ? [] : nil) else {
            throw flaw("has no segment")
        }
        guard list.count <= most else { throw MPDTimes.tooMany }
        try addInitialization(segmentation.initialization)
        let times =
            if segmentation.timeline != nil {
                try MPDTimes(segmentation, in: period, most: most).times
            } else { try MPDTimes(listing: list.count, segmentation).times }
        guard times.count >= list.count else { throw flaw("has a SegmentTimeline for other segments") }
        try add(Array(zip(list, times.map(\.duration))))
        if isNumberedByTime { try number(by: Array(times.prefix(list.count)), segmentation) }
    }

    // MARK: one file

    private mutating func addWhole() throws(StreamFlaw) {
        guard representation.hasBaseURL else { throw flaw("has no segment") }
        let reference = MPDSegmentation.Reference()
        part.segments = [try segment(reference, number: 0, duration: period.duration ?? 0)]
        if let text = segmentation?.attributes["indexRange"] {
            guard let range = MPDNumbers.range(text) else { throw flaw("has an indexRange that cannot be read") }
            index = try segment(MPDSegmentation.Reference(range: range), number: 0, duration: 0)
        }
        // One in another file is not in front of this one.
        if segmentation?.initialization?.url != nil { try addInitialization(segmentation?.initialization) }
    }
}
