import Testing

@testable import PawlBase

/// The steps of each kind of connection, one by one.
@Suite struct EstablishmentStepTests {
    private let now = Instant(nanoseconds: 0)
    private let refused = TransferFault(.connectionRefused, LocalizableMessage("system-refused", "connection refused"))
    private let endpoint = Endpoint("203.0.113.1", port: 443)
    private let addresses = HostResult.addresses(["203.0.113.1", "2001:db8::1"])

    private func terms(
        _ url: String, proxy: String = "", _ change: (inout TransferSettings.Values) -> Void = { _ in }
    ) throws -> ConnectTerms {
        var values = TransferSettings.Values()
        values.proxy = proxy
        change(&values)
        let address = try WebAddress.parse(url).address
        return ConnectTerms(address, values, by: try ProxyRoute.route(to: address, values, environment: { _ in nil }))
    }

    private func steps(_ machine: inout Establishment) -> [Establishment.Step] {
        var steps: [Establishment.Step] = []
        while let step = machine.next() { steps.append(step) }
        return steps
    }

    private func receive(_ machine: inout Establishment, _ text: String) -> [Establishment.Step] {
        receive(&machine, Array(text.utf8))
    }

    private func receive(_ machine: inout Establishment, _ bytes: [UInt8]) -> [Establishment.Step] {
        unsafe bytes.withUnsafeBytes { unsafe machine.received($0, at: now) }
        return steps(&machine)
    }

    /// An establishment whose first attempt has connected, and its steps since then.
    private func connected(_ terms: ConnectTerms) -> (Establishment, [Establishment.Step]) {
        var machine = Establishment(terms, at: now)
        if case .resolve = steps(&machine).last {
            machine.resolved(addresses, at: now)
            _ = steps(&machine)
        }
        machine.connected(0, at: now)
        let steps = steps(&machine)
        return (machine, steps)
    }

    private func connect(_ target: String, _ authorization: String? = nil) -> Establishment.Step {
        .send(ProxyTunnel.request(to: target, authorization: authorization, userAgent: ""))
    }

    @Test func `plain and TLS`() throws {
        var machine = Establishment(try terms("http://host.example:443/"), at: now)
        #expect(steps(&machine) == [.resolve(HostQuery("host.example"))])
        machine.resolved(addresses, at: now)
        guard case .open(let attempt) = steps(&machine).first else {
            Issue.record("nothing is opened")
            return
        }
        #expect(attempt.number == 0 && attempt.endpoint == endpoint)
        machine.connected(0, at: now + .seconds(1))
        #expect(steps(&machine) == [.ready(0)] && machine.isOver && machine.due == nil)
        #expect(machine.timing.lookupStart == now && machine.timing.connectEnd == now + .seconds(1))
        var (secure, first) = connected(try terms("https://host.example/"))
        #expect(first == [.secure(.origin)])
        secure.secured(at: now + .seconds(2))
        #expect(steps(&secure) == [.ready(0)])
        #expect(secure.timing.secureStart == now && secure.timing.secureEnd == now + .seconds(2))
        #expect(secure.timing.connectEnd == now + .seconds(2))
    }

    @Test func `HTTP proxies`() throws {
        let plain = try terms("http://host.example/", proxy: "http://p.example")
        #expect(plain.usesAbsoluteForm && connected(plain).1 == [.ready(0)])
        var (tunnel, first) = connected(try terms("https://host.example/", proxy: "http://p.example"))
        #expect(first == [connect("host.example:443")] && tunnel.wantsBytes)
        #expect(receive(&tunnel, "HTTP/1.1 200 OK\r\n") == [])
        #expect(receive(&tunnel, "\r\n") == [.secure(.origin)] && !tunnel.wantsBytes)
        var (double, start) = connected(try terms("https://host.example/", proxy: "https://p.example"))
        #expect(start == [.secure(.proxy)])
        double.secured(at: now)
        #expect(steps(&double) == [connect("host.example:443")])
        // An address that was given is where the tunnel leads.
        let given = try terms("http://host.example/", proxy: "p.example") {
            $0.addressOverrides = [AddressOverride("host.example:80:::1")].compactMap { $0 }
        }
        #expect(!given.usesAbsoluteForm && connected(given).1 == [connect("[::1]:80")])
    }

