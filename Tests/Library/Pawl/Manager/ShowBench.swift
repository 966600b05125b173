import Pawl
import PawlBase
import PawlTestKit

/// A queue, and an origin with a stream of eight segments.
struct ShowBench {
    let bench: ManagerBench
    let segments: [[UInt8]]
    private let frames: [UInt8]

    init() throws {
        bench = try ManagerBench()
        segments = (0..<8).map { number in
            var dice = Dice(seed: UInt64(number) + 7)
            return (0..<60).flatMap { _ in
                [0x47, 0x40, 0x11, 0x10] + (0..<184).map { _ in UInt8(truncatingIfNeeded: dice.next()) }
            }
        }
        let frame: [UInt8] = [0xFF, 0xF1, 0x50, 0x80, 1, 0x20, 0xFC, 7, 7]
        frames = frame + frame
        for (number, bytes) in segments.enumerated() { bench.origin.serve("/v/s\(number).ts", Payload(bytes)) }
    }

    var whole: Payload { Payload(segments.flatMap { $0 }) }
    var sound: Payload { Payload(frames + frames) }

    func playlist(_ segments: [String]) -> Payload {
        Payload(
            text: "#EXTM3U\n#EXT-X-TARGETDURATION:2\n" + segments.map { "#EXTINF:2,\n\($0)\n" }.joined()
                + "#EXT-X-ENDLIST\n")
    }

    func serve(_ playlist: Payload, at path: String = "/v/show.m3u8") -> String {
        bench.origin.serve(path, playlist) { $0.contentType = "application/vnd.apple.mpegurl" }
    }

    func serveShow(at path: String = "/v/show.m3u8") -> String {
        serve(playlist(segments.indices.map { "s\($0).ts" }), at: path)
    }

    /// A master playlist with sound that is apart: `show.video.ts` and `show.audio.en.aac`.
    func serveApart() -> String {
        for number in 0..<2 { bench.origin.serve("/v/a\(number).aac", Payload(frames)) }
        _ = serve(playlist(["a0.aac", "a1.aac"]), at: "/v/sound.m3u8")
        _ = serveShow(at: "/v/pictures.m3u8")
        return serve(
            Payload(
                text: """
                    #EXTM3U
                    #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="x",LANGUAGE="en",URI="sound.m3u8"
                    #EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO="a"
                    pictures.m3u8

                    """))
    }

    func request(_ url: String, _ stream: StreamOptions? = StreamOptions()) -> DownloadRequest {
        bench.request(url) { $0.stream = stream }
    }

    /// The names in the root, without the queue's own.
    var names: [String] { bench.root.names.filter { $0 != ".pawl" } }

    /// How often segments were requested.
    var requests: (pictures: Int, sound: Int) {
        (
            segments.indices.reduce(0) { $0 + bench.origin.ended("/v/s\($1).ts").count },
            (0..<2).reduce(0) { $0 + bench.origin.ended("/v/a\($1).aac").count }
        )
    }
}
