import PawlBase
import Testing

@testable import PawlHTTP

/// Connections from a given interface or address.
@Suite struct InterfaceTests {
    private func settings(_ interface: String?) -> TransferSettings {
        var values = TransferSettings.Values()
        values.proxy = ""
        values.interface = interface
        return TransferSettings(values)
    }

    @Test func `connections use the given address, and only the download's own are reused`() throws {
        let server = try ScriptedServer { _ in .body([1, 2, 3]) }
        defer { server.stop() }
        let bench = try Bench()
        for interface in [nil, "127.0.0.2", "127.0.0.3", "127.0.0.2"] {
            // Each download has its own settings.
            let request = TransferRequest(port: server.port, settings: settings(interface))
            #expect(try bench.fetch(request).end == .complete)
        }
        #expect(server.requests.map(\.peer) == ["127.0.0.1", "127.0.0.2", "127.0.0.3", "127.0.0.2"])
        #expect(server.connections == 3)
    }

    @Test func `an interface is accepted by its name`() throws {
        let server = try ScriptedServer { _ in .body([1]) }
        defer { server.stop() }
        let request = TransferRequest(port: server.port, settings: settings("lo"))
        #expect(try Bench().fetch(request).end == .complete)
    }

    @Test(arguments: ["nonesuch0", "203.0.113.9"]) func `a missing interface is a network that is down`(
        interface: String
    ) throws {
        let server = try ScriptedServer { _ in .body([1]) }
        defer { server.stop() }
        let request = TransferRequest(port: server.port, settings: settings(interface))
        let end = try Bench().fetch(request).end
        guard case .failed(let fault) = end else {
            Issue.record("it ended with \(String(describing: end))")
            return
        }
        #expect(fault.kind == .unreachable, "\(fault.text)")
        #expect(server.connections == 0)
    }
}
