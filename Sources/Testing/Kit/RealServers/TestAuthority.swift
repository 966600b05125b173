/// An untrusted certificate authority, and certificates that it signed, created with the `openssl` program.
package final class TestAuthority: Sendable {
    private let folder: TemporaryFolder
    /// The authority's certificate, PEM.
    package var authority: String { folder.path("authority.pem") }
    /// The server's certificate and key, PEM.
    package var certificate: String { folder.path("server.pem") }
    package var key: String { folder.path("server.key") }
    /// A client's certificate and key, PEM.
    package var clientCertificate: String { folder.path("client.pem") }
    package var clientKey: String { folder.path("client.key") }

    /// `names` as `subjectAltName` writes them (RFC 5280 §4.2.1.6).
    package init(names: String = "DNS:localhost,IP:127.0.0.1,IP:::1") throws(SetupFailure) {
        folder = try TemporaryFolder()
        let curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        try run(
            ["req", "-x509", "-days", "2", "-subj", "/CN=Pawl test authority", "-out", "authority.pem"] + [
                "-keyout", "authority.key",
            ] + curve)
        try FileSystem.write(Array("subjectAltName=\(names)\n".utf8), to: folder.path("server.names"))
        try FileSystem.write(Array("extendedKeyUsage=clientAuth\n".utf8), to: folder.path("client.names"))
        for name in ["server", "client"] {
            try run(["req", "-subj", "/CN=Pawl test \(name)", "-out", "request", "-keyout", "\(name).key"] + curve)
            try run([
                "x509", "-req", "-in", "request", "-CA", "authority.pem", "-CAkey", "authority.key", "-CAcreateserial",
                "-days", "2", "-extfile", "\(name).names", "-out", "\(name).pem",
            ])
        }
    }

    private func run(_ arguments: [String]) throws(SetupFailure) {
        let process = try PawlProcess.run("/usr/bin/openssl", arguments, folder: folder.path)
        guard process.exit == .code(0) else { throw SetupFailure("openssl: \(process.errors)", 22) }
    }
}
