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
        try run(
            ["req", "-x509", "-days", "2", "-subj", "/CN=Pawl test authority", "-out", "authority.pem"] + [
                "-keyout", "authority.key",
            ] + Self.curve)
        _ = try issue("server", subject: "Pawl test server", extensions: ["subjectAltName=\(names)"])
        _ = try issue("client", subject: "Pawl test client", extensions: ["extendedKeyUsage=clientAuth"])
    }

    private static let curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]

    /// A further certificate, with X.509 extensions as in `openssl.cnf`: the PEM files of it and of its key.
    ///
    /// It is signed by the authority, or by the further one of that name.
    package func issue(
        _ name: String, subject: String, extensions: [String], signedBy issuer: String = "authority"
    ) throws(SetupFailure) -> (certificate: String, key: String) {
        try FileSystem.write(Array(extensions.joined(separator: "\n").utf8), to: folder.path("\(name).names"))
        try run(["req", "-subj", "/CN=\(subject)", "-out", "\(name).request", "-keyout", "\(name).key"] + Self.curve)
        try run([
            "x509", "-req", "-in", "\(name).request", "-CA", "\(issuer).pem", "-CAkey", "\(issuer).key", "-CAserial",
            "\(name).serial", "-CAcreateserial", "-days", "2", "-extfile", "\(name).names", "-out", "\(name).pem",
        ])
        return (folder.path("\(name).pem"), folder.path("\(name).key"))
    }

    private func run(_ arguments: [String]) throws(SetupFailure) {
        let process = try PawlProcess.run("/usr/bin/openssl", arguments, folder: folder.path)
        guard process.exit == .code(0) else { throw SetupFailure("openssl: \(process.errors)", 22) }
    }
}
