import CHTTP2
import PawlTestKit
import Testing

@testable import PawlBase
@testable import PawlHTTP

@Suite struct HTTP2CodecTests {
    private func id(_ number: Int32) -> HTTP2StreamID { HTTP2StreamID(rawValue: number) }

    private func request(_ path: String = "/", _ lines: String = "") throws -> HTTP2Request {
        try #require(HTTP2Request(Array("GET \(path) HTTP/1.1\r\nHost: example.com\r\n\(lines)\r\n".utf8)))
    }

    private func codec(requests: Int) throws -> HTTP2Codec {
        let codec = try #require(HTTP2Codec())
        for _ in 0..<requests { _ = codec.send(try request()) }
        return codec
    }

    private func output(_ codec: HTTP2Codec) -> [UInt8] {
        var bytes: [UInt8] = []
        codec.output(into: &bytes, limit: 1 << 24)
        return bytes
    }

    /// Exchanges everything until nobody has more to say; what arrives is consumed unless its stream is held.
    private func exchange(
        _ codec: HTTP2Codec, _ peer: HTTP2Peer, _ transcript: inout HTTP2Transcript, held: Set<HTTP2StreamID> = []
    ) {
        while true {
            let (up, down) = (output(codec), peer.output())
            if up.isEmpty, down.isEmpty { return }
            #expect(up.isEmpty || peer.receive(up))
            transcript.read(codec, down) { stream, count in if !held.contains(stream) { codec.consume(stream, count) } }
        }
    }

