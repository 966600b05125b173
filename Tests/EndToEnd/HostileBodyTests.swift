import PawlTestKit
import Testing

/// Bodies and heads that are wrong, broken or unusual.
@Suite(.ownThreads) struct HostileBodyTests {
    private let payload = Payload(seed: 31, length: 3_000_000)

    @Test(arguments: [Int64(1), 1_000_000])
    func `G1 a body shorter than announced is continued and never taken for the file`(missing: Int64) throws {
        let bench = try Bench()
        let url = bench.origin.serve("/f", payload) { $0.cut = .close(at: 3_000_000 - missing) }
        let outcome = try bench.get(url, "-x", "1")
        #expect(outcome.code == 0, "\(outcome)")
        #expect(bench.folder.difference("f", from: payload) == nil, "\(outcome)")
        #expect(bench.origin.ended("/f").count > 1)
    }

    @Test func `G1 a file that always ends too soon is a failure, not a short file`() throws {
        let bench = try Bench()
        let url = bench.origin.serve("/f", payload) {
            $0.framing = .falseLength(by: 1000)
            $0.ranges = .ignored
        }
        let outcome = try bench.get(url, "-x", "1", "--retries", "1")
        #expect(outcome.code != 0, "\(outcome)")
        #expect(!bench.folder.names.contains("f"), "\(bench.folder.names)")
    }

    @Test func `G1 bytes beyond the announced length never reach the file`() throws {
        let bench = try Bench()
        let url = bench.origin.serve("/f", payload) { $0.framing = .falseLength(by: -1_000_000) }
        let outcome = try bench.get(url, "-x", "1")
        #expect(outcome.code == 0, "\(outcome)")
        #expect(bench.folder.difference("f", from: Payload(seed: 31, length: 2_000_000)) == nil, "\(outcome)")
    }

    @Test(arguments: [Behaviour.Framing.chunked, .untilClose, .http10])
    func `E5 content of unknown length is read to its end`(framing: Behaviour.Framing) throws {
        let bench = try Bench()
        let url = bench.origin.serve("/f", payload) { $0.framing = framing }
        let outcome = try bench.get(url)
        #expect(outcome.code == 0, "\(outcome)")
        #expect(bench.folder.difference("f", from: payload) == nil, "\(outcome)")
        #expect(bench.folder.names == ["f"])
    }

    @Test(arguments: [Behaviour.Cut.close(after: 1_500_000), .close(after: 3_000_000), .badChunk(after: 1_500_000)])
    func `E5 chunks cut short or broken are an error, never a short file`(cut: Behaviour.Cut) throws {
        let bench = try Bench()
        let url = bench.origin.serve("/f", payload) {
            $0.framing = .chunked
            $0.cut = cut
            $0.ranges = .ignored
        }
        let outcome = try bench.get(url, "--retries", "1")
        #expect(outcome.code != 0, "\(outcome)")
        #expect(!bench.folder.names.contains("f"), "\(bench.folder.names)")
        bench.origin.adjust("/f") { $0.cut = nil }
        let second = try bench.get(url)
        #expect(second.code == 0, "\(second)")
        #expect(bench.folder.difference("f", from: payload) == nil, "\(second)")
        #expect(bench.folder.names == ["f"])
    }

    @Test(arguments: [Int64(0), 1, 1_048_575, 1_048_576, 1_048_577], [Behaviour.Framing.length, .chunked, .http10])
    func `A5 files of every small size arrive whole and leave nothing behind`(
        length: Int64, framing: Behaviour.Framing
    ) throws {
        let bench = try Bench()
        let content = Payload(seed: 32, length: length)
        let url = bench.origin.serve("/f", content) { $0.framing = framing }
        let outcome = try bench.get(url)
        #expect(outcome.code == 0, "\(outcome)")
        #expect(bench.folder.difference("f", from: content) == nil, "\(outcome)")
        #expect(bench.folder.names == ["f"])
    }

    @Test func `bare line feeds, interim responses, no date and long fields are accepted`() throws {
        let bench = try Bench()
        let url = bench.origin.serve("/f", payload) {
            $0.endsLinesWithBareLF = true
            $0.interim = [103, 100]
            $0.hasDate = false
            $0.add(header: "X-Long: " + String(repeating: "long ", count: 8000))
            $0.add(header: "Set-Cookie: a=b")
        }
        let outcome = try bench.get(url)
        #expect(outcome.code == 0, "\(outcome)")
        #expect(bench.folder.difference("f", from: payload) == nil, "\(outcome)")
    }

    @Test func `an endless head is refused in bounded memory`() throws {
        let bench = try Bench()
        let url = bench.origin.serve("/f", payload) {
            for number in 0..<2000 { $0.add(header: "X-\(number): " + String(repeating: "long ", count: 1000)) }
        }
        let outcome = try bench.get(url, "--retries", "1")
        #expect(outcome.code == 22, "\(outcome)")
        #expect(bench.folder.names.isEmpty)
    }

    @Test func `a late response is waited for`() throws {
        let bench = try Bench()
        let url = bench.origin.serve("/f", payload) { $0.delay = .span(.milliseconds(700)) }
        let outcome = try bench.get(url, "-x", "1", "--retries", "0")
        #expect(outcome.code == 0, "\(outcome)")
        #expect(bench.origin.ended("/f").count == 1)
    }

    @Test(arguments: [Behaviour.Kept.closes, .closesSilently, .diesOnReuse])
    func `a kept connection that fails costs nothing, even without retries`(kept: Behaviour.Kept) throws {
        let bench = try Bench()
        let urls = (0..<6).map { number in
            bench.origin.serve("/f\(number)", Payload(seed: UInt64(number), length: 50_000)) { $0.kept = kept }
        }
        let outcome = try bench.get(urls + ["--retries", "0", "-j", "1"])
        #expect(outcome.code == 0, "\(outcome)")
        for number in 0..<6 {
            let content = Payload(seed: UInt64(number), length: 50_000)
            #expect(bench.folder.difference("f\(number)", from: content) == nil)
        }
    }

    @Test(arguments: [
        Array("SSH-2.0-OpenSSH_9.2\r\n".utf8), [], [UInt8](repeating: 0, count: 3000),
        Array("HTTP/1.1 two hundred\r\n\r\n".utf8), Array("HTTP/1.1 200 OK\r\nContent-Le".utf8),
    ]) func `a response that is not HTTP is a failure with a code and leaves no file`(garbage: [UInt8]) throws {
        let bench = try Bench()
        let url = bench.origin.serve("/f", payload) { $0.garbage = garbage }
        let outcome = try bench.get(url, "--retries", "1")
        let code = try #require(outcome.code)
        #expect([6, 22].contains(code), "\(outcome)")
        #expect(!outcome.message.isEmpty)
        #expect(bench.folder.names.isEmpty)
    }

    @Test func `contradicting lengths never make a wrong file`() throws {
        let bench = try Bench()
        let url = bench.origin.serve("/f", payload) { $0.secondLength = 1234 }
        let outcome = try bench.get(url, "--retries", "1")
        #expect(outcome.code == 22, "\(outcome)")
        #expect(bench.folder.names.isEmpty)
    }

    @Test func `a full response with a coding that was not requested is saved unchanged`() throws {
        let bench = try Bench()
        let small = Payload(seed: 33, length: 200_000)
        let url = bench.origin.serve("/f.tar.gz", small) { $0.coding = .gzip }
        let outcome = try bench.get(url)
        #expect(outcome.code == 0, "\(outcome)")
        #expect(FileSystem.contents(bench.folder.path("f.tar.gz")) == StoredGzip.encode(small.bytes))
    }
}
