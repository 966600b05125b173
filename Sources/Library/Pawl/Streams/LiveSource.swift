#if Features
import PawlBase
import PawlStreams
import PawlSystem

/// What time it is for a programme that is running.
struct LiveClock {
    /// So many seconds after this machine's, by UTCTiming; `nil` where each response tells it.
    var offset: Int64?

    func time(of content: StreamRequests.Content) -> UnixTime {
        offset.map { UnixTime(seconds: SystemClock().wallTime.seconds.addingClamped($0)) } ?? content.date
    }
}

/// The playlist of a programme that is being recorded.
struct LiveSource {
    enum Form {
        /// With the variables of the master playlist.
        case playlist([String: String])
        /// With what is chosen of it, which track that is, and its time.
        case presentation(StreamChoice, track: String, LiveClock)
    }

    /// Where it was found, redirects followed.
    private let found: WebAddress
    /// Where it is requested next; others follow when it cannot be had.
    private var addresses: [WebAddress]
    var address: WebAddress { addresses[0] }
    let form: Form
    var recording: LiveRecording
    /// When it was requested last.
    var asked: Instant

    init(at found: WebAddress, _ form: Form, _ recording: LiveRecording, asked: Instant, locations: [WebAddress] = []) {
        (self.found, self.form, self.recording, self.asked) = (found, form, recording, asked)
        addresses = locations + [found]
    }

    /// Takes its next state; returns the segments that are new, after those that it no longer lists.
    mutating func hear(
        _ found: Result<StreamRequests.Content, Failure>, now: Instant
    ) -> (items: [StreamFile.Item], missed: [StreamFile.Item]) {
        do throws(Failure) {
            let content = try found.get().decoded()
            guard let media = try? media(content) else {
                failed("it is not the playlist any more", now)
                return ([], [])
            }
            let addition = recording.received(media, asked: asked, now: now)
            let missed = addition.missed.map { StreamSegment(address: address, number: $0, duration: 0) }
            return (
                addition.segments.map { StreamFile.Item(recording: $0.segment) },
                missed.map { StreamFile.Item(recording: $0) }
            )
        } catch {
            failed(error.why, now)
            return ([], [])
        }
    }

    private mutating func failed(_ why: String, _ now: Instant) {
        recording.failed(why, now: now)
        addresses.append(addresses.removeFirst())
    }

    private mutating func media(_ content: StreamRequests.Content) throws(StreamFlaw) -> HLSMedia {
        switch form {
        case .playlist(let variables):
            let playlist = try HLSPlaylist.parse(content.bytes, from: content.address, importing: variables)
            guard case .media(let media) = playlist else { throw StreamFlaw("it lists variants") }
            return media
        case .presentation(let choice, let track, let clock):
            let document = try MPDDocument(content.bytes, at: content.address, now: clock.time(of: content))
            if !document.locations.isEmpty { addresses = document.locations + [found] }
            let plan = try MPDPlan(document, choice, isNumberedByTime: true)
            guard let media = plan.media(ofTrack: track, isEnded: !document.isRunning) else {
                throw StreamFlaw("it no longer has this track")
            }
            return media
        }
    }
}
#endif
