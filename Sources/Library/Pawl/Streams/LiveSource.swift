#if Features
import PawlBase
import PawlStreams
import PawlSystem

/// The playlist of a programme that is being recorded.
struct LiveSource {
    enum Form {
        /// With the variables of the master playlist.
        case playlist([String: String])
        /// With what is chosen of it, and which track that is.
        case presentation(StreamChoice, track: String)
    }

    /// Redirects followed.
    let address: WebAddress
    let form: Form
    var recording: LiveRecording
    /// When it was requested last.
    var asked: Instant

    /// Takes its next state; returns the segments that are new, after those that it no longer lists.
    mutating func hear(
        _ found: Result<StreamRequests.Content, Failure>, now: Instant
    ) -> (items: [StreamFile.Item], missed: [StreamFile.Item]) {
        do throws(Failure) {
            let content = try found.get().decoded()
            guard let media = try? media(content) else {
                recording.failed("it is not the playlist any more", now: now)
                return ([], [])
            }
            let addition = recording.received(media, asked: asked, now: now)
            let missed = addition.missed.map { StreamSegment(address: address, number: $0, duration: 0) }
            return (
                addition.segments.map { StreamFile.Item(recording: $0.segment) },
                missed.map { StreamFile.Item(recording: $0) }
            )
        } catch {
            recording.failed(error.why, now: now)
            return ([], [])
        }
    }

    private func media(_ content: StreamRequests.Content) throws(StreamFlaw) -> HLSMedia {
        switch form {
        case .playlist(let variables):
            let playlist = try HLSPlaylist.parse(content.bytes, from: content.address, importing: variables)
            guard case .media(let media) = playlist else { throw StreamFlaw("it lists variants") }
            return media
        case .presentation(let choice, let track):
            let document = try MPDDocument(content.bytes, at: content.address, now: content.date)
            let plan = try MPDPlan(document, choice, isNumberedByTime: true)
            guard let media = plan.media(ofTrack: track, isEnded: !document.isRunning) else {
                throw StreamFlaw("it no longer has this track")
            }
            return media
        }
    }
}
#endif
