import Pawl
import PawlSystem
import PawlTestKit
import Synchronization
import Testing

/// Logins that a program gives to a proxy, over real connections.
@Suite(
    .enabled(if: ServerProcess.isInstalled("nginx") && ServerProcess.isInstalled("python3"), "needs nginx and python3"))
struct ProxyHookTests {
    private let payload = Payload(seed: 704, length: 3_000_000)

    private final class Challenges: Sendable {
        private let texts = Mutex<[String]>([])
        var all: [String] { texts.withLock { $0 } }
        func add(_ challenge: AuthenticationChallenge) {
            let text =
                "\(challenge.isProxy) \(challenge.schemes) \(challenge.realm ?? "no realm") "
                + "\(challenge.previousFailures) \(challenge.response?.status ?? 0)"
            texts.withLock { $0.append(text) }
        }
    }

    /// nginx with one file, over HTTP and HTTPS.
    private struct SecureServer {
        let authority: TestAuthority
        let site: ServedFolder
        let nginx: NginxServer

        init(_ payload: Payload) throws {
            authority = try TestAuthority()
            site = try ServedFolder()
            try site.add("f.bin", payload)
            nginx = try NginxServer(site, authority: authority)
        }

        func url(isSecure: Bool) -> String { isSecure ? nginx.secureURL("/f.bin") : nginx.url("/f.bin") }
    }

    private func options(_ folder: TemporaryFolder, _ proxy: String, _ authority: TestAuthority) -> DownloadOptions {
        var options = DownloadOptions()
        options.folder = folder.path
        options.proxy = proxy
        options.authorityFile = authority.authority
        options.connections = 4
        options.retries = 0
        return options
    }

    @Test(arguments: ["basic", "digest"], [false, true])
    func `a proxy gets the program's login, for requests and for tunnels, on every connection`(
        scheme: String, isSecure: Bool
    ) async throws {
        let server = try SecureServer(payload)
        defer { withExtendedLifetime(server) {} }
        let proxy = try LoginProxy(scheme)
        let folder = try TemporaryFolder()
        let challenges = Challenges()
        var hooks = DownloadHooks()
        hooks.authenticate = { challenge in
            challenges.add(challenge)
            return .credentials(user: "user", password: challenge.previousFailures == 0 ? "wrong" : "secretword")
        }
        let downloader = Downloader()
        let url = server.url(isSecure: isSecure)
        let file = try await downloader.download(
            url, options: options(folder, proxy.url, server.authority), hooks: hooks)
        #expect(file.response?.status == 200)
        #expect(folder.difference("f.bin", from: payload) == nil)
        #expect(
            challenges.all.prefix(2) == ["true [\"\(scheme)\"] a proxy 0 407", "true [\"\(scheme)\"] a proxy 1 407"])
        await downloader.shutDown()
        let seen = proxy.finish()
        #expect(seen.allSatisfy { $0.hasPrefix(isSecure ? "CONNECT " : "GET ") })
        #expect(seen.last?.lowercased().hasSuffix(scheme) == true)
    }

    @Test func `the logins of a proxy and of the server behind it are counted apart`() async throws {
        let authority = try TestAuthority()
        let origin = try OriginServer()
        defer { origin.stop() }
        let url = origin.serve("/f.bin", payload) { $0.login = .basic(user: "u", password: "p") }
        let proxy = try LoginProxy("basic")
        let folder = try TemporaryFolder()
        let challenges = Challenges()
        var hooks = DownloadHooks()
        hooks.authenticate = { challenge in
            challenges.add(challenge)
            guard challenge.previousFailures == 0 else { return .cancel }
            return challenge.isProxy
                ? .credentials(user: "user", password: "secretword") : .credentials(user: "u", password: "p")
        }
        let downloader = Downloader()
        var options = options(folder, proxy.url, authority)
        options.connections = 1
        _ = try await downloader.download(url, options: options, hooks: hooks)
        #expect(folder.difference("f.bin", from: payload) == nil)
        #expect(challenges.all == ["true [\"basic\"] a proxy 0 407", "false [\"basic\"] the ratchet 0 401"])
        await downloader.shutDown()
    }

    @Test(arguments: [false, true])
    func `a proxy whose login nobody gives is a failure with its status, and nothing reaches the server`(
        isSecure: Bool
    ) async throws {
        let server = try SecureServer(payload)
        defer { withExtendedLifetime(server) {} }
        let proxy = try LoginProxy("digest")
        let folder = try TemporaryFolder()
        var hooks = DownloadHooks()
        hooks.authenticate = { $0.previousFailures == 0 ? .authorization("Bearer x") : .cancel }
        let downloader = Downloader()
        let url = server.url(isSecure: isSecure)
        let options = options(folder, proxy.url, server.authority)
        let refused = await #expect(throws: PawlError.self) { try await downloader.download(url, options: options) }
        #expect(refused?.code == .authorization && refused?.status == 407)
        let misused = await #expect(throws: PawlError.self) {
            try await downloader.download(url, options: options, hooks: hooks)
        }
        #expect(misused?.code == .badOption)
        #expect(folder.names.isEmpty)
        await downloader.shutDown()
        #expect(server.nginx.finish().isEmpty)
        #expect(proxy.finish().allSatisfy { $0.hasSuffix(" none") })
    }
}
