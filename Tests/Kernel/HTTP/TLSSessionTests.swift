import CTLS
import Glibc
import PawlTestKit
import Testing

@testable import PawlBase
@testable import PawlHTTP

/// Handshakes.
@Suite struct TLSSessionTests {
    private let bench: TLSBench

    init() throws { bench = try TLSBench() }

    @Test(arguments: supportedVersions) func `both ends agree on version and cipher`(version: Int32) throws {
        let link = try bench.link(nil, bench.server(version: version))
        #expect(link.clientProgress.isDone && link.serverProgress.isDone)
        #expect(link.client.version == (version == TLS1_3_VERSION ? "TLSv1.3" : "TLSv1.2"))
        #expect(link.client.cipher != nil && link.client.cipher == link.server.cipher)
        for toClient in [true, false] {
            #expect(link.transfer(Array("some bytes".utf8), toClient: toClient) == Array("some bytes".utf8))
        }
    }

    @Test func `a server that has only TLS 1.1 is refused`() throws {
        let server = try bench.server(version: TLS1_1_VERSION)
        unsafe SSL_CTX_set_security_level(server.raw, 0)
        let fault = try #require(try bench.link(nil, server).clientProgress.fault)
        #expect(fault.kind == .tls && fault.cause.id == "tls-handshake-failed")
        #expect(fault.text == "the TLS handshake failed: tlsv1 alert protocol version")
    }

    @Test(arguments: [
        ("localhost", "localhost"), ("LocalHost.", "LocalHost"), ("127.0.0.1", nil), ("::1", nil),
        ("fe80::1%eth0", nil),
    ]) func `the host's name is sent, but no address`(host: String, name: String?) throws {
        let link = try bench.link(bench.client { $0.verifies = false }, to: TLSTarget(host: host, port: 1))
        #expect(link.clientProgress.isDone)
        let seen = unsafe SSL_get_servername(link.server.connection, TLSEXT_NAMETYPE_host_name)
        #expect(unsafe seen.map { unsafe String(cString: $0) } == name)
    }

    @Test(arguments: [
        (["h2", "http/1.1"], ["h2", "http/1.1"], "h2"), (["h2", "http/1.1"], ["http/1.1"], "http/1.1"),
        (["http/1.1"], ["h2", "http/1.1"], "http/1.1"), (["http/1.1"], ["h2"], nil), (["h2"], [], nil),
        ([], ["h2"], nil),
    ]) func `the server chooses among the protocols that are offered`(
        offered: [String], supported: [String], chosen: String?
    ) throws {
        let target = TLSTarget(host: "localhost", port: 1, protocols: offered)
        let link = try bench.link(nil, bench.server(protocols: supported), to: target)
        for progress in [link.clientProgress, link.serverProgress] {
            guard case .done(let name) = progress else {
                Issue.record("\(progress)")
                continue
            }
            #expect(name == chosen)
        }
    }

    @Test(arguments: supportedVersions) func `a client certificate is sent to a server that requests it`(
        version: Int32
    ) throws {
        let client = try bench.client {
            ($0.certificate, $0.key) = (bench.authority.clientCertificate, bench.authority.clientKey)
        }
        for isRequested in [true, false] {
            let link = try bench.link(client, bench.server(version: version, requestsCertificate: isRequested))
            #expect(link.clientProgress.isDone && link.serverProgress.isDone)
            let certificate = unsafe SSL_get1_peer_certificate(link.server.connection)
            #expect(unsafe (certificate != nil) == isRequested)
            unsafe X509_free(certificate)
        }
    }

    @Test(arguments: supportedVersions) func `a missing or rejected client certificate is named`(version: Int32) throws
    {
        // With TLS 1.3, the alert comes after the handshake.
        func fault(_ client: TLSContext, _ server: TLSContext) throws -> TransferFault? {
            let link = try bench.link(client, server)
            if let fault = link.clientProgress.fault { return fault }
            guard case .failed(let fault) = link.client.receive(100).0 else { return nil }
            return fault
        }
        let missing = try fault(bench.client(), bench.server(version: version, requestsCertificate: true))
        #expect(missing?.kind == .tls && missing?.cause.id == "client-certificate-required")
        let late = try bench.server(version: version, requestsCertificate: true)
        unsafe X509_VERIFY_PARAM_set_time(SSL_CTX_get0_param(late.raw), time(nil) + 100 * 24 * 3600)
        let client = try bench.client {
            ($0.certificate, $0.key) = (bench.authority.clientCertificate, bench.authority.clientKey)
        }
        let rejected = try fault(client, late)
        #expect(rejected?.kind == .tls && rejected?.cause.id == "client-certificate-rejected")
    }

