import PawlBase
import PawlJournal
import Testing

@testable import PawlCore

@Suite struct `The straight path of a small file` {
    private static let address = WebAddress(scheme: .https, host: "h.test", port: 443, path: "/a.bin", query: nil)
    private static let now = UnixTime(seconds: 1_700_000_000)

    private static func plan(_ change: (inout DownloadPlan) -> Void = { _ in }) -> DownloadPlan {
        var plan = DownloadPlan(sources: [address])
        plan.verification = .auto
        change(&plan)
        return plan
    }

    private static func head(_ lines: String...) throws -> ResponseHead {
        try #require(ResponseHead(parsing: Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)))
    }

    @Test func `its request is that of a machine without a byte`() {
        let plan = Self.plan()
        var machine = DownloadMachine(plan: plan, seed: 1)
        let actions = machine.begin(claimed: nil, online: true, now: Instant(nanoseconds: 0))
        #expect(actions == [.notify(.phase(.probing)), .open(StraightPath.order(of: plan))])
    }

    @Test func `a plan that asks for more has none`() throws {
        #expect(StraightPath(Self.plan()) != nil)
        let other = WebAddress(scheme: .ftp, host: "h.test", port: 21, path: "/a.bin", query: nil)
        let pieces = try #require(
            PieceHashes(.sha256, length: 1024, digests: [[UInt8](repeating: 0, count: 32)]))
        let changes: [(inout DownloadPlan) -> Void] = [
            { $0.sources.append(other) }, { $0.sources = [other] }, { $0.hooks = [.redirect] },
            { $0.selection = .from(1) }, { $0.pieces = pieces }, { $0.isSeeded = true }, { $0.replacesAddress = true },
            { $0.keepsPartial = false }, { $0.isInOrder = true }, { $0.endsWithErrorResponse = true },
            { $0.takesEverySuccess = true }, { $0.storesAttributes = true }, { $0.verification = .sidecar },
        ]
        for change in changes { #expect(StraightPath(Self.plan(change)) == nil) }
    }

    @Test func `a whole response of known length is the file`() throws {
        var path = try #require(StraightPath(Self.plan()))
        let head = try Self.head("HTTP/1.1 200 OK", "Content-Length: 5", "ETag: \"a\"")
        let isFile = path.responded(head, plan: Self.plan(), wallTime: Self.now)
        #expect(isFile && path.content?.length == 5)
        #expect(path.content?.validators.entityTag == EntityTag(opaque: "a", isWeak: false))
        #expect(path.content?.algorithms == [])
    }

    @Test(arguments: [
        "HTTP/1.1 404 Not Found\r\nContent-Length: 5", "HTTP/1.1 206 Partial Content\r\nContent-Length: 5",
        "HTTP/1.1 302 Found\r\nContent-Length: 5\r\nLocation: /b", "HTTP/1.1 200 OK",
        "HTTP/1.1 200 OK\r\nContent-Length: 1048577", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Encoding: gzip",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Range: bytes 0-4/5",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nLink: </a.meta4>; rel=describedby",
        "HTTP/1.1 200 OK\r\nContent-Length: 70000\r\nContent-MD5: XUFAKrxLKna5cZ2REBfFkg==",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-MD5: XUFAKrxLKna5cZ2REBfFkg==\r\n"
            + "X-Checksum-Md5: 00000000000000000000000000000000",
    ]) func `every other response is a machine's`(text: String) throws {
        var path = try #require(StraightPath(Self.plan()))
        let isFile = path.responded(try Self.head(text), plan: Self.plan(), wallTime: Self.now)
        #expect(!isFile && path.content == nil)
    }

    @Test func `a length that the caller stated is obeyed`() throws {
        let head = try Self.head("HTTP/1.1 200 OK", "Content-Length: 5")
        for (length, fits) in [(5, true), (6, false)] as [(Int64, Bool)] {
            let plan = Self.plan { $0.length = length }
            var path = try #require(StraightPath(plan))
            let isFile = path.responded(head, plan: plan, wallTime: Self.now)
            #expect(isFile == fits)
        }
    }

    @Test func `only digests that agree verify it`() throws {
        let right = Checksum(algorithm: .sha256, digest: [UInt8](repeating: 1, count: 32))
        let wrong = Checksum(algorithm: .sha256, digest: [UInt8](repeating: 2, count: 32))
        let plan = Self.plan { $0.checksums = [right] }
        var path = try #require(StraightPath(plan))
        let isEarly = path.digested([right])
        #expect(!isEarly, "nothing was received")
        let head = try Self.head("HTTP/1.1 200 OK", "Content-Length: 5")
        let isFile = path.responded(head, plan: plan, wallTime: Self.now)
        #expect(isFile && path.content?.algorithms == [.sha256])
        for digests in [[wrong], []] {
            let agrees = path.digested(digests)
            #expect(!agrees && path.verified == nil)
        }
        let agrees = path.digested([right])
        #expect(agrees && path.verified?.level == .given)
    }

    @Test func `of a weak digest that the server states, a machine tells the user`() throws {
        let plan = Self.plan()
        var path = try #require(StraightPath(plan))
        let head = try Self.head(
            "HTTP/1.1 200 OK", "Content-Length: 5", "Content-MD5: XUFAKrxLKna5cZ2REBfFkg==")
        let isFile = path.responded(head, plan: plan, wallTime: Self.now)
        let digest = Hexadecimal.bytes("5d41402abc4b2a76b9719d911017c592") ?? []
        #expect(isFile && path.content?.algorithms == [.md5])
        let decides = path.digested([Checksum(algorithm: .md5, digest: digest)])
        #expect(!decides)
    }
}
