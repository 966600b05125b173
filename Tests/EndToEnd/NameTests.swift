import Glibc
import PawlTestKit
import Testing

/// Names that servers and URLs suggest, and existing files.
@Suite(.ownThreads) struct NameTests {
    private let payload = Payload(seed: 71, length: 100_000)

    private static let long = String(repeating: "ü", count: 150)

    static let dispositions: [(String, String?)] = [
        ("attachment; filename=\"plain.zip\"", "plain.zip"), ("attachment; filename=plain.zip", "plain.zip"),
        ("attachment; filename=\"../../evil.sh\"", "evil.sh"), ("attachment; filename=\"..\\\\..\\\\evil.sh\"", nil),
        ("attachment; filename=\"/etc/cron.d/evil\"", "evil"),
        ("attachment; filename*=UTF-8''%2e%2e%2fevil.sh", "evil.sh"),
        ("attachment; filename*=UTF-8''na%C3%AFve.txt; filename=\"naive.txt\"", "naïve.txt"),
        ("attachment; filename*=UTF-8''nul%00in.txt", nil),
        ("attachment; filename=\"tab\tand\u{1}control\u{7f}.txt\"", nil),
        ("attachment; filename*=UTF-8''line%0Abreak%1B%5B2J.txt", nil), ("attachment; filename=\".\"", nil),
        ("attachment; filename=\"..\"", nil), ("attachment; filename=\"\"", nil), ("attachment; filename=\"   \"", nil),
        ("attachment; filename=\".bashrc\"", nil), ("attachment; filename=\"-rf\"", nil),
        ("attachment; filename=\"--.-x\"", nil), ("attachment; filename=\"\(long).tar.gz\"", nil),
        ("attachment; filename*=UTF-8''" + String(repeating: "%C3%BC", count: 150) + ".bin", nil),
        (
            "attachment; filename=\"" + String(repeating: "n", count: 252) + ".gz\"",
            String(repeating: "n", count: 252) + ".gz"
        ), ("attachment; filename=\"x.part\"", nil), ("attachment; filename=\"x.pawl\"", nil),
        ("filename=;;;==\"", nil),
    ]

    @Test(arguments: dispositions) func `B4 D18 the server's name is sanitized`(
        disposition: String, expected: String?
    ) throws {
        let bench = try Bench()
        let url = bench.origin.serve("/from-url", payload) { $0.disposition = Array(disposition.utf8) }
        let inner = bench.folder.path("inner")
        let outcome = try bench.get(url, "-d", inner)
        #expect(outcome.code == 0, "\(outcome)")
        try expectOneSafeFile(in: inner, expected, outcome)
        #expect(bench.folder.names == ["inner"])
    }

    @Test func `B4 D18 a NUL or a control character in a raw header never reaches a name`() throws {
        for byte in [0, 1, 8, 11, 27, 127] as [UInt8] {
            let bench = try Bench()
            let url = bench.origin.serve("/from-url", payload) {
                $0.disposition = Array("attachment; filename=\"be".utf8) + [byte] + Array("hind.txt\"".utf8)
            }
            let inner = bench.folder.path("inner")
            let outcome = try bench.get(url, "-d", inner, "--retries", "0")
            let code = try #require(outcome.code)
            #expect([0, 22].contains(code), "\(byte): \(outcome)")
            if code == 0 {
                try expectOneSafeFile(in: inner, nil, outcome)
            } else {
                #expect(FileSystem.names(in: inner).isEmpty)
            }
        }
    }

    @Test(arguments: [
        "/..%2f..%2fevil", "/%2e%2e", "/%00nul", "/a%0ab", "/%2F", "/", "/folder/",
        "/" + String(repeating: "%C3%BC", count: 150) + ".tar.gz", "/%FF%FE", "/%20", "/nul?../../x",
    ]) func `B4 C1 D18 a name from a URL is sanitized`(target: String) throws {
        let bench = try Bench()
        let path = String(target.prefix { $0 != "?" })
        bench.origin.serve(path, payload)
        bench.origin.serve("/", payload)  // where dot segments lead (RFC 3986 §6.2.2.3)
        let inner = bench.folder.path("inner")
        let outcome = try bench.get(bench.origin.url(target), "-d", inner)
        #expect(outcome.code == 0, "\(outcome)")
        try expectOneSafeFile(in: inner, nil, outcome)
        #expect(bench.folder.names == ["inner"])
    }

