package import PawlBase

/// What was chosen of a master playlist: the media playlists to request.
package struct HLSSelection: Hashable, Sendable {
    package struct Reference: Hashable, Sendable {
        /// All but the parts.
        package var track: StreamTrack
        package var address: WebAddress
        /// Playlists of the same variant elsewhere (RFC 8216 §6.2.4).
        package var backups: [WebAddress] = []
    }

    package var references: [Reference] = []
    package var notices: [String] = []

    package init(_ master: HLSMaster, _ choice: StreamChoice) throws(StreamFlaw) {
        let forms = master.variants.map { variant in
            StreamChoice.Variant(
                width: Int64(variant.width ?? 0), height: Int64(variant.height ?? 0), bandwidth: variant.bandwidth)
        }
        guard let (index, notice) = choice.variant(among: forms) else { throw StreamFlaw("it has no variant") }
        if let notice { notices.append(notice) }
        let variant = master.variants[index]
        let backups = master.variants.filter { $0.isSame(as: variant) && $0.address != variant.address }.map(\.address)
        references.append(Reference(track: StreamTrack(variant), address: variant.address, backups: backups))
        let sound = master.renditions.filter { $0.kind == .audio && $0.group == variant.audio }
        if add(.audio, sound, choice.audio) == 0, !sound.isEmpty, choice.audio != .none {
            throw .noAudio(in: sound.map(\.language))
        }
        let texts = master.renditions.filter { $0.kind == .subtitles && $0.group == variant.subtitles }
        _ = add(.subtitles, texts, choice.subtitles)
    }

    /// Returns how many of the renditions are wanted, also of those that are in the variant itself.
    private mutating func add(
        _ kind: HLSMaster.Rendition.Kind, _ all: [HLSMaster.Rendition], _ languages: StreamChoice.Languages
    ) -> Int {
        let usual = all.firstIndex(where: \.isDefault)
        let (indexes, missing) = languages.tracks(among: all.map(\.language), usual: usual)
        let content = kind == .audio ? StreamTrack.Content.audio : .subtitles
        notices += missing.map { "There is no \(content) track of the language \($0)." }
        for index in indexes {
            guard let address = all[index].address else { continue }
            let track = StreamTrack(all[index], content: content)
            guard !references.contains(where: { $0.address == address }) else { continue }
            references.append(Reference(track: track, address: address))
        }
        return indexes.count
    }
}

extension HLSMaster.Variant {
    /// Whether another variant is the same from another place.
    fileprivate func isSame(as other: Self) -> Bool {
        var mine = self
        mine.address = other.address
        return mine == other
    }
}

extension StreamTrack {
    fileprivate init(_ variant: HLSMaster.Variant) {
        let size = variant.height.map { "\(variant.width ?? 0)x\($0)" } ?? "-"
        self.init(
            content: .video,
            identity: "variant \(size) \(variant.bandwidth) \(variant.codecs ?? "-") \(variant.frameRate ?? "-") "
                + variant.address.lastPathComponent,
            bandwidth: variant.bandwidth)
        codecs = variant.codecs
    }

    fileprivate init(_ rendition: HLSMaster.Rendition, content: Content) {
        let place = rendition.address?.lastPathComponent ?? "-"
        self.init(
            content: content,
            identity:
                "\(rendition.kind.rawValue) \(rendition.group) \(rendition.language ?? "-") \(rendition.name) \(place)")
        language = rendition.language
        name = rendition.name
    }

    /// The track of a media playlist that no master playlist led to.
    package init(playlist address: WebAddress) {
        self.init(content: .video, identity: "playlist \(address.lastPathComponent)")
    }

    /// This track with the segments of its media playlist.
    package func with(_ media: HLSMedia) throws(StreamFlaw) -> StreamTrack {
        guard media.isEnded else {
            throw StreamFlaw(
                "the programme is still running (it has no EXT-X-ENDLIST), and no time to record it is given")
        }
        guard !media.segments.isEmpty else { throw StreamFlaw("it has no segment") }
        var track = self
        var map: HLSMedia.Map?
        for found in media.segments {
            if track.parts.isEmpty || found.isDiscontinuous || found.map != map {
                map = found.map
                var initialization: StreamSegment?
                if let map {
                    initialization = StreamSegment(
                        address: map.address, range: map.range, number: found.segment.number, duration: 0, key: map.key)
                    track.container = .fragments
                }
                track.parts.append(
                    StreamPart(initialization: initialization, isDiscontinuous: found.isDiscontinuous))
            }
            track.parts[track.parts.count - 1].segments.append(found.segment)
        }
        return track
    }
}