    @Test func `a client certificate that cannot be used is named, and no password is requested`() throws {
        let folder = try TemporaryFolder()
        let locked = folder.path("locked.key")
        let arguments = ["pkey", "-in", bench.authority.clientKey, "-aes128", "-passout", "pass:word", "-out", locked]
        #expect(try PawlProcess.run("/usr/bin/openssl", arguments).exit == .code(0))
        let both = folder.path("both.pem")
        let parts = [bench.authority.clientCertificate, bench.authority.clientKey].map { FileSystem.contents($0) ?? [] }
        try FileSystem.write(parts[0] + parts[1], to: both)
        func context(_ certificate: String, _ key: String?) throws(TransferFault) -> TLSContext {
            try bench.client { ($0.certificate, $0.key) = (certificate, key) }
        }
        let certificate = bench.authority.clientCertificate
        for (certificate, key) in [
            (certificate, locked), (certificate, bench.authority.key), (certificate, nil), (certificate, "/nowhere"),
            ("/nowhere", bench.authority.clientKey), ("/etc/hostname", bench.authority.clientKey),
        ] {
            let fault = #expect(throws: TransferFault.self) { try context(certificate, key) }
            #expect(
                fault?.kind == .tls && fault?.cause.id == "client-certificate-unusable", "\(certificate) \(key ?? "")")
            #expect(fault?.text.hasSuffix(": ") == false, "\(certificate) \(key ?? "")")
        }
        #expect(throws: Never.self) { try context(both, nil) }
        // OpenSSL's own function reads from the terminal, which tests have none of.
        #expect(unsafe SSL_CTX_get_default_passwd_cb(try bench.client().raw) != nil)
    }

    @Test(arguments: ["HTTP/1.1 400 Bad Request\r\n\r\n", "220 ready\r\n", "SSH-2.0-OpenSSH_9.2\r\n"])
    func `a server without TLS is recognized`(greeting: String) throws {
        let link = try SecureLink(bench.client(), bench.server())
        link.sendPlain(Array(greeting.utf8))
        guard case .failed(let fault) = link.client.handshake() else { return #expect(Bool(false)) }
        #expect(fault.kind == .tls && fault.cause.id == "tls-not-spoken")
        #expect(fault.text == "the server does not use TLS on this port (wrong version number)")
    }

    @Test(arguments: supportedVersions) func `records of any size arrive byte by byte`(version: Int32) throws {
        let link = try SecureLink(bench.client(), bench.server(version: version), relay: Relay(piece: 1))
        link.shake()
        #expect(link.clientProgress.isDone && link.serverProgress.isDone)
        let bytes = (0..<3000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        for toClient in [true, false] { #expect(link.transfer(bytes, toClient: toClient) == bytes) }
    }

    @Test(arguments: supportedVersions) func `an end anywhere within the handshake is a lost connection`(
        version: Int32
    ) throws {
        let (client, server) = (try bench.client(), try bench.server(version: version))
        // How many bytes it takes, until the client is done.
        let whole = try Relay(piece: 1)
        let link = try SecureLink(client, server, relay: whole)
        while !link.clientProgress.isSettled { link.step() }
        #expect(link.clientProgress.isDone)
        let needed = whole.counts[1]
        // Lengths of signatures differ by a few bytes.
        for length in 0..<needed - 16 {
            let link = try SecureLink(client, server, relay: Relay(piece: 4096, toClient: length))
            let fault = try #require(link.shake().fault, "\(length) of \(needed)")
            #expect(fault.kind == .connectionLost && fault.cause.id == "tls-handshake-failed", "\(length): \(fault)")
        }
        for length in stride(from: 0, to: whole.counts[0], by: 11) {
            let link = try SecureLink(client, server, relay: Relay(piece: 4096, toServer: length))
            let fault = link.shake().fault
            #expect(fault == nil ? link.clientProgress.isDone : fault?.kind == .connectionLost)
            #expect(!link.serverProgress.isDone)
        }
    }
}