    @Test(arguments: [
        ("/.hidden", ".hidden", "hidden"), ("/-dash", "-dash", "dash"), ("/a%5cb", "a\\b", "b"),
        ("/...", "...", "download"),
    ]) func `B4 the name in a URL that was given is kept, one in a redirect made safe`(
        target: String, given: String, safe: String
    ) throws {
        let bench = try Bench()
        bench.origin.serve(target, payload)
        let redirect = bench.origin.serve("/redirect", Payload([])) {
            $0.instead = .init(302, lines: ["Location: \(target)"])
        }
        for (url, folder, name) in [(bench.origin.url(target), "given", given), (redirect, "moved", safe)] {
            let outcome = try bench.get(url, "-d", bench.folder.path(folder))
            #expect(outcome.code == 0, "\(outcome)")
            #expect(FileSystem.names(in: bench.folder.path(folder)) == [name])
        }
    }

    private func expectOneSafeFile(in folder: String, _ expected: String?, _ outcome: Outcome) throws {
        let names = FileSystem.names(in: folder)
        #expect(names.count == 1, "\(names) \(outcome)")
        let name = try #require(names.first)
        if let expected { #expect(name == expected) }
        #expect(name.utf8.count <= 255)
        #expect(!name.hasPrefix(".") && !name.hasPrefix("-"), "\(name)")
        #expect(!name.unicodeScalars.contains { $0.value < 32 || $0.value == 127 }, "\(name)")
        #expect(FileSystem.difference(of: "\(folder)/\(name)", from: payload) == nil, "\(outcome)")
        if name.utf8.count == 255 { #expect(name.hasSuffix(".gz") || name.hasSuffix(".bin"), "\(name)") }
    }

    @Test func `B4 only the last response's Content-Disposition counts`() throws {
        let bench = try Bench()
        let url = bench.origin.serve("/a", Payload([])) {
            $0.instead = .init(302, lines: ["Location: /b", "Content-Disposition: attachment; filename=\"wrong\""])
        }
        bench.origin.serve("/b", payload) { $0.disposition = Array("attachment; filename=\"right\"".utf8) }
        let outcome = try bench.get(url)
        #expect(outcome.code == 0, "\(outcome)")
        #expect(bench.folder.names == ["right"])
    }

    @Test func `C1 a hash of the URL as name is stable and keeps the extension`() throws {
        let bench = try Bench()
        let first = bench.origin.serve("/a/file.zip", payload)
        let second = bench.origin.serve("/b/file.zip", payload)
        try #expect(bench.get(first, second, "--naming", "hash").code == 0)
        let names = bench.folder.names
        #expect(names.count == 2 && names.allSatisfy { $0.hasSuffix(".zip") }, "\(names)")
        try #expect(bench.get(first, "--naming", "hash", "--if-exists", "skip").code == 0)
        #expect(bench.folder.names == names)
    }

    @Test func `A9 a finished file of the name stays and the new one gets a number`() throws {
        let bench = try Bench()
        let mine = Array("precious".utf8)
        try FileSystem.write(mine, to: bench.folder.path("f.bin"))
        let url = bench.origin.serve("/f.bin", payload)
        for _ in 0..<2 { try #expect(bench.get(url).code == 0) }
        #expect(bench.folder.names == ["f (1).bin", "f.bin"], "what is finished is not fetched again")
        let other = Payload(seed: 74, length: 100_000)
        bench.origin.serve("/f.bin", other)
        try #expect(bench.get(url).code == 0)
        #expect(bench.folder.names == ["f (1).bin", "f (2).bin", "f.bin"])
        #expect(FileSystem.contents(bench.folder.path("f.bin")) == mine)
        #expect(bench.folder.difference("f (1).bin", from: payload) == nil)
        #expect(bench.folder.difference("f (2).bin", from: other) == nil)
    }

    @Test func `A9 fail, skip and overwrite do what they say and no more`() throws {
        let bench = try Bench()
        let mine = Array("precious".utf8)
        let path = bench.folder.path("f.bin")
        try FileSystem.write(mine, to: path)
        _ = try PawlProcess.run("/bin/ln", [path, bench.folder.path("link")])
        let url = bench.origin.serve("/f.bin", payload)
        let failed = try bench.get(url, "--if-exists", "fail")
        #expect(failed.code == 13, "\(failed)")
        let skipped = try bench.get(url, "--if-exists", "skip")
        #expect(skipped.code == 0, "\(skipped)")
        #expect(FileSystem.contents(path) == mine)
        bench.origin.adjust("/f.bin") { $0.instead = .status(500) }
        let broken = try bench.get(url, "--if-exists", "overwrite", "--retries", "0")
        #expect(broken.code == 22, "\(broken)")
        #expect(FileSystem.contents(path) == mine, "kept until the new one is complete")
        bench.origin.adjust("/f.bin") { $0.instead = nil }
        let replaced = try bench.get(url, "--if-exists", "overwrite")
        #expect(replaced.code == 0, "\(replaced)")
        #expect(bench.folder.difference("f.bin", from: payload) == nil)
        #expect(FileSystem.contents(bench.folder.path("link")) == mine, "another link to the old file is unharmed")
        #expect(bench.folder.names == ["f.bin", "link"])
    }

    @Test func `C3 a complete file is not transferred again`() throws {
        let bench = try Bench()
        let content = Payload(seed: 72, length: 3_000_000)
        let url = bench.origin.serve("/f.bin", content)
        try #expect(bench.get(url).code == 0)
        let sent = bench.origin.ended("/f.bin").reduce(0) { $0 + $1.bodySent }
        bench.origin.adjust("/f.bin") { $0.pace = 4_000_000 }
        let outcome = try bench.get(url, "--if-exists", "resume")
        #expect(outcome.code == 0, "\(outcome)")
        let now = bench.origin.ended("/f.bin").filter(\.isContent).reduce(0) { $0 + $1.bodySent }
        #expect(now - sent <= 1_048_576, "at most an overlap: \(now - sent)")
        #expect(bench.folder.difference("f.bin", from: content) == nil)
        #expect(bench.folder.names == ["f.bin"])
    }

    @Test func `A9 resume of a finished file that is other content loses nothing before the new one is complete`()
        throws
    {
        let bench = try Bench()
        let mine = Payload(seed: 73, length: 2_000_000).bytes
        try FileSystem.write(mine, to: bench.folder.path("f.bin"))
        let url = bench.origin.serve("/f.bin", payload) { $0.instead = .status(404) }
        let outcome = try bench.get(url, "--if-exists", "resume")
        #expect(outcome.code == 3, "\(outcome)")
        #expect(FileSystem.contents(bench.folder.path("f.bin")) == mine)
        #expect(bench.folder.names == ["f.bin"])
    }

    @Test func `A9 a resume that fails after it added bytes leaves the file under its name`() throws {
        let bench = try Bench()
        let content = Payload(seed: 74, length: 6_000_000)
        let mine = Array(content.bytes.prefix(2_000_000))
        try FileSystem.write(mine, to: bench.folder.path("f.bin"))
        let url = bench.origin.serve("/f.bin", content)
        bench.origin.vary("/f.bin") { request, behaviour in
            if request.ordinal == 3 { behaviour.cut = .reset(after: 1_000_000) }
            if request.ordinal > 3 { behaviour.instead = .status(404) }
        }
        let outcome = try bench.get(url, "-x", "1", "--if-exists", "resume")
        #expect(outcome.code == 3, "\(outcome)")
        #expect(!outcome.message.contains("partial"), "\(outcome)")
        #expect(bench.folder.names == ["f.bin"])
        let left = try #require(FileSystem.contents(bench.folder.path("f.bin")))
        #expect(left.count >= mine.count && content.bytes.starts(with: left), "\(left.count) bytes")
        bench.origin.serve("/f.bin", content)
        try #expect(bench.get(url, "--if-exists", "resume").code == 0)
        #expect(bench.folder.difference("f.bin", from: content) == nil)
    }

    @Test func `A9 a resume that is interrupted before it added bytes leaves the file as it was`() throws {
        let bench = try Bench()
        let mine = Array(payload.bytes.prefix(50_000))
        try FileSystem.write(mine, to: bench.folder.path("f.bin"))
        let url = bench.origin.serve("/f.bin", payload) { $0.cut = .stall(after: 10) }
        let run = try bench.start(url, "--if-exists", "resume")
        bench.origin.wait(bytes: 10, of: "/f.bin")
        run.send(SIGINT)
        #expect(run.wait() == .code(7), "\(run.errors)")
        #expect(FileSystem.contents(bench.folder.path("f.bin")) == mine)
        #expect(bench.folder.names == ["f.bin"])
    }

    @Test func `a file has the server's time unless that is disabled`() throws {
        let bench = try Bench()
        let url = bench.origin.serve("/f.bin", payload)
        try #expect(bench.get(url).code == 0)
        #expect(FileSystem.modified(bench.folder.path("f.bin")) == bench.origin.lastModified("/f.bin"))
        try #expect(bench.get(url, "--no-remote-time", "-o", "now.bin").code == 0)
        let time = try #require(FileSystem.modified(bench.folder.path("now.bin")))
        #expect(time > HTTPDate.now - 300)
    }
}
