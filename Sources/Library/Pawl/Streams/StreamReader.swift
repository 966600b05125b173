#if Features
import PawlBase
import PawlStreams
import PawlSystem

/// Requests the playlists of a stream, and reads them into its files.
struct StreamReader {
    let requests: StreamRequests
    let inbox: StreamInbox
    let choice: StreamChoice
    /// How long programmes that are running are recorded, in microseconds; `nil` refuses them.
    var duration: Int64?

    struct Found {
        var files: [StreamFile]
        var notices: [String]
        /// Where the playlists of those files are that are recorded, by their tracks.
        var live: [String: LiveSource] = [:]
        /// That of the playlist.
        var response: DownloadResponse?
    }

    /// Blocks while playlists are on their way.
    func read() throws(StreamEnd) -> Found {
        let content = try fetch(requests.source)
        var found = try read(content)
        found.response = content.response
        return found
    }

    private func read(_ content: StreamRequests.Content) throws(StreamEnd) -> Found {
        if MPDDocument.isLikely(content.bytes) { return try presentation(content) }
        guard HLSPlaylist.isStream(content.bytes) else { throw .notStream }
        let playlist = try check(content.address) { () throws(StreamFlaw) in
            try HLSPlaylist.parse(content.bytes, from: content.address)
        }
        var plan = StreamPlan(tracks: [])
        var notices: [String] = []
        var live: [String: LiveSource] = [:]
        switch playlist {
        case .media(let media):
            plan.tracks = [try track(StreamTrack(playlist: content.address), media, content, [:], &live)]
        case .master(let master):
            let selection = try check(content.address) { () throws(StreamFlaw) in try HLSSelection(master, choice) }
            notices = selection.notices
            for reference in selection.references {
                plan.tracks += try tracks(of: reference, master, content.address, &notices, &live)
            }
        }
        let files = try check(content.address) { () throws(StreamFlaw) in try StreamFile.files(of: plan) }
        return Found(files: files, notices: notices, live: live)
    }

    /// What the stream has, without the playlists of its tracks.
    func listing() throws(StreamEnd) -> StreamListing {
        let content = try fetch(requests.source)
        guard MPDDocument.isLikely(content.bytes) || HLSPlaylist.isStream(content.bytes) else { throw .notStream }
        return try check(content.address) { () throws(StreamFlaw) in
            if MPDDocument.isLikely(content.bytes) {
                return StreamListing(
                    try MPDDocument(content.bytes, at: content.address, now: content.date), choice)
            }
            switch try HLSPlaylist.parse(content.bytes, from: content.address) {
            case .master(let master): return StreamListing(master, choice)
            case .media(let media): return StreamListing(media)
            }
        }
    }

    /// A track with the segments of its playlist; those from now on, if the programme is running and is recorded.
    private func track(
        _ track: StreamTrack, _ media: HLSMedia, _ content: StreamRequests.Content, _ variables: [String: String],
        _ live: inout [String: LiveSource]
    ) throws(StreamEnd) -> StreamTrack {
        var media = media
        if let duration, !media.isEnded {
            let now = SystemClock().now
            var recording = LiveRecording(duration: duration, now: now)
            media.segments = recording.received(media, asked: now, now: now).segments
            media.isEnded = true
            live[track.identity] = LiveSource(at: content.address, .playlist(variables), recording, asked: now)
        }
        var found = try check(content.address) { () throws(StreamFlaw) in try track.with(media) }
        found.requiresTLS = content.address.scheme.isSecure
        return found
    }

    private func presentation(_ content: StreamRequests.Content) throws(StreamEnd) -> Found {
        let clock = duration == nil ? nil : try clock(of: content)
        let document = try check(content.address) { () throws(StreamFlaw) in
            try MPDDocument(content.bytes, at: content.address, now: clock?.time(of: content))
        }
        if document.isRunning, let duration, let clock {
            return try recording(of: document, content, duration, clock)
        }
        var plan = try check(content.address) { () throws(StreamFlaw) in try MPDPlan(document, choice) }
        for index in plan.indexes {
            guard let range = index.segment.range else { continue }
            let bytes = try fetch(
                index.segment.address, range: range, mirrors: index.segment.mirrors, from: content.address
            ).bytes
            // A file whose index is of another kind is one segment.
            guard let found = SegmentIndex(bytes, at: range.start) else { continue }
            try check(content.address) { () throws(StreamFlaw) in try plan.divide(index, by: found) }
        }
        var files = try check(content.address) { () throws(StreamFlaw) in try StreamFile.files(of: plan.plan) }
        for index in files.indices { files[index].requiresTLS = content.address.scheme.isSecure }
        return Found(files: files, notices: plan.notices)
    }

    /// By the first of the document's UTCTiming that can be had.
    private func clock(of content: StreamRequests.Content) throws(StreamEnd) -> LiveClock {
        for timing in MPDTiming.list(content.bytes, at: content.address) {
            var time: UnixTime?
            switch timing {
            case .time(let stated): time = stated
            case .response(let address, let isText):
                do throws(StreamEnd) {
                    let answer = try fetch(address, from: content.address)
                    time = isText ? MPDTiming.time(answer.bytes) : answer.response?.date
                } catch { if case .stopped = error { throw error } }
            }
            if let time { return LiveClock(offset: time.seconds.addingClamped(-SystemClock().wallTime.seconds)) }
        }
        return LiveClock()
    }

