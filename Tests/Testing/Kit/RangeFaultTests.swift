import PawlBase
import PawlJournal
import PawlTestKit
import Testing

/// A fault that is not sent would make every test of it pass: each is verified from outside.
@Suite struct RangeFaultTests {
    private static let payload = Payload(seed: 15, length: 10_000)

    struct Case: Sendable {
        var fault: Behaviour.Ranges
        var status: Int
        var label: String?
        var body: ByteRange?
    }

    static let cases: [Case] = [
        Case(fault: .honoured, status: 206, label: "bytes 4000-4999/10000", body: ByteRange(4000, 5000)),
        Case(fault: .ignored, status: 200, label: nil, body: ByteRange(0, 10_000)),
        Case(fault: .refused(total: 10_000), status: 416, label: "bytes */10000", body: nil),
        Case(fault: .refused(total: nil), status: 416, label: nil, body: nil),
        Case(fault: .capped(300), status: 206, label: "bytes 4000-4299/10000", body: ByteRange(4000, 4300)),
        Case(fault: .shifted(by: -7), status: 206, label: "bytes 3993-4999/10000", body: ByteRange(3993, 5000)),
        Case(fault: .labelled(nil), status: 206, label: nil, body: ByteRange(4000, 5000)),
        Case(fault: .labelled("nonsense"), status: 206, label: "nonsense", body: ByteRange(4000, 5000)),
        Case(fault: .overlong(by: 50), status: 206, label: "bytes 4000-5049/10000", body: ByteRange(4000, 5050)),
        Case(fault: .otherTotal(9), status: 206, label: "bytes 4000-4999/9", body: ByteRange(4000, 5000)),
        Case(fault: .multipart, status: 206, label: nil, body: nil),
    ]

    @Test(arguments: cases) func `each fault of a range is sent as named`(sample: Case) async throws {
        try await OriginServer.with { origin in
            let url = origin.serve("/f", Self.payload) { $0.ranges = sample.fault }
            let folder = try TemporaryFolder()
            let curl = try PawlProcess.run(
                "/usr/bin/curl",
                ["--silent", "--range", "4000-4999", "--dump-header", "head", "--output", "body", url],
                folder: folder.path)
            #expect(curl.exit == .code(0))
            let bytes = try #require(FileSystem.contents(folder.path("head")))
            let head = String(decoding: bytes, as: UTF8.self)
            #expect(head.hasPrefix("HTTP/1.1 \(sample.status) "))
            let field = head.split(separator: "\r\n").first { $0.hasPrefix("Content-Range: ") }
            #expect(field.map { String($0.dropFirst(15)) } == sample.label)
            let body = try #require(FileSystem.contents(folder.path("body")))
            if let range = sample.body { #expect(body == Self.payload.bytes(in: range)) }
            if sample.fault == .multipart {
                #expect(head.contains("multipart/byteranges"))
                #expect(String(decoding: body, as: UTF8.self).hasPrefix("--PART\r\n"))
            }
        }
    }

    @Test func `a range request without a response is held and the whole file is not`() async throws {
        try await OriginServer.with { origin in
            let url = origin.serve("/f", Self.payload) { $0.ranges = .unresponsive }
            let held = try PawlProcess("/usr/bin/curl", ["--silent", "--range", "1-2", url])
            #expect(origin.wait(held: 1, of: "/f"))
            let whole = try PawlProcess.run("/usr/bin/curl", ["--silent", url])
            #expect(whole.outputBytes == Self.payload.bytes)
            origin.release("/f")
            #expect(held.wait() == .code(0))
            #expect(held.outputBytes == Self.payload.bytes(in: ByteRange(1, 3)))
        }
    }

    @Test(arguments: [
        (Behaviour.Validators.strong, true, true), (.strongTagOnly, true, false), (.weakTagOnly, true, false),
        (.lastModifiedOnly, false, true), (.none, false, false), (.freshTagEachTime, true, true),
    ]) func `validators are the configured ones`(validators: Behaviour.Validators, tag: Bool, date: Bool) async throws {
        try await OriginServer.with { origin in
            let url = origin.serve("/f", Self.payload) { $0.validators = validators }
            let heads = try (0..<2).map { _ in try PawlProcess.run("/usr/bin/curl", ["--silent", "--head", url]).lines }
            let tags = heads.map { $0.filter { $0.hasPrefix("ETag: ") } }
            #expect(tags.allSatisfy { $0.isEmpty != tag })
            #expect((tags[0] != tags[1]) == (validators == .freshTagEachTime))
            #expect(tags.joined().allSatisfy { $0.hasPrefix("ETag: W/") == (validators == .weakTagOnly) })
            #expect(heads.allSatisfy { $0.contains { $0.hasPrefix("Last-Modified: ") } == date })
        }
    }
}
