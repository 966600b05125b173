import PawlBase
import PawlHTTP
import PawlPipe
import PawlSystem
import Testing

struct PipeJobTests {
    private func parse(_ text: String, number: Int = 1) -> Result<PipeJob, PipeJob.Refusal> {
        PipeJob.parse(PipeLines.Line(number: number, bytes: Array(text.utf8)))
    }

    private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    @Test func `lines are numbered as in the file, and blank ones are left out`() {
        var splitter = PipeLines(limit: 10)
        let first = splitter.feed(Array("a\n\n \r\nbc".utf8)[...])
        let second = splitter.feed(Array("d\n0123456789\n012345678\ne".utf8)[...])
        let lines = first + second + [splitter.finish()].compactMap(\.self)
        #expect(lines.map(\.number) == [1, 4, 5, 6, 7])
        #expect(lines.map { $0.bytes.map(text) } == ["a", "bcd", nil, "012345678", "e"])
    }

    @Test func `a byte order mark is not a part of the first line`() {
        var splitter = PipeLines()
        let mark = "\u{FEFF}"
        #expect(splitter.feed(Array("\(mark)a\n\(mark)b\n".utf8)[...]).map { $0.bytes.map(text) } == ["a", "\(mark)b"])
        var blank = PipeLines()
        #expect(blank.feed(Array("\(mark)\nc\n".utf8)[...]).map(\.number) == [2])
    }

    @Test(arguments: ["root:x:0:0", "[1]", "\u{7F}ELF"]) func `a file that is no manifest is not an empty one`(
        line: String
    ) throws {
        let parsed = try #require(PipeJob.parse(failed: PipeLines.Line(number: 3, bytes: Array(line.utf8))))
        guard case .failure(let refusal) = parsed else {
            Issue.record("it is a job")
            return
        }
        #expect(refusal.reason == "the line is not from a manifest")
    }

    @Test func `a job's own fields pass through, but not its headers`() throws {
        let job = try parse(
            #"{"url":"http://a/b.jpg","id":7,"score":1.50,"status":"mine","headers":{"Authorization":"x"}}"#
        ).get()
        #expect(job.id == "7")
        #expect(job.headers == ["Authorization: x"])
        let line = text(PipeResult(.ok).lines(of: job).reproducible)
        #expect(
            line == #"{"id":7,"url":"http://a/b.jpg","status":"ok","code":0,"reason":null,"http":null,"bytes":null,"#
                + #""sha256":null,"key":null,"type":null,"finalURL":null,"score":1.50}"#)
    }

