import CTLS
import Glibc
import PawlTestKit
import Testing

@testable import PawlBase
@testable import PawlHTTP
@testable import PawlSystem

/// Which certificates are trusted, and for which hosts.
@Suite struct TLSTrustTests {
    private let bench: TLSBench

    init() throws { bench = try TLSBench() }

    private func fault(
        _ client: TLSContext, _ server: TLSContext? = nil, host: String = "localhost"
    ) throws
        -> TransferFault?
    { try bench.link(client, server, to: TLSTarget(host: host, port: 1)).clientProgress.fault }

    /// Not the one of all tests, whose second connection would find it in a store.
    private static let other = Result { () throws(SetupFailure) in try TestAuthority() }

    @Test func `a named authority is trusted, and no other`() throws {
        let other = try Self.other.get()
        let server = try bench.server()
        #expect(try fault(bench.client(), server) == nil)
        for authorities in [other.authority, nil] {
            let fault = try fault(bench.client { $0.authorities = authorities }, server)
            #expect(fault?.kind == .tls && fault?.cause.id == "certificate-not-trusted")
            #expect(fault?.text == "its certificate is not trusted: unable to get local issuer certificate")
            #expect(
                try self.fault(bench.client { ($0.authorities, $0.verifies) = (authorities, false) }, server) == nil)
        }
    }

    @Test(arguments: ["/nowhere.pem", "/etc/hostname"]) func `a file without authorities is a fault of its own`(
        file: String
    ) throws {
        #expect(throws: TransferFault.unusableAuthorities) { try bench.client { $0.authorities = file } }
        // Only where authorities count.
        #expect(try fault(bench.client { ($0.authorities, $0.verifies) = (file, false) }) == nil)
    }

    @Test func `a file that was replaced is read again`() throws {
        let other = try Self.other.get()
        let folder = try TemporaryFolder()
        let file = folder.path("authorities.pem")
        try FileSystem.write(FileSystem.contents(other.authority) ?? [], to: file)
        #expect(try fault(bench.client { $0.authorities = file })?.cause.id == "certificate-not-trusted")
        let new = folder.path("new.pem")
        try FileSystem.write(FileSystem.contents(bench.authority.authority) ?? [], to: new)
        try FileSystem.move(new, to: file)
        #expect(try fault(bench.client { $0.authorities = file }) == nil)
    }

    @Test func `the system's folder comes first, and the bundle only where a chain needs it`() throws {
        let folder = try TemporaryFolder()
        let empty = try TemporaryFolder()
        let authority = FileSystem.contents(bench.authority.authority) ?? []
        try FileSystem.write(authority, to: folder.path("authority.crt"))
        #expect(try PawlProcess.run("/usr/bin/openssl", ["rehash", folder.path]).exit == .code(0))
        let server = try bench.server()
        func look(
            _ folder: TemporaryFolder, _ bundle: String?, _ server: TLSContext
        ) throws -> (Bool, readsBundle: Bool) {
            let trust = try TrustStore(folder: folder.path, bundle: bundle)
            let isTrusted = try fault(TLSContext(TLSSettings(), trust), server) == nil
            // The same for a further connection.
            let again = try fault(TLSContext(TLSSettings(), trust), server) == nil
            #expect(again == isTrusted)
            return (isTrusted, trust.isWhole)
        }
        #expect(try look(folder, bench.authority.authority, server) == (true, false))
        #expect(try look(folder, nil, server) == (true, false))
        #expect(try look(empty, bench.authority.authority, server) == (true, true))
        #expect(try look(empty, nil, server) == (false, false))
        #expect(try look(empty, "/nowhere", server) == (false, true))
        let stranger = try Self.other.get()
        let others = try bench.server((stranger.certificate, stranger.key))
        #expect(try look(folder, bench.authority.authority, others) == (false, true))
        #expect(try look(folder, stranger.authority, others) == (true, true))
    }

    @Test func `threads share a context, and may find at once that the bundle is needed`() throws {
        let (server, empty) = (try bench.server(), try TemporaryFolder())
        for _ in 0..<5 {
            let trust = try TrustStore(folder: empty.path, bundle: bench.authority.authority)
            let client = try TLSContext(TLSSettings(), trust)
            let done = Monitor(0)
            let threads = (0..<4).map { _ in
                SystemThread.start {
                    let link = try? bench.link(client, server)
                    if link?.clientProgress.isDone == true { done.with { $0 += 1 } }
                }
            }
            for thread in threads { thread.join() }
            #expect(done.read { $0 } == 4)
        }
    }

    @Test func `an intermediate authority may be the anchor`() throws {
        let authority = try TestAuthority()
        let usage = ["basicConstraints=critical,CA:TRUE", "keyUsage=keyCertSign"]
        let middle = try authority.issue("middle", subject: "Pawl middle", extensions: usage)
        let files = try authority.issue(
            "leaf", subject: "leaf", extensions: ["subjectAltName=DNS:localhost"], signedBy: "middle")
        let server = try bench.server(files)
        #expect(try fault(bench.client { $0.authorities = middle.certificate }, server) == nil)
        // The server does not send the intermediate one.
        let fault = try fault(bench.client { $0.authorities = authority.authority }, server)
        #expect(fault?.cause.id == "certificate-not-trusted")
    }

    @Test(arguments: [
        ("expired", 100, "its certificate is not trusted: certificate has expired"),
        ("early", -100, "its certificate is not trusted: certificate is not yet valid"),
    ]) func `the time counts, and is named before the host`(name: String, days: Int, text: String) throws {
        let trust = try TrustStore(file: bench.authority.authority)
        let client = try TLSContext(TLSSettings(), trust)
        unsafe X509_VERIFY_PARAM_set_time(SSL_CTX_get0_param(client.raw), time(nil) + days * 24 * 3600)
        for host in ["localhost", "other.example"] {
            let fault = try fault(client, host: host)
            #expect(fault?.kind == .tls && fault?.text == text)
        }
    }

    private static let names: [(subject: String, names: String?, host: String, matches: Bool)] = [
        ("other", "DNS:localhost", "localhost", true), ("other", "DNS:localhost", "LOCALHOST", true),
        ("other", "DNS:localhost", "localhost.", true), ("other", "DNS:localhost", "local.host", false),
        ("cn.example.test", nil, "cn.example.test", true), ("cn.example.test", nil, "example.test", false),
        ("cn.example.test", "DNS:other.example.test", "cn.example.test", false),
        ("cn.example.test", "IP:127.0.0.1", "cn.example.test", false),
        ("cn.example.test", "email:a@b.test", "cn.example.test", false),
        ("other", "DNS:*.example.test", "a.example.test", true),
        ("other", "DNS:*.example.test", "a.example.test.", true),
        ("other", "DNS:*.example.test", "example.test", false),
        ("other", "DNS:*.example.test", "a.b.example.test", false),
        ("other", "DNS:w*.example.test", "www.example.test", false),
        ("other", "DNS:www.*.test", "www.example.test", false), ("other", "DNS:*.test", "example.test", false),
        ("other", "DNS:*", "localhost", false), ("*.example.test", nil, "a.example.test", true),
        ("other", "IP:127.0.0.1", "127.0.0.1", true), ("other", "IP:127.0.0.1", "127.0.0.2", false),
        ("other", "DNS:127.0.0.1", "127.0.0.1", false), ("127.0.0.1", nil, "127.0.0.1", false),
        ("other", "DNS:*.0.0.1", "127.0.0.1", false), ("other", "IP:::1", "::1", true),
        ("other", "IP:::1", "0:0::1", true), ("other", "IP:fe80::1", "fe80::1%eth0", true),
        ("other", "IP:::1", "::2", false), ("other", "IP:127.0.0.1", "localhost", false),
    ]

    @Test(arguments: names.indices) func `a certificate is for its names and addresses`(index: Int) throws {
        let row = Self.names[index]
        let extensions = ["basicConstraints=CA:FALSE"] + (row.names.map { ["subjectAltName=\($0)"] } ?? [])
        let server = try bench.server(
            bench.authority.issue("names-\(index)", subject: row.subject, extensions: extensions))
        let fault = try fault(bench.client(), server, host: row.host)
        #expect((fault == nil) == row.matches, "\(row)")
        if let fault {
            #expect(fault.kind == .tls && fault.cause.id == "certificate-of-other-host")
            #expect(fault.text == "its certificate is for another host")
        }
        #expect(try self.fault(bench.client { $0.verifies = false }, server, host: row.host) == nil)
    }

    @Test(arguments: [true, false], supportedVersions) func `one of the pinned keys has to match, also unverified`(
        verifies: Bool, version: Int32
    ) throws {
        let (own, other) = (
            try bench.pin(of: bench.authority.certificate), try bench.pin(of: bench.authority.authority)
        )
        func fault(_ pins: [String]) throws -> TransferFault? {
            try self.fault(bench.client { ($0.verifies, $0.pins) = (verifies, pins) }, bench.server(version: version))
        }
        #expect(try fault([own]) == nil)
        #expect(try fault([other, own]) == nil)
        for pins in [
            [other], [other, other], ["sha256//"], ["sha256//AAAA"], ["nonsense"], [String(own.dropFirst(8))],
        ] {
            let fault = try fault(pins)
            #expect(fault?.kind == .publicKey && fault?.cause.id == "fault-key-not-pinned", "\(pins)")
        }
    }

    @Test func `a certificate that is not trusted is named before its key`() throws {
        let pin = try bench.pin(of: bench.authority.authority)
        let fault = try fault(bench.client { ($0.pins, $0.authorities) = ([pin], nil) })
        #expect(fault?.cause.id == "certificate-not-trusted")
    }

    @Test func `the settings of a transfer, for its server and for a proxy`() {
        var values = TransferSettings.Values()
        values.authorityFile = "a"
        values.verifiesPeer = false
        values.pinnedPublicKeys = ["sha256//x", "sha256//y"]
        values.certificate = "c"
        values.key = "k"
        var expected = TLSSettings()
        (expected.authorities, expected.verifies) = ("a", false)
        #expect(TLSSettings(values, carriesSecrets: true, isProxy: true) == expected)
        expected.pins = values.pinnedPublicKeys
        #expect(TLSSettings(values, carriesSecrets: false) == expected)
        (expected.certificate, expected.key) = ("c", "k")
        #expect(TLSSettings(values, carriesSecrets: true) == expected)
        values.acceptedKey = "sha256//z"
        expected.pins = ["sha256//z"]
        #expect(TLSSettings(values, carriesSecrets: true) == expected)
    }
}
