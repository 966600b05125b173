import PawlBase
import PawlCurl
import PawlTestKit
import Testing

@testable import PawlHTTP

/// TLS, HTTP/2, FTP and SFTP, with third-party servers.
@Suite(.serialized) struct RealServerTests {
    private let content = Payload(seed: 7, length: 2_000_000)

    private func site() throws -> ServedFolder {
        let site = try ServedFolder()
        try site.add("file", content)
        return site
    }

    private func request(
        _ url: String, use: ConnectionUse = .shared, range: RequestedRange = .whole,
        change: (inout TransferSettings.Values) -> Void = { _ in }
    ) throws -> TransferRequest {
        var values = TransferSettings.Values()
        values.proxy = ""
        change(&values)
        var request = TransferRequest(address: try WebAddress.parse(url).address, settings: TransferSettings(values))
        request.connection = use
        request.range = range
        return request
    }

    @Test func `many files share HTTP 2 connections and segments do not`() throws {
        let authority = try TestAuthority()
        let site = try site()
        defer { withExtendedLifetime(site) {} }
        let nginx = try NginxServer(site, authority: authority)
        let bench = try Bench()
        var one = try request(nginx.secureURL("/file")) { $0.authorityFile = authority.authority }
        for (use, count) in [(ConnectionUse.shared, 8), (.separate, 3)] {
            one.connection = use
            let recorders = (0..<count).map { _ in bench.start(one).1 }
            try bench.run { recorders.allSatisfy { $0.end != nil } }
            #expect(recorders.allSatisfy { $0.end == .complete && $0.body == content.bytes })
        }
        let log = nginx.finish()
        let multiplexed = log.filter { $0.version == "HTTP/2.0" }
        #expect(multiplexed.count == 8)
        #expect(Set(multiplexed.map(\.connection)).count <= HTTP2Pool.mostConnections)
        let separate = log.filter { $0.version == "HTTP/1.1" }
        #expect(separate.count == 3)
        // The first handshake goes ahead, and its connection may be free when the others are sent.
        #expect(Set(separate.map(\.connection)).isDisjoint(with: multiplexed.map(\.connection)))
    }

    @Test func `content without a length is complete at the end of its stream`() throws {
        let authority = try TestAuthority()
        let site = try site()
        defer { withExtendedLifetime(site) {} }
        // With server-side includes nginx does not know the length.
        let nginx = try NginxServer(site, locations: "ssi on; ssi_types *;", authority: authority)
        let bench = try Bench()
        let one = try request(nginx.secureURL("/file")) { $0.authorityFile = authority.authority }
        let recorders = (0..<3).map { _ in bench.start(one).1 }
        try bench.run { recorders.allSatisfy { $0.end != nil } }
        #expect(recorders.allSatisfy { $0.end == .complete && $0.body == content.bytes })
        let log = nginx.finish()
        #expect(log.count == 3 && log.allSatisfy { $0.version == "HTTP/2.0" })
    }

    @Test func `a paused HTTP 2 stream does not hold up the others`() throws {
        let authority = try TestAuthority()
        let site = try site()
        defer { withExtendedLifetime(site) {} }
        let nginx = try NginxServer(site, authority: authority)
        let bench = try Bench()
        let one = try request(nginx.secureURL("/file")) { $0.authorityFile = authority.authority }
        let paused = Recorder()
        paused.onChunk = { _ in paused.body.count > 100_000 && paused.pauses == 0 ? .pause : .taken }
        let (id, _) = bench.start(one, into: paused)
        try bench.run { paused.pauses == 1 }
        let others = (0..<3).map { _ in bench.start(one).1 }
        try bench.run { others.allSatisfy { $0.end != nil } }
        #expect(others.allSatisfy { $0.body == content.bytes })
        #expect(paused.end == nil)
        bench.transport.resume(id)
        try bench.run { paused.end != nil }
        #expect(paused.body == content.bytes)
        #expect(Set(nginx.finish().map(\.connection)).count == 1)
    }

    @Test func `handles of one HTTP 2 connection serve requests with other buffers and settings`() throws {
        let authority = try TestAuthority()
        let site = try site()
        defer { withExtendedLifetime(site) {} }
        let nginx = try NginxServer(site, authority: authority)
        let bench = try Bench()
        for size in [512 * 1024, 2_048, 100_000] {
            let recorders = try (0..<6).map { _ in
                var one = try request(nginx.secureURL("/file")) { $0.authorityFile = authority.authority }
                one.bufferSize = size
                return bench.start(one).1
            }
            try bench.run { recorders.allSatisfy { $0.end != nil } }
            #expect(recorders.allSatisfy { $0.end == .complete && $0.body == content.bytes })
        }
    }

