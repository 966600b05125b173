import PawlBase
import PawlTestKit
import Testing

/// The origin is compared with the observations of curl, an independent program.
@Suite struct OriginTests {
    private let payload = Payload(seed: 11, length: 300_000)

    private func curl(_ arguments: String...) throws -> PawlProcess {
        try PawlProcess.run("/usr/bin/curl", ["--silent", "--show-error", "--max-time", "300"] + arguments)
    }

    @Test func `content, ranges and validators are served and logged`() async throws {
        try await OriginServer.with { origin in
            let url = origin.serve("/f", payload)
            try #expect(curl(url).outputBytes == payload.bytes)
            let part = try curl("--include", "--range", "1000-1999", url)
            #expect(part.outputBytes.suffix(1000) == payload.bytes(in: ByteRange(1000, 2000))[...])
            #expect(part.output.contains("Content-Range: bytes 1000-1999/300000\r\n"))
            #expect(part.output.contains("ETag: \"version-0-11-300000\"\r\n"))
            #expect(part.output.contains("Last-Modified: Fri, 14 Jul 2017 02:40:00 GMT\r\n"))
            try #expect(curl("--range", "-5", url).outputBytes == payload.bytes(in: ByteRange(299_995, 300_000)))
            try #expect(curl("--include", "--range", "300000-", url).output.contains("bytes */300000"))
            let log = origin.ended("/f")
            #expect(log.map(\.status) == [200, 206, 206, 416])
            #expect(log.map(\.bodySent).prefix(3) == [300_000, 1000, 5])
            #expect(log[1].range == .from(1000, last: 1999))
            #expect(log[1].contentSent == ByteRange(1000, 2000))
            #expect(origin.log.sentTwice("/f") == 1005)
        }
    }

    @Test func `cuts are at the configured places`() async throws {
        try await OriginServer.with { origin in
            let url = origin.serve("/f", payload) { $0.cut = .close(after: 1234) }
            let short = try curl(url)
            #expect(short.exit == .code(18))
            #expect(short.outputBytes == payload.bytes(in: ByteRange(0, 1234)))
            origin.adjust("/f") { $0.cut = .reset(at: 5000) }
            try #expect(curl(url).exit == .code(56))
            try #expect(curl("--range", "5000-", url).outputBytes.count == 295_000)
            origin.adjust("/f") {
                $0.cut = .badChunk(after: 100)
                $0.framing = .chunked
            }
            try #expect(curl(url).exit == .code(56))
            origin.adjust("/f") { $0.cut = .close(after: 300_000) }
            try #expect(curl(url).exit == .code(18))
            origin.adjust("/f") { $0.cut = nil }
            try #expect(curl(url).outputBytes == payload.bytes)
        }
    }

    @Test func `a stall lasts until it is released`() async throws {
        try await OriginServer.with { origin in
            let url = origin.serve("/f", payload) { $0.cut = .stall(after: 100_000) }
            let curl = try PawlProcess("/usr/bin/curl", ["--silent", url])
            #expect(origin.wait(held: 1, of: "/f"))
            #expect(origin.log.bodySent("/f") == 100_000)
            origin.release("/f")
            #expect(curl.wait() == .code(0))
            #expect(curl.outputBytes == payload.bytes)
        }
    }

    @Test func `stop ends a stalled exchange and a peer that closes is noticed`() throws {
        let origin = try OriginServer()
        let url = origin.serve("/f", payload) { $0.cut = .stall(after: 10) }
        let leaving = try PawlProcess("/usr/bin/curl", ["--silent", url])
        #expect(origin.wait(held: 1, of: "/f"))
        leaving.send(9)
        #expect(origin.waitUntilQuiet("/f"))
        #expect(origin.log.of("/f").map(\.end) == [.peerClosed])
        let staying = try PawlProcess("/usr/bin/curl", ["--silent", url])
        #expect(origin.wait(held: 1, of: "/f"))
        origin.stop()
        #expect(origin.log.of("/f").map(\.end) == [.peerClosed, .stopped])
        #expect(staying.wait() == .code(18))
        #expect(origin.log.open == 0)
    }

    @Test func `logins are checked`() async throws {
        try await OriginServer.with { origin in
            let basic = origin.serve("/basic", payload) { $0.login = .basic(user: "me", password: "se:cret") }
            try #expect(curl("--user", "me:se:cret", basic).outputBytes == payload.bytes)
            try #expect(curl("--fail", "--user", "me:wrong", basic).exit == .code(22))
            let digest = origin.serve("/digest", payload) { $0.login = .digest(user: "me", password: "secret") }
            try #expect(curl("--digest", "--user", "me:secret", digest).outputBytes == payload.bytes)
            try #expect(curl("--fail", "--digest", "--user", "me:wrong", digest).exit == .code(22))
        }
    }

    @Test func `content changes after requests, after bytes and on command`() async throws {
        let versions = [payload, Payload(seed: 12, length: 1000), Payload(seed: 13, length: 2000)]
        try await OriginServer.with { origin in
            let url = origin.serve("/f", versions: versions, changing: .afterRequests(1))
            try #expect(curl(url).outputBytes == versions[0].bytes)
            try #expect(curl(url).outputBytes == versions[1].bytes)
            let other = origin.serve("/g", versions: versions, changing: .afterBytes(300_000))
            try #expect(curl(other).outputBytes == versions[0].bytes)
            try #expect(curl("--include", other).output.contains("ETag: \"version-1-12-1000\""))
            origin.advance("/g")
            try #expect(curl(other).outputBytes == versions[2].bytes)
        }
    }

    @Test func `framings, interim responses and kept connections are understood by curl`() async throws {
        try await OriginServer.with { origin in
            let url = origin.serve("/f", payload) { $0.interim = [103] }
            for framing in [Behaviour.Framing.chunked, .untilClose, .http10] {
                origin.adjust("/f") { $0.framing = framing }
                try #expect(curl(url).outputBytes == payload.bytes, "\(framing)")
            }
            origin.serve("/kept", Payload(text: "x")) { $0.kept = .diesOnReuse }
            let twice = try curl(origin.url("/kept"), origin.url("/kept"))
            #expect(twice.output == "xx")
            #expect(origin.ended("/kept").map(\.end) == [.completed, .cut, .completed])
        }
    }

    @Test func `surplus connections are rejected, by response or by closing`() async throws {
        try await OriginServer.with { origin in
            let url = origin.serve("/f", payload) {
                $0.crowd = .init(limit: 1, refusal: .status(503, retryAfter: "7"))
                $0.cut = .stall(after: 10)
            }
            let first = try PawlProcess("/usr/bin/curl", ["--silent", url])
            #expect(origin.wait(held: 1, of: "/f"))
            try #expect(curl("--include", url).output.contains("Retry-After: 7\r\n"))
            origin.limitConnections(to: 1)
            try #expect([.code(52), .code(56)].contains(curl(url).exit))
            origin.release("/f")
            #expect(first.wait() == .code(0))
        }
    }
}