    @Test(arguments: [
        ("{\"url\":5}", "no text named url"), ("{\"url\"", "not JSON"), ("http://a/\u{0}", "NUL"),
        (#"{"url":"http://a/","id":[1]}"#, "id is neither"), (#"{"url":"http://a/","out":1}"#, "out is not"),
        (#"{"url":"http://a/","out":"../x"}"#, "out is not a relative path"),
        (#"{"url":"http://a/","headers":{"A":"b\r\nC: d"}}"#, "headers"),
        (#"{"url":"http://a/","checksum":"sha-256=00"}"#, "checksum"), ("gopher://a/", "gopher"), ("[1]", "scheme"),
    ]) func `what is no job is refused with its line`(line: String, reason: String) throws {
        guard case .failure(let refusal) = parse(line, number: 12) else {
            Issue.record("\(line) is a job")
            return
        }
        #expect(refusal.reason.contains(reason), "\(refusal.reason)")
        let result = text(PipeResult.line(of: refusal))
        #expect(result.contains(#""status":"refused","code":28,"#) && result.contains(#""line":12"#))
    }

    @Test func `only failed results are tried again, as the jobs that they were`() throws {
        let job = try parse(#"{"id":"x","url":"http://a/b.jpg","out":"c.jpg","n":1}"#).get()
        let failed = PipeResult(Failure(.notFound, "cannot fetch", at: "it", because: "of a test")).line(of: job)
        let again = try #require(PipeJob.parse(failed: PipeLines.Line(number: 1, bytes: failed))).get()
        #expect(again == job)
        #expect(PipeJob.parse(failed: PipeLines.Line(number: 1, bytes: PipeResult(.ok).line(of: job))) == nil)
    }

    @Test func `names come from out, the identifier or the URL`() throws {
        func path(_ line: String) throws -> String { SampleName.path(of: try parse(line).get()) }
        #expect(try path(#"{"url":"http://a/b.jpg","out":"x/y","id":"z"}"#) == "x/y")
        #expect(try path(#"{"url":"http://a/b.JPG?x","id":"z"}"#) == "z.jpg")
        #expect(try path(#"{"url":"http://a/b","id":"../z"}"#).hasPrefix(".._z-") == false)
        #expect(try path("http://a/b.jpg").split(separator: "/").map(\.count) == [2, 2, 36])
        let (one, other) = (
            try path(#"{"url":"http://a/b","id":"a/b"}"#), try path(#"{"url":"http://a/b","id":"a_b"}"#)
        )
        #expect(one != other)
    }

    @Test func `keys of an archive have neither dots nor slashes, and are unique`() throws {
        let key = SampleName.key(of: try parse(#"{"url":"http://a/b","id":"a.b/c"}"#).get())
        #expect(key.hasPrefix("a_b_c-"))
        var keys = UniqueKeys()
        #expect([keys.take("a"), keys.take("a"), keys.take("a_2"), keys.take("a")] == ["a", "a_2", "a_2_2", "a_3"])
        #expect(SampleName.ending(type: "image/jpeg", path: "/x.png") == "jpg")
        #expect(SampleName.ending(type: "application/json", path: "/x") == "data.json")
        #expect(SampleName.ending(type: nil, path: "/x") == "bin")
    }

    @Test func `results come in order whatever the order of their ends`() {
        var order = InOrder<String>()
        #expect(order.put("c", at: 2).isEmpty)
        #expect(order.put("a", at: 0) == ["a"])
        #expect(order.put("b", at: 1) == ["b", "c"])
        #expect(order.count == 0)
    }

    @Test func `the shares of a host add up to the whole`() throws {
        for count in 1...9 {
            let shares = try (1...count).map { try #require(HostShare("\($0)/\(count)")) }
            #expect(shares.compactMap { $0.connections(of: 6) }.reduce(0, +) == 6)
        }
        #expect(HostShare("0/2") == nil && HostShare("3/2") == nil && HostShare("x") == nil)
    }

    @Test func `a host belongs to one worker, whatever its subdomain`() {
        #expect(HostPartition.registrable("Images.example.CO.UK") == "example.co.uk")
        #expect(HostPartition.registrable("a.b.example.org") == "example.org")
        #expect(HostPartition.registrable("10.1.2.3") == "10.1.2.3")
        func number(_ text: String) -> Int {
            HostPartition.number(of: PipeLines.Line(number: 1, bytes: Array(text.utf8)), among: 1000)
        }
        #expect(number("http://a.example.org/1") == number(#"{"id":1,"url":"https://b.example.org:8443/2"}"#))
        #expect(number("http://example.org/") == number("HTTPS://EXAMPLE.ORG.:443/"))
        #expect(number("http://bücher.example/") == number("http://xn--bcher-kva.example:8080/"))
        #expect(number("http://192.0.2.1/") == number("http://[::ffff:192.0.2.1]/"))
        // Stable for ever: other versions and machines work on the same partitions.
        #expect(number("http://example.org/") == 841)
    }

    @Test func `a line that is too long for a worker is refused by it with its number`() throws {
        let text = PipeJob.standIn(forLine: 7)
        guard case .failure(let refusal) = PipeJob.parse(PipeLines.Line(number: 1, bytes: text)) else {
            Issue.record("it is a job")
            return
        }
        #expect(refusal.reason == "the line has 64 MiB or more")
        #expect(refusal.members.contains(JSON.Member("inputLine", .number("7"))))
    }

    @Test func `a shard's trailer is read as it was written`() throws {
        let trailer = ShardTrailer(input: String(repeating: "a", count: 64), length: 123)
        #expect(trailer.bytes.count == ShardTrailer.size)
        #expect(ShardTrailer(trailer.bytes) == trailer)
        #expect(ShardTrailer([UInt8](repeating: 0, count: ShardTrailer.size)) == nil)
        #expect(ShardName.retrying(manifest: "d/a.b.jsonl") == "a.b.1")
        #expect(ShardName.retrying(manifest: "d/a.1.jsonl") == "a.2")
        #expect(ShardName.retrying(manifest: "old.jsonl", of: "a") == "a.1")
    }

    @Test func `a job's digests are its checksum and those in its URL's fragment`() throws {
        func parse(_ text: String) -> Result<PipeJob, PipeJob.Refusal> {
            PipeJob.parse(PipeLines.Line(number: 7, bytes: Array(text.utf8)))
        }
        let (md5, sha1) = (String(repeating: "0", count: 32), String(repeating: "1", count: 40))
        let job = try parse(##"{"url": "http://h/f#md5=\##(md5)", "checksum": "sha-1=\##(sha1)"}"##).get()
        #expect(job.digests.map(\.text) == ["sha-1=\(sha1)", "md5=\(md5)"])
        #expect(try parse("http://h/f#page=2").get().digests.isEmpty)
        #expect(throws: PipeJob.Refusal.self) { try parse("http://h/f#md5=0").get() }
    }
}