    @Test func `bytes held back for a cancelled transfer never reach another one`() throws {
        let authority = try TestAuthority()
        let site = try site()
        defer { withExtendedLifetime(site) {} }
        let nginx = try NginxServer(site, authority: authority)
        let bench = try Bench()
        let one = try request(nginx.secureURL("/file")) { $0.authorityFile = authority.authority }
        func startPausing() -> (TransferID, Recorder) {
            let recorder = Recorder()
            recorder.onChunk = { [unowned recorder] _ in
                recorder.pauses == 0 && recorder.body.count > 0 ? .pause : .taken
            }
            return bench.start(one, into: recorder)
        }
        // All on one connection, so that cancelling some leaves it in use.
        let first = (0..<6).map { _ in startPausing() }
        try bench.run { first.allSatisfy { $0.1.pauses == 1 } }
        for (id, _) in first.dropLast() { bench.transport.cancel(id) }
        let second = (0..<6).map { _ in startPausing() }
        try bench.run { second.allSatisfy { $0.1.pauses == 1 } }
        for (id, _) in first.suffix(1) + second { bench.transport.resume(id) }
        try bench.run { (first.suffix(1) + second).allSatisfy { $0.1.end != nil } }
        #expect((first.suffix(1) + second).allSatisfy { $0.1.body == content.bytes })
        #expect(first.dropLast().allSatisfy { $0.1.end == nil })
    }

    @Test(arguments: [ConnectionUse.shared, .separate])
    func `a certificate of an unknown authority is refused until it is given or checking is off`(
        use: ConnectionUse
    ) throws {
        let authority = try TestAuthority()
        let site = try site()
        defer { withExtendedLifetime(site) {} }
        let nginx = try NginxServer(site, authority: authority)
        let bench = try Bench()
        let url = nginx.secureURL("/file")
        #expect(try bench.fetch(request(url, use: use)).fault?.kind == .tls)
        #expect(try bench.fetch(request(url, use: use) { $0.verifiesPeer = false }).end == .complete)
        // The open connection of the insecure request must not serve the verifying one.
        #expect(try bench.fetch(request(url, use: use)).fault?.kind == .tls)
        #expect(try bench.fetch(request(url, use: use) { $0.authorityFile = authority.authority }).end == .complete)
        // Missing, and a file without certificates.
        for file in ["/nowhere.pem", "/etc/hostname"] {
            let refused = try bench.fetch(request(url, use: use) { $0.authorityFile = file })
            #expect(refused.fault == .unusableAuthorities, "\(file): \(refused)")
        }
    }

    @Test(arguments: [ConnectionUse.shared, .separate]) func `a certificate of another name is refused`(
        use: ConnectionUse
    ) throws {
        let authority = try TestAuthority(names: "DNS:other.example")
        let site = try site()
        defer { withExtendedLifetime(site) {} }
        let nginx = try NginxServer(site, authority: authority)
        let fetched = try Bench().fetch(
            request(nginx.secureURL("/file"), use: use) { $0.authorityFile = authority.authority })
        #expect(fetched.fault?.kind == .tls)
        #expect(fetched.heads.isEmpty)
    }

    @Test func `a client certificate is sent to the user's origin, and to no other`() throws {
        let authority = try TestAuthority()
        let site = try site()
        defer { withExtendedLifetime(site) {} }
        let asking = "ssl_client_certificate \(authority.authority); ssl_verify_client on;"
        let nginx = try NginxServer(site, locations: asking, authority: authority)
        let bench = try Bench()
        for _ in 0..<2 {
            var one = try request(nginx.secureURL("/file"), use: .separate) {
                $0.authorityFile = authority.authority
                $0.certificate = authority.certificate
                $0.key = authority.key
            }
            #expect(try bench.fetch(one).body == content.bytes)
            one.carriesSecrets = false
            #expect(try bench.fetch(one).head?.status == 400)
        }
    }