    @Test func `a demanded login is sent over the same connection, or over another to the same address`() throws {
        let terms = try terms("https://host.example/", proxy: "http://user:word@p.example")
        let demand = "HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm=\"r\"\r\n"
        let login = Credentials(user: "user", password: "word")
        let ask = Establishment.Step.authorize(
            LoginChallenge.parse("Basic realm=\"r\""), login, target: "host.example:443")
        var (kept, _) = connected(terms)
        #expect(receive(&kept, demand + "Content-Length: 2\r\n\r\nno") == [ask])
        kept.authorize("Basic x", at: now)
        #expect(steps(&kept) == [connect("host.example:443", "Basic x")])
        // The login was wrong.
        guard case .refused(let head) = receive(&kept, demand + "\r\n").last else {
            Issue.record("asked again")
            return
        }
        #expect(head.status == 407 && kept.isOver)

        var (closed, _) = connected(terms)
        #expect(receive(&closed, demand + "Connection: close\r\n\r\n") == [ask])
        closed.authorize("Basic x", at: now)
        let again = steps(&closed)
        #expect(again.first == .close(0) && again.count == 2)
        closed.connected(1, at: now)
        #expect(steps(&closed) == [connect("host.example:443", "Basic x")])

        var (lost, _) = connected(terms)
        #expect(receive(&lost, demand + "Content-Length: 2\r\n\r\n") == [])
        lost.failed(0, .noResponse, at: now)
        #expect(steps(&lost) == [ask])
    }

