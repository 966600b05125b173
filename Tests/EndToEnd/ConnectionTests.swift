import PawlBase
import PawlTestKit
import Testing

/// Several connections to one file, and links that fail.
@Suite(.ownThreads) struct ConnectionTests {
    private let payload = Payload(seed: 91, length: 16_000_000)

    @Test(arguments: ["1", "2", "4", "8", "16", "auto"])
    func `A7 G3 any number of connections gives the same file, each byte once`(connections: String) throws {
        let bench = try Bench()
        let url = bench.origin.serve("/f", payload) { $0.pace = 30_000_000 }
        let outcome = try bench.get(url, "-x", connections)
        #expect(outcome.code == 0, "\(outcome)")
        #expect(bench.folder.difference("f", from: payload) == nil)
        #expect(bench.folder.names == ["f"])
        let sent = ByteRangeSet(bench.origin.ended("/f").compactMap(\.contentSent))
        #expect(sent.count == payload.length)
        if let limit = Int(connections) {
            #expect(bench.origin.log.mostOpen <= limit)
            if limit > 1 { #expect(bench.origin.log.mostOpen > 1, "several connections were in use") }
        }
    }

    @Test func `G3 one crawling connection among fast ones does not hold the file back`() throws {
        let bench = try Bench()
        let url = bench.origin.serve("/f", payload)
        bench.origin.vary("/f") { facts, behaviour in behaviour.pace = facts.ordinal == 1 ? 20_000 : 4_000_000 }
        let outcome = try bench.get(url, "-x", "4")
        #expect(outcome.code == 0, "\(outcome)")
        #expect(bench.folder.difference("f", from: payload) == nil)
        let slow = try #require(bench.origin.ended("/f").dropFirst().first)
        #expect(slow.bodySent < 1_000_000, "its work was taken over: \(slow.bodySent)")
    }

    @Test func `G3 the first response's connection is kept when others join`() throws {
        let bench = try Bench()
        let url = bench.origin.serve("/f", payload) { $0.pace = 8_000_000 }
        let outcome = try bench.get(url, "-x", "4")
        #expect(outcome.code == 0, "\(outcome)")
        let first = try #require(bench.origin.ended("/f").first)
        #expect(first.bodySent > 2_000_000, "\(first)")
    }

    @Test(arguments: [503, 429, 0]) func `G3 G4 a server that accepts two at once gets two at once`(status: Int) throws
    {
        let bench = try Bench()
        let url = bench.origin.serve("/f", payload) {
            $0.crowd = .init(limit: 2, refusal: status == 0 ? nil : .status(status))
            $0.pace = 8_000_000
        }
        let outcome = try bench.get(url, "-x", "8")
        #expect(outcome.code == 0, "\(outcome)")
        #expect(bench.folder.difference("f", from: payload) == nil)
        let requests = bench.origin.ended("/f")
        #expect(requests.count { !$0.isContent } <= 24, "refusals teach: \(requests.count { !$0.isContent })")
    }

    @Test func `G4 connections rejected on accept are not a failure`() throws {
        let bench = try Bench()
        let url = bench.origin.serve("/f", payload) { $0.pace = 8_000_000 }
        bench.origin.limitConnections(to: 2)
        let outcome = try bench.get(url, "-x", "8")
        #expect(outcome.code == 0, "\(outcome)")
        #expect(bench.folder.difference("f", from: payload) == nil)
    }

    @Test(arguments: ["1", "4"]) func `progress resets the count of retries, whatever resets come`(
        connections: String
    ) throws {
        let bench = try Bench()
        let url = bench.origin.serve("/f", payload) { $0.cut = .reset(after: 900_000) }
        let outcome = try bench.get(url, "-x", connections, "--retries", "2")
        #expect(outcome.code == 0, "\(outcome)")
        #expect(bench.folder.difference("f", from: payload) == nil)
        #expect(bench.origin.ended("/f").count >= 17)
        if connections == "1" { #expect(bench.origin.log.sentTwice("/f") == 0) }
    }

    @Test func `a stalled response is abandoned after the timeout and resumed`() throws {
        let bench = try Bench()
        let url = bench.origin.serve("/f", payload)
        bench.origin.vary("/f") { facts, behaviour in if facts.ordinal < 2 { behaviour.cut = .stall(after: 5_000_000) }
        }
        let outcome = try bench.get(url, "-x", "1", "--timeout", "1")
        #expect(outcome.code == 0, "\(outcome)")
        #expect(bench.folder.difference("f", from: payload) == nil)
        #expect(bench.origin.ended("/f").map(\.bodyStart) == [0, 5_000_000, 10_000_000])
        #expect(bench.origin.log.sentTwice("/f") == 0)
    }

    @Test func `D6 speed falls to 0 on a stall`() throws {
        let bench = try Bench()
        let url = bench.origin.serve("/f", payload) { $0.cut = .stall(after: 5_000_000) }
        let process = try bench.start(url, "-x", "1", "--timeout", "30")
        let still = process.line { line in
            let event = Event(line: line)
            return event.word == "progress" && event.number("written") == 5_000_000 && event.number("speed") == 0
        }
        #expect(still != nil, "\(process.output)")
        bench.origin.release("/f")
        let outcome = Outcome(of: process)
        #expect(outcome.code == 0, "\(outcome)")
    }

    @Test func `A6 B8 progress never decreases and never exceeds the total`() throws {
        let bench = try Bench()
        let url = bench.origin.serve("/f", payload) { $0.pace = 3_000_000 }
        bench.origin.vary("/f") { facts, behaviour in
            if facts.ordinal.isMultiple(of: 3) { behaviour.cut = .reset(after: 1_500_000) }
        }
        let outcome = try bench.get(url, "-x", "2")
        #expect(outcome.code == 0, "\(outcome)")
        let written = outcome.events("progress").compactMap { $0.number("written") }
        #expect(written.count > 1 && written == written.sorted(), "\(written)")
        #expect(written.allSatisfy { $0 <= payload.length })
        #expect(outcome.events("progress").allSatisfy { ($0.number("percent") ?? 0) <= 100 })
    }

    @Test func `a mirror takes over when the first source dies`() throws {
        let bench = try Bench()
        let mirror = try OriginServer()
        defer { mirror.stop() }
        mirror.serve("/copy", payload)
        let url = bench.origin.serve("/f", payload) { $0.cut = .close(after: 4_000_000) }
        bench.origin.vary("/f") { facts, behaviour in if facts.ordinal > 0 { behaviour.instead = .status(503) } }
        let outcome = try bench.get(url, "--mirror", mirror.url("/copy"), "-x", "1")
        #expect(outcome.code == 0, "\(outcome)")
        #expect(bench.folder.difference("f", from: payload) == nil)
        #expect(mirror.log.bodySent("/copy") > 0)
    }

    @Test func `a rate limit holds for all connections together`() throws {
        let bench = try Bench()
        let small = Payload(seed: 92, length: 3_000_000)
        let url = bench.origin.serve("/f", small)
        let outcome = try bench.get(url, "--limit-rate", "1M", "-x", "4")
        #expect(outcome.code == 0, "\(outcome)")
        #expect(bench.folder.difference("f", from: small) == nil)
        let fastest = outcome.events("progress").compactMap { $0.number("speed") }.max() ?? 0
        #expect(fastest < 1_600_000, "\(fastest)")
        #expect(outcome.events("progress").count >= 2)
    }
}
