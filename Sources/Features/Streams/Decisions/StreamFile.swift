package import PawlBase

/// One file of a stream: segments of a track in order, each initialization before the segments that need it.
package struct StreamFile: Hashable, Sendable {
    package struct Item: Hashable, Sendable {
        package var segment: StreamSegment
        package var isInitialization: Bool
        /// Whether its part has no initialization: it may have its own.
        package var isSelfInitializing = false
        /// Where the timestamps from here on begin in the stream, in microseconds, if that changes here.
        package var timestampOffset: Int64?
    }

    package var content: StreamTrack.Content
    package var container: StreamTrack.Container?
    /// RFC 5646.
    package var language: String?
    /// See ``StreamTrack/requiresTLS``.
    package var requiresTLS = false
    package var items: [Item] = []
    /// What it is of the stream, as a part of its name: `video`, `audio.en`; empty for the whole.
    package var label = ""
    /// What it is of the stream, also after its playlist has changed.
    package private(set) var track = ""
    /// Its place among the files of its track, from 0: more than one if the initialization changes.
    package private(set) var part = 0
    /// See ``StreamPart/timestampOffset``: that of its first segment.
    package private(set) var timestampOffset: Int64 = 0
    /// The same for the same content, also when the playlist is requested again with other signatures.
    package private(set) var identity = ""

    /// In microseconds.
    package var duration: Int64 { items.reduce(0) { $0.addingClamped($1.segment.duration) } }

    /// The most files of one stream.
    private static let most = 1_000

    /// The files of a stream; more than one if sound is apart, or if an initialization changes.
    package static func files(of plan: StreamPlan) throws(StreamFlaw) -> [StreamFile] {
        var files: [StreamFile] = []
        let isJoined = plan.tracks.count { $0.content != .subtitles } == 1
        for (number, track) in plan.tracks.enumerated() {
            let found = split(track)
            for (index, var file) in found.enumerated() {
                let label = isJoined && number == 0 ? "" : track.label
                file.label = found.count == 1 ? label : (label.isEmpty ? "" : label + ".") + "part\(index + 1)"
                file.language = track.language
                file.requiresTLS = track.requiresTLS
                file.identify(track.identity, part: index)
                files.append(file)
            }
            guard files.count <= most else { throw StreamFlaw("its initialization changes too often") }
        }
        for index in files.indices {
            // Two tracks of the same language.
            let same = files[..<index].count { $0.label == files[index].label }
            if same > 0 { files[index].label += ".\(same + 1)" }
        }
        return files
    }

    private static func split(_ track: StreamTrack) -> [StreamFile] {
        var files: [StreamFile] = []
        var initialization: StreamSegment?
        var offset: Int64 = 0
        for part in track.parts {
            var isOther =
                part.initialization.map { !$0.isSameInitialization(as: initialization) } ?? (initialization != nil)
            let isFile = part.initialization == nil && (track.container == .fragments || track.container == .bytes)
            // Two whole files are none, nor are fragments whose times begin anew.
            if isFile || part.isDiscontinuous && part.timestampOffset != offset && track.container == .fragments {
                isOther = true
            }
            if files.isEmpty || isOther {
                files.append(StreamFile(content: track.content, container: track.container))
                files[files.count - 1].timestampOffset = part.timestampOffset
                initialization = part.initialization
                if let segment = initialization {
                    files[files.count - 1].items.append(Item(segment: segment, isInitialization: true))
                }
            }
            var items = part.segments.map { segment in
                Item(segment: segment, isInitialization: false, isSelfInitializing: isFile)
            }
            if part.timestampOffset != offset, !items.isEmpty { items[0].timestampOffset = part.timestampOffset }
            offset = part.timestampOffset
            files[files.count - 1].items += items
        }
        return files
    }

    init(content: StreamTrack.Content, container: StreamTrack.Container? = nil, items: [Item] = []) {
        (self.content, self.container, self.items) = (content, container, items)
    }

    /// A file that others are joined to.
    package init(identity: String) {
        self.init(content: .video)
        self.identity = identity
    }

    /// The identity of what several files are joined to.
    package static func identity(of files: [StreamFile], joinedAs container: RemuxPlan.Container) -> String {
        FNV.hex(FNV.hash128((container.rawValue + "\n" + files.map { $0.identity + "\n" }.joined()).utf8))
    }

    private mutating func identify(_ track: String, part: Int) {
        self.part = part
        self.track = part == 0 ? track : "\(track) part \(part + 1)"
        var text = self.track + "\n"
        for item in items { text += item.identity + "\n" }
        identity = FNV.hex(FNV.hash128(text.utf8))
    }
}

extension StreamFile.Item {
    /// What stays the same when the address gets another signature.
    var identity: String {
        let range = segment.range.map { "\($0.start)-\($0.end)" } ?? "-"
        let vector = segment.key.map { "\(Hexadecimal.text($0.initializationVector)) \($0.address.lastPathComponent)" }
        return [
            "\(segment.number)", "\(segment.duration)", range, vector ?? "-", segment.isGap ? "gap" : "",
            isInitialization ? "init" : "", segment.address.lastPathComponent,
        ].joined(separator: " ")
    }
}

extension StreamSegment {
    fileprivate func isSameInitialization(as other: StreamSegment?) -> Bool {
        other?.address == address && other?.range == range && other?.key == key
    }
}

extension StreamTrack {
    fileprivate var label: String {
        let tag = language.map(Self.tag).flatMap { $0.isEmpty ? nil : "." + $0 } ?? ""
        return switch content {
        case .video: "video"
        case .audio: "audio" + tag
        case .subtitles: tag.isEmpty ? "subtitles" : String(tag.dropFirst())
        }
    }

    /// A language as a part of a name.
    private static func tag(_ language: String) -> String {
        let dash = UInt8(ascii: "-")
        return String(decoding: language.utf8.prefix(35).map { $0.isLetter || $0.isDigit ? $0 : dash }, as: UTF8.self)
    }
}

extension StreamTrack.Container {
    /// The end of a file's name, with its dot; `first`: the address of its first segment.
    package func suffix(for content: StreamTrack.Content, first: WebAddress?) -> String {
        switch self {
        case .transportStream: return ".ts"
        case .fragments: return content == .audio ? ".m4a" : content == .subtitles ? ".subtitles.mp4" : ".mp4"
        case .webVTT: return ".vtt"
        case .packedAudio, .bytes:
            let name = first?.lastPathComponent ?? ""
            let known = [".aac", ".mp3", ".ac3", ".ec3", ".webm", ".mkv", ".ogg", ".flac", ".wav", ".vtt"]
            let usual = self == .packedAudio ? ".aac" : ".bin"
            return known.first { name.lowercased().utf8.suffix($0.utf8.count).elementsEqual($0.utf8) } ?? usual
        }
    }
}