    @Test func `SOCKS proxies`() throws {
        let request: [UInt8] = [5, 1, 0, 3, 12] + Array("host.example".utf8) + [1, 0xBB]
        var (there, first) = connected(try terms("https://host.example/", proxy: "socks5h://p.example"))
        #expect(first == [.send([5, 1, 0])])
        #expect(receive(&there, [5, 0]) == [.send(request)])
        #expect(receive(&there, [5, 0, 0, 1, 0, 0, 0, 0, 0, 0]) == [.secure(.origin)])

        var here = Establishment(try terms("http://host.example/", proxy: "socks4://p.example"), at: now)
        #expect(
            steps(&here) == [.resolve(HostQuery("host.example", .v4))], "the host first: without it nothing is opened")
        here.resolved(.addresses(["203.0.113.1"]), at: now)
        #expect(steps(&here) == [.resolve(HostQuery("p.example"))])
        here.resolved(addresses, at: now)
        _ = steps(&here)
        here.connected(0, at: now)
        #expect(steps(&here) == [.send([4, 1, 0, 80, 203, 0, 113, 1, 0])])
        #expect(
            receive(&here, [0, 90, 0, 0, 0, 0, 0, 0, 7]).last
                == .failed(TransferFault(.proxy, TransferFault.tooLong.cause)))

        var missing = Establishment(try terms("http://host.example/", proxy: "socks5://p.example"), at: now)
        _ = steps(&missing)
        missing.resolved(.missing, at: now)
        #expect(steps(&missing) == [.failed(.noHost("host.example"))])
        var six = Establishment(try terms("http://[::1]/", proxy: "socks4://p.example"), at: now)
        #expect(steps(&six) == [.failed(.noAddress(of: "::1", version: .v4))])
    }

    @Test func `what needs no lookup`() throws {
        let given: (inout TransferSettings.Values) -> Void = {
            $0.addressOverrides = [AddressOverride("*:80:203.0.113.1")].compactMap { $0 }
        }
        for (terms, text) in [
            (try terms("http://203.0.113.9/"), "203.0.113.9"), (try terms("http://[2001:db8::9]/"), "2001:db8::9"),
            (try terms("http://localhost/"), "::1"),
            (try terms("http://localhost/") { $0.ipVersion = .v4 }, "127.0.0.1"),
            (try terms("http://host.example/", given), "203.0.113.1"),
        ] {
            var machine = Establishment(terms, at: now)
            guard case .open(let attempt) = steps(&machine).first else {
                Issue.record("\(text) is looked up")
                return
            }
            #expect(attempt.endpoint == Endpoint(text, port: 80))
        }
        var other = Establishment(try terms("http://[::1]/") { $0.ipVersion = .v4 }, at: now)
        #expect(steps(&other) == [.failed(.noAddress(of: "::1", version: .v4))])
    }

    @Test(
        arguments: [
            ("", .connectionRefused, "no connection to host.example port 80: connection refused"),
            ("http://u:word@p.example:1/", .proxy, "no connection to the proxy http://p.example:1: connection refused"),
        ] as [(String, TransferFault.Kind, String)])
    func `the sentence of a refused connection`(proxy: String, kind: TransferFault.Kind, text: String) throws {
        var machine = Establishment(try terms("http://host.example/", proxy: proxy), at: now)
        _ = steps(&machine)
        machine.resolved(.addresses(["203.0.113.1"]), at: now)
        _ = steps(&machine)
        machine.failed(0, refused, at: now)
        guard case .failed(let fault) = steps(&machine).last else {
            Issue.record("no end")
            return
        }
        #expect(fault.kind == kind && fault.text == text)
    }

    @Test func `a lack of descriptors is not the host's`() throws {
        var machine = Establishment(try terms("http://203.0.113.1/"), at: now)
        _ = steps(&machine)
        machine.failed(0, .noDescriptor, at: now)
        #expect(steps(&machine) == [.failed(.noDescriptor)])
    }

    @Test(arguments: [
        ("", true, "cannot resolve the host name host.example: DNS did not respond within 5.0 s"),
        ("", false, "no connection within 5.0 s"),
        ("http://p.example", true, "no connection by way of the proxy http://p.example within 5.0 s"),
        ("http://p.example", false, "no connection by way of the proxy http://p.example within 5.0 s"),
    ]) func `the sentence of a timeout`(proxy: String, isLookup: Bool, text: String) throws {
        var machine = Establishment(
            try terms("https://host.example/", proxy: proxy) { $0.connectTimeout = .seconds(5) }, at: now)
        if !isLookup {
            machine.resolved(addresses, at: now)
            machine.connected(0, at: now)
        }
        _ = steps(&machine)
        #expect(machine.due == now + .seconds(5))
        machine.passed(now + .seconds(4))
        #expect(steps(&machine) == [])
        machine.passed(now + .seconds(5))
        guard case .failed(let fault) = steps(&machine).last else {
            Issue.record("no end")
            return
        }
        #expect(fault.text == text)
        #expect(fault.kind == (isLookup && proxy.isEmpty ? .nameResolution : .connectTimeout))
    }

    @Test func `with many hosts a lookup is not waited for as long as a connection`() throws {
        var machine = Establishment(try terms("http://host.example/") { $0.usesManyHosts = true }, at: now)
        _ = steps(&machine)
        #expect(machine.due == now + .seconds(2))
        machine.passed(now + .seconds(2))
        #expect(steps(&machine) == [.failed(.unresolved("host.example", within: .seconds(2)))])
    }

    @Test func `a judge has all the time, and a server that did not wait is connected to once more`() throws {
        var (machine, _) = connected(try terms("https://host.example/"))
        machine.held(at: now + .seconds(10))
        #expect(machine.due == nil)
        machine.passed(now + .seconds(1000))
        #expect(steps(&machine) == [])
        machine.decided(at: now + .seconds(1010))
        #expect(machine.due == now + .seconds(1030))
        let lost = TransferFault(.connectionLost, foreign: "lost")
        machine.failed(0, lost, at: now + .seconds(1011))
        guard case .open(let attempt) = steps(&machine).last else {
            Issue.record("it is not tried again")
            return
        }
        #expect(attempt.number == 1 && attempt.endpoint == Endpoint("203.0.113.1", port: 443))
        machine.connected(1, at: now + .seconds(1012))
        machine.failed(1, lost, at: now + .seconds(1013))
        #expect(steps(&machine) == [.secure(.origin), .failed(lost)])
    }
}
