import PawlBase

/// Which representations of a presentation are wanted, for each Period.
struct MPDSelection {
    struct Pick: Hashable, Sendable {
        var period: MPDDocument.Period
        var set: MPDDocument.AdaptationSet
        var representation: MPDDocument.Representation
    }

    struct Track: Hashable, Sendable {
        var content: StreamTrack.Content
        /// The one by which the others were chosen.
        var main: Pick
        /// In the order of the Periods.
        var picks: [Pick] = []
    }

    private(set) var tracks: [Track] = []
    private(set) var notices: [String] = []
    private let choice: StreamChoice

    private static let most = 100

    init(_ document: MPDDocument, _ choice: StreamChoice) throws(StreamFlaw) {
        self.choice = choice
        // The programme, not what comes in front of it.
        guard var main = document.periods.first else { throw StreamFlaw("it has no Period") }
        for period in document.periods where period.duration ?? 0 > main.duration ?? 0 { main = period }
        addVideo(main)
        try addAudio(main)
        addSubtitles(main)
        guard !tracks.isEmpty else { throw StreamFlaw("it has no track that is wanted") }
        guard tracks.count <= Self.most else { throw StreamFlaw("more than \(Self.most) of its tracks are wanted") }
        for index in tracks.indices { try follow(index, through: document.periods) }
        for track in tracks {
            for pick in track.picks where !pick.representation.protection.isEmpty { throw Self.protected(pick) }
        }
    }

    private static func protected(_ pick: Pick) -> StreamFlaw {
        let names = pick.representation.protection.reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
        var flaw = StreamFlaw("it is encrypted by DRM (\(names.joined(separator: ", ")))")
        flaw.isProtected = true
        return flaw
    }

    // MARK: in one Period

    private static func sets(
        _ content: StreamTrack.Content, _ period: MPDDocument.Period
    ) -> [MPDDocument.AdaptationSet] {
        period.sets.filter { $0.content == content }
    }

    private mutating func addVideo(_ period: MPDDocument.Period) {
        let all = Self.sets(.video, period)
        // Other angles, or sign language.
        let usual = all.filter { $0.isUsual }
        let candidates = (usual.isEmpty ? all : usual).flatMap { set in
            set.representations.map { Pick(period: period, set: set, representation: $0) }
        }
        guard let (index, notice) = choice.variant(among: candidates.map(\.variant)) else { return }
        if let notice { notices.append(notice) }
        tracks.append(Track(content: .video, main: candidates[index]))
    }

    private mutating func addAudio(_ period: MPDDocument.Period) throws(StreamFlaw) {
        let sets = Self.sets(.audio, period)
        let found = add(.audio, sets, choice.audio, period)
        guard found || sets.isEmpty || choice.audio == .none else {
            throw .noAudio(in: sets.map(\.language))
        }
    }

    private mutating func addSubtitles(_ period: MPDDocument.Period) {
        _ = add(.subtitles, Self.sets(.subtitles, period), choice.subtitles, period)
    }

    private mutating func add(
        _ content: StreamTrack.Content, _ sets: [MPDDocument.AdaptationSet], _ languages: StreamChoice.Languages,
        _ period: MPDDocument.Period
    ) -> Bool {
        let usual = sets.firstIndex { $0.roles.contains("main") } ?? sets.firstIndex { $0.isUsual }
        let (indexes, missing) = languages.tracks(among: sets.map(\.language), usual: usual)
        notices += missing.map { "There is no \(content) track of the language \($0)." }
        // Beside pictures, the quality says which sound only if it is the worst.
        var quality = choice
        let isBitrate = if case .bitrate = choice.quality { tracks.isEmpty } else { false }
        if choice.quality != .worst, !isBitrate { quality.quality = .best }
        for set in indexes.map({ sets[$0] }) {
            let picks = set.representations.map { Pick(period: period, set: set, representation: $0) }
            guard let (index, notice) = quality.variant(among: picks.map(\.variant)) else { continue }
            if let notice { notices.append(notice) }
            tracks.append(Track(content: content, main: picks[index]))
        }
        return !indexes.isEmpty
    }

    // MARK: through all Periods

    private mutating func follow(_ index: Int, through periods: [MPDDocument.Period]) throws(StreamFlaw) {
        let track = tracks[index]
        for period in periods {
            if let pick = period.number == track.main.period.number ? track.main : counterpart(of: track, in: period) {
                tracks[index].picks.append(pick)
                continue
            }
            // Nobody speaks while there are no subtitles; a track of sound or pictures would be too short.
            guard track.content == .subtitles else {
                throw StreamFlaw("its Period \(period.number) has no \(track.content), and others have")
            }
        }
    }

    /// What goes on with a track in another Period: of the same language, form and codecs, if there is such a one.
    private func counterpart(of track: Track, in period: MPDDocument.Period) -> Pick? {
        let main = track.main
        let sets = Self.sets(track.content, period)
        let same = sets.filter { $0.language == main.set.language }
        if track.content == .subtitles, same.isEmpty { return nil }
        let picks = (same.isEmpty ? sets : same).flatMap { set in
            set.representations.map { Pick(period: period, set: set, representation: $0) }
        }
        func distance(_ pick: Pick) -> (Int, Int, Int64) {
            let (one, other) = (pick.representation, main.representation)
            let isOther = one.width != other.width || one.height != other.height || one.codecs != other.codecs
            let (difference, overflow) = one.bandwidth.subtractingReportingOverflow(other.bandwidth)
            return (
                pick.set.roles == main.set.roles ? 0 : 1, isOther ? 1 : 0,
                overflow ? .max : Int64(clamping: difference.magnitude)
            )
        }
        let nearest = picks.min { distance($0) < distance($1) }
        guard let nearest, track.content == .video, distance(nearest).1 == 1 else { return nearest }
        return choice.variant(among: picks.map(\.variant)).map { picks[$0.index] }
    }
}

extension MPDSelection.Pick {
    fileprivate var variant: StreamChoice.Variant {
        StreamChoice.Variant(
            width: representation.width, height: representation.height, bandwidth: representation.bandwidth)
    }
}

extension MPDDocument.AdaptationSet {
    /// Whether it is meant for everyone.
    fileprivate var isUsual: Bool {
        let others: Set = ["alternate", "commentary", "sign", "emergency", "description", "dub", "supplementary"]
        return !isSpecial && (roles.contains("main") || roles.isDisjoint(with: others))
    }
}
