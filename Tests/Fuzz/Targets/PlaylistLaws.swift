@testable import PawlBase
@testable import PawlStreams

/// What a server sends as a playlist of HLS, and what is made of it.
enum PlaylistLaws {
    static func check(_ input: inout FuzzInput) throws(BrokenLaw) {
        let bytes = input.rest()
        let address = WebAddress(scheme: .https, host: "h.test", port: 443, path: "/a/b.m3u8", query: "q=1")
        switch try? HLSPlaylist.parse(bytes, from: address, importing: ["m": "n"]) {
        case nil: return
        case .media(let media): try check(media, address)
        case .master(let master): try check(master)
        }
        try hold(HLSPlaylist.begins(bytes), "a playlist that does not begin as one")
    }

    private static func check(_ media: HLSMedia, _ address: WebAddress) throws(BrokenLaw) {
        try hold(media.segments.count <= HLSPlaylist.mostSegments, "too many segments")
        var last: UInt64?
        for segment in media.segments.map(\.segment) {
            try hold(isWeb(segment.address), "it leads to \(segment.address.text)")
            try hold(segment.duration >= 0 && segment.range.map { $0.start >= 0 && $0.count > 0 } ?? true, "\(segment)")
            try hold(last.map { $0 < segment.number } ?? true, "numbers that do not grow")
            try hold(segment.key.map { $0.initializationVector.count == 16 && isWeb($0.address) } ?? true, "a bad key")
            last = segment.number
        }
        try checkRecording(media)
        guard let track = try? StreamTrack(playlist: address).with(media),
            let files = try? StreamFile.files(of: StreamPlan(tracks: [track]))
        else { return }
        try hold(media.isEnded, "a programme that is still running")
        let segments = files.flatMap(\.items).filter { !$0.isInitialization }.map(\.segment)
        try hold(segments == media.segments.map(\.segment), "segments are lost or mixed up")
        try hold(Set(files.map(\.label)).count == files.count, "two files have one name")
        for file in files { try hold(file.label.utf8.allSatisfy { $0 != .slash && $0 != 0 }, "a name \(file.label)") }
    }

    /// Nothing is recorded twice, and the playlist is requested again at some time.
    private static func checkRecording(_ media: HLSMedia) throws(BrokenLaw) {
        var recording = LiveRecording(duration: 10_000_000, now: Instant(nanoseconds: 0))
        for second in 0..<3 {
            let now = Instant(nanoseconds: Int64(second) * 1_000_000_000)
            let addition = recording.received(media, asked: now, now: now)
            try hold(addition.missed.isEmpty, "segments that were never there")
            try hold(second == 0 || addition.segments.isEmpty, "segments are recorded twice")
            try hold(second == 0 || recording.end != nil || recording.due > now, "it is requested without a pause")
        }
    }

    private static func check(_ master: HLSMaster) throws(BrokenLaw) {
        var choice = StreamChoice()
        (choice.audio, choice.subtitles) = (.all, .all)
        guard let selection = try? HLSSelection(master, choice) else {
            throw BrokenLaw(description: "nothing can be chosen")
        }
        try hold(selection.references.first?.track.content == .video, "the first track is no variant")
        let addresses = selection.references.map(\.address)
        try hold(addresses.allSatisfy(isWeb), "it leads elsewhere")
    }

    private static func isWeb(_ address: WebAddress) -> Bool { address.scheme == .http || address.scheme == .https }
}