    @Test func `TLS goes through a proxy's tunnel`() throws {
        let authority = try TestAuthority()
        let site = try site()
        defer { withExtendedLifetime(site) {} }
        let nginx = try NginxServer(site, authority: authority)
        let proxy = try TinyproxyServer(user: "user", password: "secretword")
        let bench = try Bench()
        func fetch(_ login: String) throws -> Recorder {
            try bench.fetch(
                request(nginx.secureURL("/file"), use: .separate) {
                    $0.authorityFile = authority.authority
                    $0.proxy = "http://\(login)127.0.0.1:\(proxy.port)"
                })
        }
        #expect(try fetch("user:secretword@").body == content.bytes)
        #expect(try fetch("").events == [.head(407), .ended(.complete)])
        #expect(proxy.finish().allSatisfy { $0.hasPrefix("CONNECT ") })
        #expect(nginx.finish().count == 1)
    }

    @Test(.enabled(if: FTPServer.isAvailable)) func `FTP returns length and time of the file and can resume`() throws {
        let site = try site()
        try site.add("empty", Payload(seed: 1, length: 0))
        defer { withExtendedLifetime(site) {} }
        let server = try FTPServer(site)
        let bench = try Bench()
        func fetch(_ path: String, _ range: RequestedRange = .whole) throws -> Recorder {
            try bench.fetch(
                request(server.url(path), range: range) {
                    $0.credentials = Credentials(user: "anonymous", password: server.password)
                })
        }
        let whole = try fetch("/file")
        #expect(whole.events == [.head(0), .body, .ended(.complete)])
        #expect(whole.body == content.bytes)
        #expect(whole.head?.contentLength == 2_000_000)
        #expect(whole.head?.lastModified == UnixTime(seconds: ServedFolder.modified))
        let rest = try fetch("/file", .from(1_500_000))
        #expect(rest.body == Array(content.bytes[1_500_000...]))
        #expect(rest.head?.contentLength == 2_000_000)
        let end = try fetch("/file", .from(2_000_000))
        #expect(end.events == [.head(0), .ended(.complete)])
        #expect(end.head?.contentLength == 2_000_000)
        #expect(try fetch("/empty").events == [.head(0), .ended(.complete)])
        let beyond = try fetch("/file", .from(2_000_001))
        #expect(beyond.events == [.head(0), .ended(.complete)])
        #expect(beyond.head?.contentLength == 2_000_000)
        #expect(try fetch("/missing").fault?.kind == .notFound)
        #expect(try fetch("/missing/file").fault?.kind == .notFound)
        #expect(try fetch("/").fault?.kind == .notFound)
        _ = server.finish()
    }

    @Test(.enabled(if: FTPServer.isAvailable)) func `FTP with a wrong password is denied`() throws {
        let site = try site()
        defer { withExtendedLifetime(site) {} }
        let server = try FTPServer(site)
        let wrong = try request(server.url("/file")) {
            $0.credentials = Credentials(user: "anonymous", password: "not-the-word")
        }
        let fault = try Bench().fetch(wrong).fault
        #expect(fault?.kind == .denied)
        #expect(fault?.text.contains("not-the-word") == false)
        _ = server.finish()
    }

    @Test(.enabled(if: SSHServer.isAvailable)) func `SFTP returns length and time of the file and can resume`() throws {
        let site = try site()
        let server = try SSHServer(site)
        defer { server.finish() }
        let bench = try Bench()
        func fetch(_ path: String, _ range: RequestedRange = .whole) throws -> Recorder {
            try bench.fetch(
                request(server.url(path), range: range) {
                    $0.credentials = Credentials(user: server.user, password: server.password)
                    // Host keys belong to the home folder, which is shared by the whole process.
                    $0.verifiesPeer = false
                })
        }
        let whole = try fetch(site.path + "/file")
        #expect(whole.events == [.head(0), .body, .ended(.complete)])
        #expect(whole.body == content.bytes)
        #expect(whole.head?.contentLength == 2_000_000)
        #expect(whole.head?.lastModified == UnixTime(seconds: ServedFolder.modified))
        let rest = try fetch(site.path + "/file", .from(1_500_000))
        #expect(rest.body == Array(content.bytes[1_500_000...]))
        #expect(rest.head?.contentLength == 2_000_000)
        let beyond = try fetch(site.path + "/file", .from(2_000_001))
        #expect(beyond.events == [.head(0), .ended(.complete)])
        #expect(beyond.head?.contentLength == 2_000_000)
        #expect(try fetch(site.path + "/missing").fault?.kind == .notFound)
    }
}
