import PawlTestKit
import Testing

/// A host that refuses one URL, or a further connection, and serves all others.
@Suite(.ownThreads) struct `A host is judged by what it serves` {
    /// Serves `count` small files below `/files`; their URLs.
    private func files(_ bench: Bench, _ count: Int) -> [String] {
        (0..<count).map { bench.origin.serve("/files/\($0)", Payload(seed: UInt64($0), length: 20_000)) }
    }

    @Test(arguments: [429, 503]) func `one URL's refusal slows that URL only, in this run and the next`(
        status: Int
    ) throws {
        let bench = try Bench()
        let good = files(bench, 40)
        let busy = bench.origin.serve("/busy", Payload(seed: 99, length: 20_000))
        bench.origin.vary("/busy") { facts, behaviour in
            if facts.ordinal == 0 { behaviour.instead = .status(status, retryAfter: "5") }
        }
        let outcome = try bench.get(Array(good[..<20]) + [busy] + Array(good[20...]) + ["-j", "8"])
        #expect(outcome.code == 0, "\(outcome)")
        let paths = bench.origin.log.records.map(\.request.path)
        let again = paths.lastIndex(of: "/busy") ?? 0
        #expect(paths.count { $0 == "/busy" } == 2 && again == paths.count - 1, "others do not wait for it")
        #expect(try bench.run("hosts").text.contains("no limit"))

        let large = bench.origin.serve("/large", Payload(seed: 5, length: 12 << 20)) { $0.pace = 2 << 20 }
        let next = try bench.get(large, "-x", "8")
        #expect(next.code == 0 && bench.origin.ended("/large").count >= 8, "\(next)")
    }

    @Test(arguments: [429, 503])
    func `a host that serves one request and refuses others meanwhile serves all in the end`(status: Int) throws {
        let bench = try Bench()
        let paths = (0..<30).map { "/place/\($0)" }
        // Long enough that others arrive meanwhile.
        let urls = paths.enumerated().map { number, path in
            bench.origin.serve(path, Payload(seed: UInt64(number), length: 20_000)) { $0.pace = 100_000 }
        }
        bench.origin.limitResponses(to: 1, refusal: .status(status))
        let run = try bench.run(["get", "--progress", "none"] + urls)
        #expect(run.code == 0, "\(run.text)")
        for number in paths.indices {
            let payload = Payload(seed: UInt64(number), length: 20_000)
            #expect(bench.folder.difference("\(number)", from: payload) == nil, "\(number)")
        }
        #expect(bench.origin.log.records.contains { $0.status == status }, "no two requests met")
    }

    @Test func `behind a stalled download and a refused one all others finish`() throws {
        let bench = try Bench()
        let good = files(bench, 12)
        let stalled = bench.origin.serve("/stalled", Payload(seed: 7, length: 40_000)) { $0.cut = .stall(at: 10_000) }
        let busy = bench.origin.serve("/busy", Payload(seed: 8, length: 20_000))
        bench.origin.vary("/busy") { facts, behaviour in if facts.ordinal == 0 { behaviour.instead = .status(503) } }
        let process = try bench.start([stalled, busy] + good + ["-j", "3", "--timeout", "600"])
        for path in ["/busy"] + good.indices.map({ "/files/\($0)" }) {
            #expect(
                bench.origin.wait { log in log.of(path).contains { $0.status == 200 || $0.status == 206 } },
                "\(path) is never requested")
        }
        process.send(15)
        _ = Outcome(of: process)
    }

    @Test func `a 403 fails at once where no further connection was refused`() throws {
        let bench = try Bench()
        let good = files(bench, 8)
        let secret = bench.origin.serve("/secret", Payload(seed: 1, length: 10)) { $0.instead = .status(403) }
        let busy = bench.origin.serve("/busy", Payload(seed: 8, length: 20_000))
        bench.origin.vary("/busy") { facts, behaviour in if facts.ordinal == 0 { behaviour.instead = .status(503) } }
        let outcome = try bench.get([busy] + good + [secret, "-j", "4"])
        #expect(outcome.code != 0 && outcome.events("finished").count == 9, "\(outcome)")
        #expect(bench.origin.ended("/secret").count == 1)
    }

    @Test func `a quota that is used up is waited out before the next request is refused`() throws {
        let bench = try Bench()
        let first = bench.origin.serve("/first", Payload(seed: 1, length: 1_000)) {
            $0.add(header: "RateLimit: \"default\";r=0;t=2")
        }
        let second = bench.origin.serve("/second", Payload(seed: 2, length: 1_000))
        let process = try bench.start(first, second, "-j", "1", "-v")
        let outcome = Outcome(of: process)
        #expect(outcome.code == 0 && outcome.events("retry").isEmpty, "\(outcome)")
        let waits = outcome.events.contains { $0.line.contains("waitsForHost") || $0.line.contains("retryIn") }
        #expect(waits, "\(outcome)")
    }
}
