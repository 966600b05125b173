import Testing

@testable import PawlBase
@testable import PawlCurl
@testable import PawlHTTP
@testable import PawlSystem

/// Transfers from hosts that a resolver of the test knows.
@Suite struct ResolvedTransferTests {
    private let lookups = Monitor<[HostQuery]>([])

    private func bench(_ result: @escaping @Sendable (HostQuery) -> HostResult) throws -> Bench {
        let bench = try Bench()
        bench.transport.http1.resolver = HostResolver(SystemClock(), idleTime: .milliseconds(20)) { [lookups] query in
            lookups.with { $0.append(query) }
            return result(query)
        }
        return bench
    }

    private func request(
        _ port: UInt16, path: String = "/file", change: (inout TransferSettings.Values) -> Void = { _ in }
    ) -> TransferRequest { TransferRequest(host: "host.example", port: port, path: path, change: change) }

    @Test func `a name is looked up once for many requests, and sent as it was given`() throws {
        let server = try ScriptedServer { _ in .body([1, 2, 3]) }
        defer { server.stop() }
        let bench = try bench { _ in .addresses(["127.0.0.1"]) }
        let recorders = (0..<8).map { _ in bench.start(request(server.port)).1 }
        try bench.run { recorders.allSatisfy { $0.end != nil } }
        #expect(recorders.allSatisfy { $0.end == .complete && $0.body == [1, 2, 3] })
        #expect(lookups.read(\.self) == [HostQuery("host.example")])
        #expect(server.requests.allSatisfy { $0.head.contains("Host: host.example:\(server.port)\r\n") })
    }

    @Test func `a lookup that ended before its deadline leaves no deadline behind`() throws {
        let server = try ScriptedServer { _ in .body([1]) }
        defer { server.stop() }
        let bench = try bench { _ in .addresses(["127.0.0.1"]) }
        #expect(try bench.fetch(request(server.port)).end == .complete)
        #expect(lookups.read(\.count) == 1)
        // A deadline that nothing waits for would end every wait of the loop at once, as soon as it has passed.
        #expect(bench.transport.begin() == nil)
    }

    @Test func `all addresses are tried`() throws {
        let server = try ScriptedServer { _ in .body([1]) }
        defer { server.stop() }
        // Nothing listens on the first two.
        let bench = try bench { _ in .addresses(["::1", "127.0.0.9", "127.0.0.1"]) }
        #expect(try bench.fetch(request(server.port)).end == .complete)
    }

    @Test func `a name that does not exist fails at once, and one that is not known for now fails later`() throws {
        let missing = try bench { _ in .missing }
        let fault = try #require(try missing.fetch(request(80)).fault)
        #expect(fault.kind == .nameMissing && fault.text == "cannot resolve the host name host.example")
        let other = try #require(try missing.fetch(request(80) { $0.ipVersion = .v6 }).fault)
        #expect(other.kind == .nameMissing && other.text == "host.example has no IPv6 address")
        #expect(lookups.read(\.count) == 2)
        let silent = try bench { _ in .unavailable }
        let unresolved = try #require(try silent.fetch(request(80)).fault)
        #expect(unresolved.kind == .nameResolution && unresolved.text.contains("DNS did not respond"))
        #expect(lookups.read(\.count) == 2 + HostCache.attempts)
    }

    @Test func `a resolver that does not respond is given up after the time for connecting`() throws {
        let isOver = Monitor(false)
        let bench = try bench { _ in
            _ = isOver.wait(until: nil) { $0 ? true : nil }
            return .missing
        }
        let fault = try bench.fetch(request(80) { $0.connectTimeout = .milliseconds(300) }).fault
        #expect(fault?.kind == .nameResolution)
        #expect(fault?.text == "cannot resolve the host name host.example: DNS did not respond within 0.3 s")
        isOver.with { $0 = true }
    }

    @Test func `a private address is refused, also as one of many`() throws {
        let server = try ScriptedServer { _ in .body([1]) }
        defer { server.stop() }
        let bench = try bench { _ in .addresses(["127.0.0.1"]) }
        let fault = try bench.fetch(request(server.port) { $0.deniesPrivateAddresses = true }).fault
        #expect(fault?.kind == .privateAddress)
        #expect(server.connections == 0)
    }

    @Test func `an address that the user gave is not looked up, nor the host behind a proxy`() throws {
        let server = try ScriptedServer { _ in .body([1]) }
        defer { server.stop() }
        let bench = try bench { _ in .missing }
        let overridden = try #require(AddressOverride("host.example:\(server.port):127.0.0.1"))
        let first = try bench.fetch(request(server.port) { $0.addressOverrides = [overridden] })
        #expect(first.end == .complete)
        let second = try bench.fetch(request(80) { $0.proxy = "http://127.0.0.1:\(server.port)" })
        #expect(second.end == .complete)
        #expect(lookups.read(\.self).isEmpty)
    }

    @Test func `a connection to an address that the user gave serves no request without it`() throws {
        let server = try ScriptedServer { _ in .body([1]) }
        defer { server.stop() }
        let bench = try bench { _ in .addresses(["127.0.0.9"]) }
        let overridden = try #require(AddressOverride("host.example:\(server.port):127.0.0.1"))
        let settings = TransferSettings(request(server.port) { $0.addressOverrides = [overridden] }.settings.values)
        for _ in 0..<2 {
            var given = request(server.port)
            given.settings = settings
            #expect(try bench.fetch(given).end == .complete)
        }
        #expect(server.connections == 1)
        #expect(try bench.fetch(request(server.port)).fault?.kind == .connectionRefused)
        #expect(server.requests.count == 2)
    }

    @Test func `libcurl's own cache does not hold other addresses back`() throws {
        let server = try ScriptedServer { _ in .init("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx", .close) }
        defer { server.stop() }
        let bench = try bench { query in .addresses(query.version == .any ? ["127.0.0.9"] : ["127.0.0.1"]) }
        #expect(try bench.fetch(request(server.port)).fault?.kind == .connectionRefused)
        #expect(try bench.fetch(request(server.port) { $0.ipVersion = .v4 }).end == .complete)
    }

    @Test func `a request that is cancelled while its host is looked up is gone`() throws {
        let server = try ScriptedServer { _ in .body([1]) }
        defer { server.stop() }
        let isOver = Monitor(false)
        let bench = try bench { _ in
            _ = isOver.wait(until: nil) { $0 ? true : nil }
            return .addresses(["127.0.0.1"])
        }
        let (id, cancelled) = bench.start(request(server.port))
        let (_, kept) = bench.start(request(server.port))
        bench.settle()
        bench.transport.cancel(id)
        isOver.with { $0 = true }
        try bench.run { kept.end != nil }
        #expect(kept.end == .complete && cancelled.events.isEmpty)
        #expect(server.requests.count == 1)
    }
}
