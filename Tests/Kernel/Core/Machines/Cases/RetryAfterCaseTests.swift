import Testing

@testable import PawlBase
@testable import PawlCore
@testable import PawlJournal
@testable import PawlSystem

/// The effect of a server's Retry-After on the attempts of a download.
@Suite struct RetryAfterCaseTests {
    private func waits(
        _ status: Int, _ field: String?, delay: Interval = .seconds(1), longest: Double = 3600
    ) -> [Double] {
        var bench = Bench { $0.retry = RetryPolicy(retries: 5, delay: delay, longestRetryAfter: .seconds(longest)) }
        bench.begin()
        var waits: [Double] = []
        while bench.machine.phase != .failed, waits.count < 10 {
            var head = ResponseHead(status: status)
            head.retryAfter = field
            bench.respond(head)
            for case .alarm(let alarm) in bench.said {
                waits.append((alarm.at - bench.now).seconds)
                bench.now = alarm.at
                bench.ring()
            }
        }
        return waits
    }

    @Test(arguments: [429, 503, 502], ["0", "0.0", "Thu, 01 Jan 1970 00:00:00 GMT", "Sun, 06 Nov 1994 08:49:37 GMT"])
    func `a zero wait does not use up the attempts at once`(status: Int, field: String) {
        let waits = waits(status, field)
        #expect(waits.count == 5)
        #expect(waits.reduce(0, +) > 20, "as long as without the field: \(waits)")
        #expect(self.waits(status, field, delay: .zero).reduce(0, +) > 2)
    }

    @Test(arguments: ["-1", "", "soon", "1e9", "0x10", "99999999999999999999999 s"])
    func `an invalid field has no effect`(field: String) {
        let waits = waits(503, field)
        #expect(waits.count == 5 && waits.allSatisfy { $0 <= 20 })
    }

    @Test(arguments: ["99999999999999999999999", "9223372036854775807", "Fri, 31 Dec 9999 23:59:59 GMT"])
    func `an endless wait becomes an hour, or the allowed maximum`(field: String) {
        #expect(waits(503, field).allSatisfy { $0 == 3600 })
        #expect(waits(503, field, longest: 70).allSatisfy { $0 == 70 })
        #expect(waits(503, field, longest: 1_000_000).allSatisfy { $0 == RetryAfter.longest.seconds })
        #expect(waits(503, field, longest: 0).allSatisfy { $0 <= 20 })
    }

    @Test func `no more than the allowed wait applies to the host's other downloads`() {
        var bench = Bench { $0.retry = RetryPolicy(retries: 5, longestRetryAfter: .seconds(7)) }
        bench.begin()
        var head = ResponseHead(status: 429)
        head.retryAfter = "600"
        bench.respond(head)
        let requested = bench.said.compactMap { if case .refused(let refusal) = $0 { refusal.retryAfter } else { nil } }
        #expect(requested == [.seconds(7)])
    }

    @Test(arguments: [
        ("60", "the server returned 503 Service Unavailable"),
        ("61", "the server returned 503 Service Unavailable and requested a wait of 2 min"),
        ("3600", "the server returned 503 Service Unavailable and requested a wait of 60 min"),
        ("7201", "the server returned 503 Service Unavailable and requested a wait of 3 h"),
        ("999999999", "the server returned 503 Service Unavailable and requested a wait of ≥ 24 h"),
    ]) func `a long wait that the server requested is a part of the reason`(field: String, why: String) throws {
        for retries in [0, 5] {
            var bench = Bench { $0.retry = RetryPolicy(retries: retries, longestRetryAfter: .seconds(3600)) }
            bench.begin()
            var head = ResponseHead(status: 503)
            head.retryAfter = field
            bench.respond(head)
            let failures = bench.said.compactMap { action -> Failure? in
                switch action {
                case .notify(.retrying(let failure, after: _)), .notify(.failed(let failure)): failure
                case _: nil
                }
            }
            let failure = try #require(failures.first)
            #expect(failure.why == why && failure.brief == "503")
            let isCut = why.hasSuffix(" h")
            #expect(failure.remedy.text.contains("the longest Retry-After") == isCut, "\(failure)")
        }
    }

