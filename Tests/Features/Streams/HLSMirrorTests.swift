import PawlBase
import Testing

@testable import PawlStreams

/// Variants of equal attributes: whose segments are taken as mirrors.
@Suite struct HLSMirrorTests {
    private func media(_ host: String, _ lines: String) throws -> HLSMedia {
        let address = WebAddress(scheme: .https, host: host, port: 443, path: "/v/show.m3u8", query: nil)
        guard case .media(let media) = try HLSPlaylist.parse(Array("#EXTM3U\n\(lines)".utf8), from: address) else {
            throw StreamFlaw("no media playlist")
        }
        return media
    }

    private let lines = "#EXTINF:2,\na.ts\n#EXTINF:2,\nb.ts?x=1\n#EXT-X-ENDLIST\n"

    private func origin(_ host: String) -> Origin {
        WebAddress(scheme: .https, host: host, port: 443, path: "/", query: nil).origin
    }

    @Test func `the same segments of another place are mirrors, whatever their signatures`() throws {
        var media = try media("one", lines)
        let other = try self.media("two", lines.replacing("x=1", with: "x=2"))
        let isTaken = media.take(mirrors: other, of: origin("zero"))
        #expect(isTaken)
        #expect(
            media.segments.map { $0.segment.mirrors.map(\.text) } == [
                ["https://two/v/a.ts"], ["https://two/v/b.ts?x=2"],
            ])
    }

    @Test(arguments: [
        "#EXTINF:2,\na.ts\n#EXT-X-ENDLIST\n", "#EXTINF:2,\na.ts\n#EXTINF:3,\nb.ts\n#EXT-X-ENDLIST\n",
        "#EXTINF:2,\na.ts\n#EXTINF:2,\nc.ts\n#EXT-X-ENDLIST\n", "#EXTINF:2,\na.ts\n#EXTINF:2,\nb.ts\n",
        "#EXT-X-MEDIA-SEQUENCE:1\n#EXTINF:2,\na.ts\n#EXTINF:2,\nb.ts\n#EXT-X-ENDLIST\n",
    ])
    func `other segments are none`(others: String) throws {
        var media = try media("one", lines)
        let isTaken = media.take(mirrors: try self.media("two", others), of: origin("zero"))
        #expect(!isTaken)
        #expect(media.segments.allSatisfy { $0.segment.mirrors.isEmpty })
    }

    @Test func `logins of the playlist's own place are not lost for a mirror elsewhere`() throws {
        var media = try media("one", lines)
        let isTaken = media.take(mirrors: try self.media("two", lines), of: origin("one"))
        #expect(isTaken)
        #expect(media.segments.allSatisfy { $0.segment.mirrors.isEmpty })
    }
}
