import Pawl
import PawlTestKit
import Testing

/// Pinned public keys and overridden addresses, on real TLS connections.
@Suite(.enabled(if: ServerProcess.isInstalled("nginx"), "needs nginx")) struct PinTests {
    private let payload = Payload(seed: 705, length: 6_000_000)
    private let other = "sha256//47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="

    /// The pin of a certificate, as the documentation says to get it.
    private func pin(of certificate: String) throws -> String {
        let command =
            "openssl x509 -in '\(certificate)' -noout -pubkey | openssl pkey -pubin -outform DER "
            + "| openssl dgst -sha256 -binary | base64"
        let process = try PawlProcess.run("/bin/sh", ["-c", command])
        return "sha256//" + process.output.filter { !$0.isWhitespace }
    }

    private func site() throws -> ServedFolder {
        let site = try ServedFolder()
        try site.add("f.bin", payload)
        return site
    }

    private func options(_ folder: TemporaryFolder, trusting file: String) -> DownloadOptions {
        var options = DownloadOptions()
        options.folder = folder.path
        options.authorityFile = file
        options.connections = 4
        options.retries = 0
        return options
    }

    @Test func `of several pins one has to match, on every connection`() async throws {
        let authority = try TestAuthority()
        let site = try site()
        defer { withExtendedLifetime(site) {} }
        let nginx = try NginxServer(site, authority: authority)
        let folder = try TemporaryFolder()
        var options = options(folder, trusting: authority.authority)
        let downloader = Downloader()
        options.pinnedPublicKeys = [other]
        let error = await #expect(throws: PawlError.self) {
            try await downloader.download(nginx.secureURL("/f.bin"), options: options)
        }
        #expect(error?.code == .insecure && folder.names.isEmpty)
        options.pinnedPublicKeys = [other, try pin(of: authority.certificate)]
        _ = try await downloader.download(nginx.secureURL("/f.bin"), options: options)
        #expect(folder.difference("f.bin", from: payload) == nil)
        await downloader.shutDown()
        let requests = nginx.finish()
        #expect(Set(requests.map(\.connection)).count > 1 && requests.allSatisfy { $0.status < 300 })
    }

    @Test func `a pin holds where verification is off, and for a redirect's target`() async throws {
        let authority = try TestAuthority()
        let site = try site()
        defer { withExtendedLifetime(site) {} }
        let nginx = try NginxServer(
            site, locations: "location /old { return 302 https://127.0.0.1:$arg_port/f.bin; }", authority: authority)
        let folder = try TemporaryFolder()
        var options = options(folder, trusting: authority.authority)
        options.verifiesPeer = false
        options.pinnedPublicKeys = [other]
        let downloader = Downloader()
        for url in [nginx.secureURL("/f.bin"), nginx.url("/old?port=\(nginx.securePort)")] {
            let error = await #expect(throws: PawlError.self) { try await downloader.download(url, options: options) }
            #expect(error?.code == .insecure)
        }
        options.pinnedPublicKeys = [try pin(of: authority.certificate)]
        let url = nginx.url("/old?port=\(nginx.securePort)")
        let file = try await downloader.download(url, options: options)
        #expect(file.length == payload.length)
        await downloader.shutDown()
    }

    /// The file takes minutes until there is a file `go`.
    private let slow = "set $rate 60k; if (-f $site/go) { set $rate 0; } limit_rate $rate;"

    @Test func `after a resume with another key what is on disk stays, and no request is sent`() async throws {
        let authority = try TestAuthority()
        let site = try site()
        defer { withExtendedLifetime(site) {} }
        let nginx = try NginxServer(site, locations: slow, authority: authority)
        let folder = try TemporaryFolder()
        var options = options(folder, trusting: authority.authority)
        options.connections = 1
        options.pinnedPublicKeys = [try pin(of: authority.certificate)]
        let downloader = Downloader()
        let first = try downloader.add(nginx.secureURL("/f.bin"), options: options)
        first.resume()
        for await snapshot in first.updates where snapshot.written > 100_000 { break }
        first.pause()
        for await snapshot in first.updates where snapshot.state == .paused { break }
        let written = first.snapshot.written
        await downloader.shutDown()
        try site.add("go", Payload(seed: 1, length: 1))

        let again = Downloader()
        options.pinnedPublicKeys = [other]
        let error = await #expect(throws: PawlError.self) {
            try await again.download(nginx.secureURL("/f.bin"), options: options)
        }
        #expect(error?.code == .insecure)
        #expect(folder.names.sorted() == ["f.bin.part", "f.bin.pawl"])
        options.pinnedPublicKeys = [try pin(of: authority.certificate)]
        let file = try await again.download(nginx.secureURL("/f.bin"), options: options)
        #expect(folder.difference("f.bin", from: payload) == nil)
        #expect(file.received <= payload.length - written + 1 << 20)
        await again.shutDown()
        #expect(nginx.finish().allSatisfy { $0.status < 300 })
    }

    @Test func `a mirror with another key gets no request`() async throws {
        let (right, wrong) = (try TestAuthority(), try TestAuthority())
        let site = try site()
        defer { withExtendedLifetime(site) {} }
        let (nginx, mirror) = (try NginxServer(site, authority: right), try NginxServer(site, authority: wrong))
        let folder = try TemporaryFolder()
        let both = [right.authority, wrong.authority].compactMap { FileSystem.contents($0) }.joined()
        try FileSystem.write(Array(both), to: folder.path(".authorities"))
        var options = options(folder, trusting: folder.path(".authorities"))
        options.mirrors = [mirror.secureURL("/f.bin")]
        options.pinnedPublicKeys = [try pin(of: right.certificate)]
        let downloader = Downloader()
        _ = try await downloader.download(nginx.secureURL("/f.bin"), options: options)
        #expect(folder.difference("f.bin", from: payload) == nil)
        await downloader.shutDown()
        #expect(mirror.finish().isEmpty)
    }

    @Test(arguments: [true, false])
    func `an overridden address is connected to, and the certificate verified for the name`(isNamed: Bool) async throws
    {
        let authority = try TestAuthority(names: isNamed ? "DNS:files.example" : "DNS:other.example")
        let site = try site()
        defer { withExtendedLifetime(site) {} }
        let nginx = try NginxServer(site, authority: authority)
        let folder = try TemporaryFolder()
        var options = options(folder, trusting: authority.authority)
        options.addressOverrides = ["files.example:\(nginx.securePort):127.0.0.1"]
        if isNamed { options.pinnedPublicKeys = [try pin(of: authority.certificate)] }
        let downloader = Downloader()
        let url = "https://files.example:\(nginx.securePort)/f.bin"
        let chosen = options
        if isNamed {
            _ = try await downloader.download(url, options: chosen)
            #expect(folder.difference("f.bin", from: payload) == nil)
        } else {
            let error = await #expect(throws: PawlError.self) { try await downloader.download(url, options: chosen) }
            #expect(error?.code == .insecure)
        }
        await downloader.shutDown()
        #expect(nginx.finish().isEmpty != isNamed)
    }
}
