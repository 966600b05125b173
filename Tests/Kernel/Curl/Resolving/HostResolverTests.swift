import Testing

@testable import PawlBase
@testable import PawlCurl
@testable import PawlHTTP
@testable import PawlSystem

/// The threads that look host names up.
@Suite struct HostResolverTests {
    private struct Stage {
        var isOpen = false
        var running = 0
        var most = 0
        var lookups: [String: Int] = [:]
        var notified: [HostResult] = []
    }

    /// Lookups that wait until the stage opens.
    private let stage = Monitor(Stage())
    private let clock = SystemClock()

    private func resolver(_ result: @escaping @Sendable (String, _ attempt: Int) -> HostResult) -> HostResolver {
        HostResolver(clock, idleTime: .milliseconds(20)) { [stage] query in
            let attempt = stage.with { stage in
                stage.running += 1
                stage.most = max(stage.most, stage.running)
                stage.lookups[query.host, default: 0] += 1
                return stage.lookups[query.host] ?? 0
            }
            _ = stage.wait(until: nil) { $0.isOpen ? true : nil }
            stage.with { $0.running -= 1 }
            return result(query.host, attempt)
        }
    }

    /// Waits until the condition holds; a test that waits for minutes has failed.
    private func wait(for condition: (Stage) -> Bool) -> Bool {
        stage.wait(until: clock.now + .seconds(300)) { condition($0) ? true : nil } ?? false
    }

    private func ask(_ resolver: HostResolver, _ host: String) {
        let reply = resolver.ask(HostQuery(host)) { [stage] _, result in stage.with { $0.notified.append(result) } }
        if case .known(let result) = reply { stage.with { $0.notified.append(result) } }
    }

    @Test func `two hundred names are looked up by at most 64 threads, which end afterwards`() {
        let resolver = resolver { host, _ in .addresses([host]) }
        for number in 0..<200 {
            ask(resolver, "h\(number).example")
            ask(resolver, "h\(number).example")
        }
        #expect(wait { $0.running == 64 })
        stage.with { $0.isOpen = true }
        #expect(wait { $0.notified.count == 400 })
        let state = stage.read(\.self)
        #expect(state.most == 64)
        #expect(state.lookups.count == 200 && state.lookups.values.allSatisfy { $0 == 1 })
        #expect(Set(state.notified).count == 200)
        #expect(resolver.waitForThreads(until: clock.now + .seconds(300)))
        ask(resolver, "later.example")
        #expect(wait { $0.notified.count == 401 }, "and are started again")
    }

    @Test func `failed lookups are made again later`() {
        let resolver = resolver { _, attempt in attempt < 3 ? .unavailable : .addresses(["192.0.2.1"]) }
        stage.with { $0.isOpen = true }
        for number in 0..<20 { ask(resolver, "h\(number).example") }
        #expect(wait { $0.notified.count == 20 })
        let state = stage.read(\.self)
        #expect(state.lookups.values.allSatisfy { $0 == 3 })
        #expect(Set(state.notified) == [.addresses(["192.0.2.1"])])
    }

    @Test func `who has withdrawn is not notified`() {
        let resolver = resolver { _, _ in .missing }
        ask(resolver, "a.example")
        let query = HostQuery("a.example")
        let reply = resolver.ask(query) { _, _ in Issue.record("it was withdrawn") }
        guard case .waiting(let waiter) = reply else {
            Issue.record("nothing is known yet")
            return
        }
        resolver.withdraw(waiter, from: query)
        stage.with { $0.isOpen = true }
        #expect(wait { $0.notified == [.missing] })
        #expect(resolver.isMissing(query))
    }

    @Test func `the system's resolver knows this machine, and addresses as they are`() {
        guard case .addresses(let found) = SystemResolver.lookUp(HostQuery("localhost", .v4)) else {
            Issue.record("localhost has no address")
            return
        }
        #expect(found.contains("127.0.0.1"))
        #expect(SystemResolver.lookUp(HostQuery("2001:db8::1")) == .addresses(["2001:db8::1"]))
        #expect(SystemResolver.lookUp(HostQuery("192.0.2.1", .v6)) == .missing)
    }
}
