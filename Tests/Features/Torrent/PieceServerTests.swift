import PawlBase
import PawlTestKit
import Testing

@testable import PawlTorrent

@Suite struct PieceServerTests {
    private static let hash = (0..<20).map { UInt8($0 * 13) }

    private static func server(
        start: Int64 = 50, length: Int64 = 100, _ url: String = "http://a/seed?key=x"
    ) throws
        -> PieceServer
    {
        let url = try WebAddress.parse(url).address
        return try #require(PieceServer(infoHash: hash, start: start, length: length, pieceLength: 40, url: url))
    }

    @Test func `an address says which bytes of which torrent a server has, and is shown without the URL's query`()
        throws
    {
        let server = try Self.server()
        let address = try #require(server.address)
        #expect(address.text == "httpseed://\(Hexadecimal.text(Self.hash))-50-100-40/http://a/seed?key=x")
        #expect(PieceServer(address) == server)
        #expect(try WebAddress.parse(address.text).address == address)
        #expect(address.redacted == "http://a/seed?…")
        for text in [
            "httpseed://x/http://a/", "httpseed://00-1-2-3/http://a/", "httpseed://a-1-2-3/ftp://a/", "http://a/",
        ] {
            #expect(PieceServer(try WebAddress.parse(text).address) == nil, "\(text)")
        }
    }

    @Test func `each request is for bytes of one piece`() throws {
        let server = try Self.server()
        var position: Int64 = 0
        var queries: [String] = []
        while position < server.length {
            let part = server.part(from: position, to: server.length)
            #expect(part.range.start == position && !part.range.isEmpty)
            queries.append(try #require(part.url.query))
            position = part.range.end
        }
        let start = "key=x&info_hash=" + Self.hash.map { "%" + Hexadecimal.text([$0]) }.joined()
        #expect(
            queries == [
                start + "&piece=1&ranges=10-39", start + "&piece=2", start + "&piece=3&ranges=0-29",
            ])
        #expect(server.part(from: 35, to: 37).url.query == start + "&piece=2&ranges=5-6")
        // Of no bytes, one beside them.
        let none = try Self.server(start: 40, length: 0).part(from: 0, to: 0)
        #expect(none.url.query == start + "&piece=0&ranges=39-39" && none.range.isEmpty)
    }

    @Test func `a response has the bytes alone, or the piece around them`() throws {
        let server = try Self.server()
        let part = server.part(from: 0, to: 20)
        func answer(
            _ status: Int, _ length: Int64?, _ change: (inout ResponseHead) -> Void = { _ in }
        )
            -> PieceServer
            .Answer
        {
            var head = ResponseHead(status: status)
            head.contentLength = length
            change(&head)
            return server.answer(head, to: part)
        }
        #expect(answer(200, 20) == .bytes(after: 0) && answer(200, nil) == .bytes(after: 0))
        #expect(answer(200, 40) == .bytes(after: 10))
        for length: Int64 in [0, 19, 29, 41] { #expect(answer(200, length) == .unusable(PieceServer.otherLength)) }
        #expect(answer(200, 20) { $0.contentEncoding = "gzip" } == .unusable(PieceServer.otherLength))
        #expect(answer(503, 2) == .busy && answer(404, 2) == .refusal)
        let next = try WebAddress.parse("http://b/x").address
        #expect(answer(302, 0) { $0.location = "http://b/x" } == .redirect(next))
        #expect(answer(302, 0) { $0.location = "ftp://b/x" } == .unusable(PieceServer.redirect))
        #expect(answer(302, 0) == .unusable(PieceServer.redirect))
        let secure = try Self.server("https://a/").part(from: 0, to: 20)
        var head = ResponseHead(status: 302)
        head.location = "http://a/"
        #expect(server.answer(head, to: secure) == .unusable(PieceServer.redirect))
    }

    @Test(
        arguments: [("7", 7), (" 30\r\n", 30), ("", nil), ("soon", nil), ("-1", nil), ("1.5", nil)]
            as [(String, Int64?)])
    func `a busy server's body has the seconds to wait`(body: String, seconds: Int64?) {
        #expect(PieceServer.wait(Array(body.utf8)) == seconds)
    }

    @Test func `a torrent has the servers that know its pieces`() throws {
        var torrent = TorrentBytes("n", [("a", [UInt8](repeating: 1, count: 30)), ("b", [2])], pieces: 20)
        torrent.root["url-list"] = nil
        torrent.root["httpseeds"] = .list([.text("http://a/x"), .text("udp://a/"), .text("http://a/x")])
        let read = try Torrent(torrent.bytes)
        #expect(
            read.obstacle == nil && read.pieceServers.map(\.text) == ["http://a/x"] && read.unusable == ["udp://a/"])
        #expect(read.addresses(of: 1) == ["httpseed://\(read.infoHash)-30-1-20/http://a/x"])
        // The second version has no pieces that such a server could know.
        var tree = TorrentBytes(tree: "f", [UInt8](repeating: 1, count: 100), pieces: 32 << 10)
        (tree.root["url-list"], tree.root["httpseeds"]) = (nil, .list([.text("http://a/x")]))
        #expect(try Torrent(tree.bytes).obstacle?.contains("none can be used: http://a/x") == true)
    }

    @Test func `of a hybrid torrent, a server counts the pieces of the first version`() throws {
        let content = [UInt8](repeating: 1, count: 50_000)
        var hybrid = TorrentBytes(tree: "f", content, pieces: 32 << 10)
        let tree = hybrid.info["file tree"]?["f"] ?? .integer(0)
        hybrid.info["file tree"] = .members(["a": tree, "b": tree])
        hybrid.info["pieces"] = .bytes([UInt8](repeating: 0, count: 80))
        hybrid.root["httpseeds"] = .list([.text("http://a/x")])
        let read = try Torrent(hybrid.bytes)
        #expect(read.infoHash.utf8.count == 64)
        let text = try #require(read.addresses(of: 1).last)
        let server = try #require(PieceServer(WebAddress.parse(text).address))
        // The first file has two pieces, and padding completes the second.
        #expect(server.part(from: 0, to: 50_000).url.query?.hasSuffix("&piece=2") == true)
    }
}
