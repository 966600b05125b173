import PawlBase

/// What a stream has: its variants and tracks, and which of them a choice takes.
package struct StreamListing: Hashable, Sendable {
    package struct Entry: Hashable, Sendable {
        package var content: StreamTrack.Content
        /// In pixels; 0 if they are not stated.
        package var width: Int64 = 0
        package var height: Int64 = 0
        /// In bits for each second; 0 if it is not stated.
        package var bandwidth: Int64 = 0
        /// RFC 6381.
        package var codecs: String?
        package var frameRate: String?
        /// RFC 5646.
        package var language: String?
        package var name: String?
        /// The system for digital rights that encrypts it.
        package var protection: String?
        package var isChosen = false

        init(_ content: StreamTrack.Content) { self.content = content }
    }

    package private(set) var entries: [Entry] = []
    package private(set) var notices: [String] = []

    /// What a master playlist lists.
    package init(_ master: HLSMaster, _ choice: StreamChoice) {
        let selection = try? HLSSelection(master, choice)
        notices = selection?.notices ?? []
        let chosen = Set(selection?.references.map(\.address) ?? [])
        for variant in master.variants {
            var entry = Entry(.video)
            (entry.width, entry.height) = (Int64(variant.width ?? 0), Int64(variant.height ?? 0))
            (entry.bandwidth, entry.codecs, entry.frameRate) = (variant.bandwidth, variant.codecs, variant.frameRate)
            entry.isChosen = chosen.contains(variant.address)
            entries.append(entry)
        }
        for rendition in master.renditions where [.audio, .subtitles].contains(rendition.kind) {
            var entry = Entry(rendition.kind == .audio ? .audio : .subtitles)
            (entry.language, entry.name) = (rendition.language, rendition.name)
            entry.isChosen = rendition.address.map(chosen.contains) ?? false
            entries.append(entry)
        }
    }

    /// What a presentation has, in its longest Period.
    package init(_ document: MPDDocument, _ choice: StreamChoice) {
        let selection = try? MPDSelection(document, choice)
        notices = selection?.notices ?? []
        guard var main = document.periods.first else { return }
        for period in document.periods where period.duration ?? 0 > main.duration ?? 0 { main = period }
        for set in main.sets {
            guard let content = set.content else { continue }
            for one in set.representations {
                var entry = Entry(content)
                (entry.width, entry.height, entry.bandwidth) = (one.width, one.height, one.bandwidth)
                (entry.codecs, entry.language, entry.name) = (one.codecs, set.language, set.label)
                entry.protection = one.protection.first
                entry.isChosen =
                    selection?.tracks.contains { $0.content == content && $0.main.representation == one } ?? false
                entries.append(entry)
            }
        }
    }

    /// A playlist of segments: what it has is not described.
    package init(_ media: HLSMedia) {
        var entry = Entry(.video)
        entry.isChosen = true
        entries = [entry]
    }
}
