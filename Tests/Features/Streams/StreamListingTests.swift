import PawlBase
import Testing

@testable import PawlStreams

/// What is shown of a stream before anything of it is downloaded.
@Suite struct StreamListingTests {
    private let address = WebAddress(scheme: .https, host: "h", port: 443, path: "/m", query: nil)

    @Test func `a master playlist has variants and renditions, of which some are taken`() throws {
        let text = """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="Deutsch",LANGUAGE="de",DEFAULT=YES,URI="de.m3u8"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",URI="en.m3u8"
            #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="English",LANGUAGE="en",URI="text.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=5000000,RESOLUTION=1920x1080,CODECS="avc1.640028,mp4a.40.2",AUDIO="a",SUBTITLES="s"
            high.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=900000,RESOLUTION=640x360,AUDIO="a",FRAME-RATE=25.000
            low.m3u8
            """
        guard case .master(let master) = try HLSPlaylist.parse(Array(text.utf8), from: address) else {
            throw StreamFlaw("no master playlist")
        }
        var choice = StreamChoice()
        choice.quality = .height(480)
        let listing = StreamListing(master, choice)
        #expect(listing.entries.map(\.isChosen) == [false, true, true, false, false])
        #expect(listing.entries[0].codecs == "avc1.640028,mp4a.40.2" && listing.entries[0].height == 1080)
        #expect(listing.entries[1].bandwidth == 900_000 && listing.entries[1].frameRate == "25.000")
        #expect(listing.entries[4].content == .subtitles && listing.entries[4].language == "en")
        #expect(listing.notices == ["There is no 480p: 360p is taken."])
    }

    @Test func `a presentation has representations, also encrypted ones`() throws {
        let text = """
            <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" mediaPresentationDuration="PT4S"><Period>
            <AdaptationSet mimeType="video/mp4">
            <Representation id="1" bandwidth="100" width="320" height="180" codecs="avc1"><BaseURL>v.mp4</BaseURL></Representation>
            <Representation id="2" bandwidth="900" width="640" height="360"><BaseURL>w.mp4</BaseURL></Representation>
            </AdaptationSet>
            <AdaptationSet mimeType="audio/mp4" lang="fr">
            <ContentProtection schemeIdUri="urn:uuid:edef8ba9-79d6-4ace-a3c8-27dcd51d21ed"/>
            <Representation id="3" bandwidth="64"><BaseURL>a.mp4</BaseURL></Representation>
            </AdaptationSet></Period></MPD>
            """
        let document = try MPDDocument(Array(text.utf8), at: address)
        var choice = StreamChoice()
        choice.audio = .none
        let listing = StreamListing(document, choice)
        #expect(listing.entries.map(\.isChosen) == [false, true, false])
        #expect(listing.entries[0].width == 320 && listing.entries[0].codecs == "avc1")
        #expect(listing.entries[2].language == "fr" && listing.entries[2].protection == "Widevine")
    }
}