    @Test func `a longer wait of the server wins, a shorter one does not`() {
        #expect(waits(503, "40") == [40, 40, 40, 40, 40])
        #expect(waits(503, "2").first == 2)
        #expect(waits(503, "2").last ?? 0 > 10)
    }

    @Test func `a redirect is followed immediately, regardless of Retry-After`() {
        var bench = Bench()
        bench.begin()
        var head = Bench.redirect(to: "http://b.example/f")
        head.retryAfter = "3600"
        bench.respond(head)
        let opened = bench.said.contains { if case .open = $0 { true } else { false } }
        #expect(opened)
    }

    // MARK: several sources

    private func overloaded(_ seconds: Int) -> ResponseHead {
        var head = ResponseHead(status: 429)
        head.retryAfter = "\(seconds)"
        return head
    }

    /// Waits until the next attempt; the source that it goes to, and after how many seconds.
    private func next(_ bench: inout Bench) throws -> (source: Int, after: Double) {
        let alarm = try #require(bench.said.compactMap { if case .alarm(let alarm) = $0 { alarm } else { nil } }.first)
        let after = (alarm.at - bench.now).seconds
        bench.now = alarm.at
        bench.ring()
        return try (#require(opened(bench)), after)
    }

    private func opened(_ bench: Bench) -> Int? {
        bench.said.compactMap { if case .open(let order) = $0 { order.source } else { nil } }.first
    }

    @Test func `a wait that one source requests holds up no other one`() throws {
        var bench = Bench(hosts: ["a.example", "b.example", "c.example"]) { $0.retry = RetryPolicy(retries: 20) }
        bench.begin()
        bench.respond(overloaded(3600))
        let retrying = bench.said.compactMap {
            if case .notify(.retrying(let failure, after: _)) = $0 { failure } else { nil }
        }
        #expect(retrying.map(\.retryAfter) == [nil], "that is no wait of this download")
        var (source, after) = try next(&bench)
        #expect(source != 0 && after == 0)
        // A 503 without a wait: the first one is still not asked.
        for _ in 0..<5 {
            bench.respond(ResponseHead(status: 503))
            (source, _) = try next(&bench)
            #expect(source != 0)
        }
    }

    @Test func `when all request a wait, the shortest one counts`() throws {
        var bench = Bench(hosts: ["a.example", "b.example"]) { $0.retry = RetryPolicy(retries: 20) }
        bench.begin()
        bench.respond(overloaded(3600))
        _ = try next(&bench)
        bench.respond(overloaded(300))
        let (source, after) = try next(&bench)
        #expect(source == 1 && after == 300)
    }

    @Test func `beside lanes of other sources, the next lane is one of theirs`() throws {
        var bench = Bench(hosts: ["a.example", "b.example"]) { $0.ramp = .fixed(2) }
        bench.begin()
        bench.respond(overloaded(3600))
        _ = try next(&bench)
        bench.respond(Bench.whole(64 * Bench.megabyte))
        bench.progress(to: Bench.megabyte)
        bench.tick(after: 1)
        bench.respond(overloaded(3600))
        for _ in 0..<4 {
            bench.tick(after: 1)
            if let source = opened(bench) { #expect(source == 1) }
        }
    }

    @Test func `a source whose host is known to want a wait is passed over`() throws {
        var bench = Bench(hosts: ["a.example", "b.example"])
        bench.begin()
        let until = bench.now + .seconds(600)
        bench.said = bench.machine.denied(bench.lane, until: until, now: bench.now)
        #expect(opened(bench) == 1)
        #expect(!bench.machine.awaitsPlace)
        bench.said = bench.machine.denied(bench.lane, until: until, now: bench.now)
        #expect(opened(bench) == nil)
        #expect(bench.machine.awaitsPlace && bench.machine.nextAttempt == until)
    }
}