    /// The tracks of a presentation that is running, with their segments from now on.
    private func recording(
        of document: MPDDocument, _ content: StreamRequests.Content, _ duration: Int64, _ clock: LiveClock
    ) throws(StreamEnd) -> Found {
        try check(content.address) { () throws(StreamFlaw) in
            var found = Found(files: [], notices: [])
            let all = try MPDPlan(document, choice, isNumberedByTime: true)
            found.notices = all.notices
            var plan = StreamPlan(tracks: [])
            for var track in all.plan.tracks {
                guard var media = all.media(ofTrack: track.identity, isEnded: false) else { continue }
                let now = SystemClock().now
                var recording = LiveRecording(duration: duration, now: now)
                media.segments = recording.received(media, asked: now, now: now).segments
                media.isEnded = true
                found.live[track.identity] = LiveSource(
                    at: content.address, .presentation(choice, track: track.identity, clock), recording, asked: now,
                    locations: document.locations)
                track.parts = []
                plan.tracks.append(try track.with(media))
            }
            found.files = try StreamFile.files(of: plan)
            for index in found.files.indices { found.files[index].requiresTLS = content.address.scheme.isSecure }
            return found
        }
    }

    /// Names the document in which there is a flaw.
    private func check<Value>(
        _ address: WebAddress, _ body: () throws(StreamFlaw) -> Value
    ) throws(StreamEnd) -> Value {
        do throws(StreamFlaw) { return try body() } catch { throw .failed(.unusable(address, error)) }
    }

    /// More than one if it leads to a master playlist, as a variant may once.
    private func tracks(
        of reference: HLSSelection.Reference, _ master: HLSMaster, _ referrer: WebAddress, _ notices: inout [String],
        _ live: inout [String: LiveSource], isInner: Bool = false
    ) throws(StreamEnd) -> [StreamTrack] {
        var failure: Failure?
        for (index, address) in ([reference.address] + reference.backups).enumerated() {
            do throws(StreamEnd) {
                let content = try fetch(address, from: referrer)
                let playlist = try check(content.address) { () throws(StreamFlaw) in
                    try HLSPlaylist.parse(content.bytes, from: content.address, importing: master.variables)
                }
                switch playlist {
                case .media(var media):
                    let rest = reference.backups.dropFirst(index).prefix(Self.mostMirrors)
                    for backup in rest { try addMirrors(to: &media, from: backup, referrer, master.variables) }
                    return [try track(reference.track, media, content, master.variables, &live)]
                case .master(let inner):
                    let selection = try check(content.address) { () throws(StreamFlaw) in
                        guard !isInner, reference.track.content == .video else {
                            throw StreamFlaw("it lists variants, though it is one itself")
                        }
                        return try HLSSelection(inner, choice)
                    }
                    notices += selection.notices
                    var tracks: [StreamTrack] = []
                    for other in selection.references {
                        tracks += try self.tracks(of: other, inner, content.address, &notices, &live, isInner: true)
                    }
                    return tracks
                }
            } catch {
                guard case .failed(let reason) = error else { throw error }
                failure = failure ?? reason
            }
        }
        throw .failed(failure ?? .unusable(reference.address, StreamFlaw("it cannot be read")))
    }

    /// Playlists whose segments are taken as mirrors.
    private static let mostMirrors = 2

    /// The same segments from another place; a playlist that cannot be had, or has others, is left out.
    private func addMirrors(
        to media: inout HLSMedia, from address: WebAddress, _ referrer: WebAddress, _ variables: [String: String]
    ) throws(StreamEnd) {
        guard media.isEnded else { return }
        do throws(StreamEnd) {
            let content = try fetch(address, from: referrer)
            let other = try? HLSPlaylist.parse(content.bytes, from: content.address, importing: variables)
            guard case .media(let same) = other else { return }
            _ = media.take(mirrors: same, of: requests.source.origin)
        } catch { if case .stopped = error { throw error } }
    }

    /// `referrer`: the document that named the address.
    private func fetch(
        _ address: WebAddress, range: ByteRange? = nil, mirrors: [WebAddress] = [], from referrer: WebAddress? = nil
    ) throws(StreamEnd) -> StreamRequests.Content {
        let stop = requests.fetch(
            address, range: range, mirrors: mirrors, requiresTLS: referrer?.scheme.isSecure ?? false,
            limit: HLSPlaylist.longest
        ) { [inbox] in inbox.post(.document($0)) }
        do throws(StreamEnd) {
            switch try inbox.takeDocument() {
            case .success(let content): return content.decoded()
            case .failure(let failure) where failure.code == .tooLarge:
                throw StreamEnd.failed(.unusable(address, StreamFlaw(failure.why), failure.code))
            case .failure(let failure): throw StreamEnd.failed(failure)
            }
        } catch {
            stop()
            throw error
        }
    }
}

extension Failure {
    fileprivate static func unusable(
        _ address: WebAddress, _ flaw: StreamFlaw, _ code: Code = .badResponse
    ) -> Failure {
        Failure(
            code, "cannot download the stream", at: address.redacted, because: flaw.why,
            remedy: flaw.isProtected ? "" : "download the playlist itself as a file")
    }
}

extension StreamRequests.Content {
    /// Without gzip, which some servers have for playlists even where they do not state it.
    func decoded() -> Self {
        guard ContentDecoder.isGzip(bytes), let plain = Gzip.decompress(bytes, limit: HLSPlaylist.longest) else {
            return self
        }
        var content = self
        content.bytes = plain
        return content
    }
}
#endif
