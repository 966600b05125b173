import PawlBase
import Testing

@testable import PawlHTTP

/// Connections over one version of the Internet Protocol.
@Suite struct IPVersionTests {
    private func settings(_ version: IPVersion) -> TransferSettings {
        var values = TransferSettings.Values()
        values.proxy = ""
        values.ipVersion = version
        return TransferSettings(values)
    }

    private func fault(of end: TransferEnd?) throws -> TransferFault {
        guard case .failed(let fault) = end else {
            throw Unexpected(description: "it ended with \(String(describing: end))")
        }
        return fault
    }

    private struct Unexpected: Error, CustomStringConvertible { let description: String }

    @Test func `a name is reached over the version only, and no connection of another is reused`() throws {
        let server = try ScriptedServer { _ in .body([1, 2, 3]) }
        defer { server.stop() }
        let bench = try Bench()
        let address = try WebAddress.parse("http://localhost:\(server.port)/f").address
        for version in [IPVersion.any, .v4, .v4] {
            let request = TransferRequest(address: address, settings: settings(version))
            #expect(try bench.fetch(request).end == .complete)
        }
        #expect(server.connections == 2)
        // The server listens on 127.0.0.1 only.
        let end = try bench.fetch(TransferRequest(address: address, settings: settings(.v6))).end
        #expect(try [.connectionRefused, .nameMissing, .nameResolution].contains(fault(of: end).kind))
        #expect(server.connections == 2)
    }

    @Test(arguments: [
        (IPVersion.v6, "127.0.0.1", "127.0.0.1 has no IPv6 address"), (.v4, "[::1]", "::1 has no IPv4 address"),
    ]) func `an address of the other version is refused`(version: IPVersion, host: String, text: String) throws {
        let address = try WebAddress.parse("http://\(host):1/f").address
        let end = try Bench().fetch(TransferRequest(address: address, settings: settings(version))).end
        #expect(try fault(of: end).kind == .nameMissing)
        #expect(try fault(of: end).text == text)
    }
}
