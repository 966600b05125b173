import PawlBase
import PawlTestKit

/// A stream of generated segments on the origin of a bench.
struct StreamSite {
    let bench: Bench
    let segments: [[UInt8]]

    /// Transport streams of `packets` packets each, without meaning but their form.
    init(_ count: Int = 8, packets: Int = 60) throws {
        bench = try Bench()
        segments = (0..<count).map { number in
            var dice = Dice(seed: UInt64(number) + 7)
            return (0..<packets).flatMap { _ in
                [0x47, 0x40, 0x11, 0x10] + (0..<184).map { _ in UInt8(truncatingIfNeeded: dice.next()) }
            }
        }
        for (number, bytes) in segments.enumerated() { bench.origin.serve(Self.path(number), Payload(bytes)) }
    }

    static func path(_ number: Int) -> String { "/v/s\(number).ts" }

    var whole: Payload { Payload(segments.flatMap { $0 }) }

    /// A media playlist of all segments; `before`: lines in front of the segment of that number, `query`: of each address.
    func playlist(before: [Int: String] = [:], query: String = "", end: String = "#EXT-X-ENDLIST\n") -> Payload {
        var text = "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:2\n#EXT-X-MEDIA-SEQUENCE:0\n"
        for number in segments.indices {
            text += (before[number] ?? "") + "#EXTINF:2.0,\ns\(number).ts\(query)\n"
        }
        return Payload(text: text + end)
    }

    /// Serves a playlist, and returns its URL.
    @discardableResult func serve(_ playlist: Payload, at path: String = "/v/show.m3u8") -> String {
        bench.origin.serve(path, playlist) { $0.contentType = "application/vnd.apple.mpegurl" }
    }

    /// The requests for all segments.
    var requests: Int { segments.indices.reduce(0) { $0 + bench.origin.ended(Self.path($1)).count } }
}