    @Test func `fields arrive as they were sent, and secrets are in no table`() throws {
        let (codec, peer) = (try codec(requests: 0), HTTP2Peer())
        let lines = "Accept: */*\r\nAuthorization: Basic QQ==\r\nRange: bytes=5-\r\n"
        let stream = codec.send(try request("/a?b=c", lines))
        #expect(stream == id(1))
        var transcript = HTTP2Transcript()
        exchange(codec, peer, &transcript)
        let fields = peer.requests[1] ?? []
        #expect(
            fields.map { "\($0.name)=\($0.value)" } == [
                ":method=GET", ":scheme=https", ":authority=example.com", ":path=/a?b=c", "accept=*/*",
                "authorization=Basic QQ==", "range=bytes=5-",
            ])
        #expect(fields.filter(\.isSecret).map(\.name) == ["authorization"])
    }

    @Test(arguments: [1, 7, 4096]) func `a server without HPACK reads requests, resets and credit`(piece: Int) throws {
        let codec = try codec(requests: 2)
        codec.reset(id(1), .cancel)
        codec.ping(5)
        var frames = ClientFrames()
        let bytes = output(codec)
        let events = stride(from: 0, to: bytes.count, by: piece).flatMap {
            frames.read(Array(bytes[$0..<min(bytes.count, $0 + piece)]))
        }
        let requests = events.filter { if case .request = $0 { true } else { false } }
        #expect(requests.contains(.request(3)))
        #expect(events.first == .settings(window: HTTP2Limits.streamWindow))
        #expect(events.contains(.credit(0, Int(HTTP2Limits.connectionWindow) - 65_535)))
        #expect(events.contains { if case .ping = $0 { true } else { false } })
        // A request that was not sent yet needs no reset.
        #expect(requests.contains(.request(1)) == events.contains(.reset(1, HTTP2Code.cancel.rawValue)))
    }

    @Test(arguments: [1, 2, 5]) func `a head in several frames, with padding, is one head`(parts: Int) throws {
        let codec = try codec(requests: 1)
        _ = output(codec)
        let fields = [(":status", "200"), ("x-long", String(repeating: "a", count: 300)), ("x-other", "b")]
        var transcript = HTTP2Transcript()
        let bytes =
            RawFrame.settings(mostStreams: 9) + RawFrame.head(1, fields, padding: 20, parts: parts)
            + RawFrame.data(1, "abc", padding: 3) + RawFrame.reset(1, 0) + RawFrame.goAway(last: 1, 11)
        transcript.read(codec, bytes)
        #expect(transcript.heads == ["HTTP/2 200\r\nx-long: \(fields[1].1)\r\nx-other: b\r\n\r\n"])
        #expect(transcript.bodies == [1: Array("abc".utf8)])
        #expect(transcript.events.contains(.settings(streams: 9)))
        #expect(transcript.events.contains(.closed(id(1), .none, byPeer: true)))
        #expect(transcript.events.last == .goAway(last: id(1), .enhanceYourCalm))
    }

    @Test func `a response is a head, content and an end`() throws {
        let (codec, peer) = (try codec(requests: 2), HTTP2Peer(mostStreams: 7))
        var transcript = HTTP2Transcript()
        exchange(codec, peer, &transcript)
        #expect(transcript.events.contains(.settings(streams: 7)))
        peer.interim(1, "103")
        peer.respond(1, [(":status", "200"), ("content-length", "100000"), ("etag", "\"x\"")], body: 100_000)
        peer.respond(3, [(":status", "404")])
        exchange(codec, peer, &transcript)
        #expect(
            transcript.heads == [
                "HTTP/2 103\r\n\r\n", "HTTP/2 200\r\ncontent-length: 100000\r\netag: \"x\"\r\n\r\n",
                "HTTP/2 404\r\n\r\n",
            ])
        #expect(transcript.bodies == [1: [UInt8](repeating: 1, count: 100_000)])
        let closed: [HTTP2Event] = [1, 3].flatMap {
            [.ended(id($0)), .closed(id($0), .none, byPeer: false)]
        }
        #expect(Set(closed).isSubset(of: transcript.events))
    }

    @Test func `a stream whose content is not consumed gets its window's worth, and others go on`() throws {
        let (codec, peer) = (try codec(requests: 2), HTTP2Peer())
        var transcript = HTTP2Transcript()
        exchange(codec, peer, &transcript)
        for stream: Int32 in [1, 3] { peer.respond(stream, [(":status", "200")], body: 40 << 20) }
        exchange(codec, peer, &transcript, held: [id(1)])
        #expect(peer.sent == [1: HTTP2Limits.streamWindow, 3: 40 << 20])
        #expect(transcript.events.contains(.ended(id(3))))
        codec.consume(id(1), HTTP2Limits.streamWindow)
        codec.grow(id(1), to: 2 * HTTP2Limits.streamWindow)
        exchange(codec, peer, &transcript, held: [id(1)])
        #expect(peer.sent[1] == 3 * HTTP2Limits.streamWindow)
        codec.consume(id(1), 2 * HTTP2Limits.streamWindow)
        exchange(codec, peer, &transcript)
        #expect(transcript.bodies.values.map(\.count) == [40 << 20, 40 << 20])
    }

    @Test func `what a reset stream brings is given back to the connection`() throws {
        let (codec, peer) = (try codec(requests: 1), HTTP2Peer())
        var transcript = HTTP2Transcript()
        exchange(codec, peer, &transcript)
        for number in 0..<200 {
            let stream = Int32(2 * number + 1)
            peer.respond(stream, [(":status", "200")], body: HTTP2Limits.streamWindow)
            let down = peer.output()
            codec.reset(id(stream), .cancel)
            // Some of it arrives before the reset is sent, and the rest after it.
            transcript.read(codec, Array(down[..<(down.count / 2)]))
            #expect(peer.receive(output(codec)))
            transcript.read(codec, Array(down[(down.count / 2)...]))
            _ = codec.send(try request())
            exchange(codec, peer, &transcript)
            #expect(peer.resets[stream] == HTTP2Code.cancel.rawValue)
        }
        #expect(peer.connectionCredit >= HTTP2Limits.connectionWindow / 2)
    }

    @Test func `GOAWAY is reported before the streams that it ends, with its own code`() throws {
        let (codec, peer) = (try codec(requests: 3), HTTP2Peer())
        var transcript = HTTP2Transcript()
        exchange(codec, peer, &transcript)
        peer.goAway(last: 1, HTTP2Code.enhanceYourCalm.rawValue)
        exchange(codec, peer, &transcript)
        let events = transcript.events.drop { $0 != .goAway(last: id(1), .enhanceYourCalm) }.dropFirst()
        let refused = [3, 5].map { HTTP2Event.closed(id($0), .refusedStream, byPeer: false) }
        #expect(events.filter(refused.contains).count == 2)
    }

    @Test func `a reset of the server is distinguished from one because of its faults`() throws {
        let codec = try codec(requests: 3)
        _ = output(codec)
        var transcript = HTTP2Transcript()
        let frames =
            RawFrame.settings + RawFrame.frame(3, stream: 1, [0, 0, 0, 7])
            + RawFrame.head(3, [(":status", "200"), ("content-length", "3")]) + RawFrame.data(3, "ab", ends: true)
            + RawFrame.head(5, [(":status", "101")])
        transcript.read(codec, frames)
        #expect(transcript.events.contains(.closed(id(1), .refusedStream, byPeer: true)))
        // Those are closed when the reset is sent.
        _ = output(codec)
        transcript.read(codec, RawFrame.frame(6, [1, 2, 3, 4, 5, 6, 7, 8]))
        for stream: Int32 in [3, 5] {
            #expect(transcript.events.contains(.closed(id(stream), .protocolError, byPeer: false)))
        }
        #expect(transcript.bodies == [3: Array("ab".utf8)])
        #expect(!transcript.events.contains(.ended(id(3))))
    }

    @Test func `trailers, padding and unknown frames are no content`() throws {
        let codec = try codec(requests: 1)
        _ = output(codec)
        var transcript = HTTP2Transcript()
        let frames =
            RawFrame.settings + RawFrame.head(1, [(":status", "200"), ("a", " b ")]) + RawFrame.frame(0xBB, [1, 2, 3])
            + RawFrame.data(1, "", padding: 0) + RawFrame.data(1, "") + RawFrame.data(1, "a", padding: 9)
            + RawFrame.data(1, "bc") + RawFrame.head(1, [("x", "y")], ends: true)
        transcript.read(codec, frames)
        #expect(transcript.heads == ["HTTP/2 200\r\na:  b \r\n\r\n"])
        #expect(transcript.bodies == [1: Array("abc".utf8)])
        #expect(
            transcript.events == [
                .frame(4), .settings(streams: nil), .frame(1), .head(id(1), size: 42 + 36, ends: false), .frame(0xBB),
                .frame(0), .frame(0), .frame(1), .trailer(id(1), size: 34), .ended(id(1)),
                .closed(id(1), .none, byPeer: false),
            ])
    }

    @Test(arguments: [
        RawFrame.frame(0, stream: 0, [1]), RawFrame.frame(5, flags: 4, stream: 1, [0, 0, 0, 2, 0x82]),
        RawFrame.frame(9, stream: 1, [1]),
        RawFrame.frame(1, flags: 4, stream: 1, [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]),
        RawFrame.frame(8, stream: 0, [0, 0, 0, 0]), Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8),
    ])
    func `a server that breaks the rules ends its connection`(frames: [UInt8]) throws {
        let codec = try codec(requests: 1)
        _ = output(codec)
        var transcript = HTTP2Transcript()
        let preface = RawFrame.settings + RawFrame.frame(4, flags: 1)
        transcript.read(codec, (frames.first == 0x48 ? [] : preface) + frames)
        let rest = output(codec)
        #expect(codec.isBroken || !rest.isEmpty)
        transcript.read(codec, RawFrame.settings)
        let isBroken = transcript.events.contains { if case .broken = $0 { true } else { false } }
        #expect(isBroken || codec.isBroken)
    }

    @Test(arguments: [1, 7, 9, 1000, 16_393]) func `pieces do not matter`(piece: Int) throws {
        let (codec, peer) = (try codec(requests: 3), HTTP2Peer(mostStreams: 9))
        #expect(peer.receive(output(codec)))
        var bytes = peer.output()
        peer.interim(3, "103")
        for stream: Int32 in [1, 3, 5] {
            peer.respond(stream, [(":status", "200"), ("x-name", "\(stream)")], body: 20_000 * Int(stream))
        }
        bytes += peer.output()
        peer.goAway(last: 5, 0)
        bytes += peer.output()
        let other = try self.codec(requests: 3)
        _ = output(other)
        var (whole, pieces) = (HTTP2Transcript(), HTTP2Transcript())
        whole.read(codec, bytes)
        pieces.read(other, bytes, piece: piece)
        (whole.size, pieces.size) = (0, 0)
        #expect(whole == pieces)
        #expect(whole.bodies.values.reduce(0) { $0 + $1.count } == 180_000)
    }

    @Test func `heads of which a byte stands for thousands are taken one after the other`() throws {
        let streams = 90
        let codec = try codec(requests: streams)
        _ = output(codec)
        // One field of 4,000 bytes in the table; then 120 times its number.
        let big = [0x40] + RawFrame.text("x") + RawFrame.text(String(repeating: "v", count: 3900))
        let status = RawFrame.block([(":status", "200")])
        var bytes = RawFrame.settings + RawFrame.frame(1, flags: 4, stream: 1, status + big)
        for stream in 1..<streams {
            let many = [UInt8](repeating: 0x80 | 62, count: stream % 2 == 0 ? 60 : 120)
            bytes += RawFrame.frame(1, flags: 4, stream: Int32(2 * stream + 1), status + many)
        }
        #expect(bytes.count < 20_000)
        for piece in [Int.max, 1] {
            let other = try self.codec(requests: streams)
            _ = output(other)
            var transcript = HTTP2Transcript()
            transcript.read(other, bytes, piece: piece)
            #expect(transcript.heads.count == streams)
            #expect(transcript.heads.allSatisfy { $0.utf8.count <= PAWL_H2_LONGEST_HEAD })
            // Short ones are whole.
            #expect(transcript.heads[2].utf8.count == "HTTP/2 200\r\n\r\n".utf8.count + 60 * 3905)
            let sizes = transcript.events.compactMap { event in
                if case .head(_, let size, _) = event { size } else { nil }
            }
            #expect(sizes[1] > HTTP1Limits.longestHead)
            #expect(transcript.size < 8 * PAWL_H2_LONGEST_HEAD)
        }
    }
}
