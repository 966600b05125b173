import Pawl
import PawlJournal
import PawlSession
import PawlSystem
import PawlTestKit
import Testing

/// Challenges about certificates, against a real TLS server.
@Suite struct CertificateTests {
    private final class Judge: DownloadTaskDelegate {
        let seen = Monitor<[SessionChallenge]>([])
        private let decide: @Sendable (SessionChallenge) -> (SessionChallenge.Disposition, SessionCredential?)

        init(_ decide: @escaping @Sendable (SessionChallenge) -> (SessionChallenge.Disposition, SessionCredential?)) {
            self.decide = decide
        }

        func urlSession(
            _ session: DownloadSession, didReceive challenge: SessionChallenge,
            completionHandler: @escaping @Sendable (SessionChallenge.Disposition, SessionCredential?) -> Void
        ) {
            seen.with { $0.append(challenge) }
            let (disposition, credential) = decide(challenge)
            completionHandler(disposition, credential)
        }
    }

    private func fetch(
        _ url: String, _ delegate: Judge?, times: Int = 1, in bench: SessionBench,
        _ adjust: (inout DownloadSessionConfiguration) -> Void = { _ in }
    ) async -> (length: Int64?, error: PawlError?) {
        var configuration = bench.configuration()
        configuration.retries = 0
        adjust(&configuration)
        let session = DownloadSession(configuration: configuration, delegate: delegate)
        defer { session.invalidateAndCancel() }
        var result: (Int64?, PawlError?) = (nil, nil)
        for _ in 0..<times {
            result = await withCheckedContinuation { continuation in
                session.downloadTask(with: url) { path, _, error in
                    continuation.resume(returning: (path.flatMap { FileSystem.size($0) }, error))
                }.resume()
            }
        }
        return result
    }

    @Test func `a server's certificates are judged by the delegate before a request is sent`() async throws {
        let bench = try SessionBench()
        let authority = try TestAuthority()
        let site = try ServedFolder()
        _ = try site.add("f", Payload(seed: 771, length: 70_000))
        let server = try NginxServer(site, authority: authority)
        let url = server.secureURL("/f")

        #expect(await fetch(url, nil, in: bench).error?.code == .insecure)
        let usual = Judge { _ in (.performDefaultHandling, nil) }
        #expect(await fetch(url, usual, in: bench).error?.code == .insecure)
        let trust = try #require(usual.seen.read { $0.first }?.protectionSpace.serverTrust)
        #expect(!trust.isTrusted)
        #expect(trust.certificates.first?.first == 0x30, "DER")

        let refusing = Judge { _ in (.rejectProtectionSpace, nil) }
        #expect(await fetch(url, refusing, in: bench).length == nil)
        let cancelling = Judge { _ in (.cancelAuthenticationChallenge, nil) }
        #expect(await fetch(url, cancelling, in: bench).error?.code == .unfinished)

        let accepting = Judge { challenge in
            guard let trust = challenge.protectionSpace.serverTrust else { return (.performDefaultHandling, nil) }
            return (.useCredential, SessionCredential(trust: trust))
        }
        #expect(await fetch(url, accepting, times: 2, in: bench).length == 70_000)
        #expect(accepting.seen.read { $0.count } == 1, "once for the session")

        // With the authority the same chain is trusted, and the delegate may still refuse it.
        let pinning = Judge { challenge in
            challenge.protectionSpace.serverTrust?.isTrusted == true
                ? (.performDefaultHandling, nil) : (.cancelAuthenticationChallenge, nil)
        }
        #expect(
            await fetch(url, pinning, in: bench) { $0.options.authorityFile = authority.authority }.length == 70_000)
        let otherName = url.replacing("127.0.0.1", with: "127.0.0.2")
        let named = Judge { _ in (.performDefaultHandling, nil) }
        _ = await fetch(otherName, named, in: bench) { $0.options.authorityFile = authority.authority }
        #expect(named.seen.read { $0.allSatisfy { $0.protectionSpace.serverTrust?.isTrusted == false } })
        // A login, or nothing, is no decision about a certificate.
        for credential in [SessionCredential(user: "ann", password: "pw"), nil] {
            let careless = Judge { _ in (.useCredential, credential) }
            #expect(await fetch(url, careless, in: bench).error?.code == .insecure)
        }
        // None of the refused ones has sent anything.
        #expect(server.finish().filter { $0.status == 200 }.count == 3)
    }

    @Test func `a client certificate is requested from the delegate and sent`() async throws {
        let bench = try SessionBench()
        let authority = try TestAuthority()
        let site = try ServedFolder()
        _ = try site.add("f", Payload(seed: 772, length: 70_000))
        let asking = "ssl_client_certificate \(authority.authority); ssl_verify_client on;"
        let server = try NginxServer(site, locations: asking, authority: authority)
        let (certificate, key) = (authority.clientCertificate, authority.clientKey)
        let identified = Judge { challenge in
            challenge.protectionSpace.authenticationMethod == SessionChallenge.ProtectionSpace.clientCertificate
                ? (.useCredential, SessionCredential(certificateFile: certificate, keyFile: key))
                : (.performDefaultHandling, nil)
        }
        let decision = await fetch(server.secureURL("/f"), identified, in: bench) {
            $0.options.authorityFile = authority.authority
        }
        #expect(decision.length == 70_000, "\(String(describing: decision.error))")
        #expect(
            identified.seen.read { $0.map(\.protectionSpace.authenticationMethod) } == [
                SessionChallenge.ProtectionSpace.serverTrust, SessionChallenge.ProtectionSpace.clientCertificate,
            ])
    }

    /// Responds to a proxy's challenges with a login, and trusts every certificate.
    private final class ProxyUser: DownloadTaskDelegate {
        let seen = Monitor<[SessionChallenge]>([])

        func urlSession(
            _ session: DownloadSession, didReceive challenge: SessionChallenge,
            completionHandler: @escaping @Sendable (SessionChallenge.Disposition, SessionCredential?) -> Void
        ) {
            seen.with { $0.append(challenge) }
            completionHandler(.performDefaultHandling, nil)
        }

        func urlSession(
            _ session: DownloadSession, task: DownloadTask, didReceive challenge: SessionChallenge,
            completionHandler: @escaping @Sendable (SessionChallenge.Disposition, SessionCredential?) -> Void
        ) {
            seen.with { $0.append(challenge) }
            let password = challenge.previousFailureCount == 0 ? "wrong" : "secretword"
            completionHandler(.useCredential, SessionCredential(user: "user", password: password))
        }
    }

    @Test(arguments: ["basic", "digest"])
    func `a proxy that requires a login for the tunnel challenges before the certificates are judged`(
        scheme: String
    ) async throws {
        let bench = try SessionBench()
        let authority = try TestAuthority()
        let site = try ServedFolder()
        _ = try site.add("f", Payload(seed: 773, length: 70_000))
        let server = try NginxServer(site, authority: authority)
        let proxy = try LoginProxy(scheme)
        var configuration = bench.configuration()
        configuration.retries = 0
        configuration.options.proxy = proxy.url
        configuration.options.authorityFile = authority.authority
        let user = ProxyUser()
        let session = DownloadSession(configuration: configuration, delegate: user)
        let (length, error): (Int64?, PawlError?) = await withCheckedContinuation { continuation in
            session.downloadTask(with: server.secureURL("/f")) { path, _, error in
                continuation.resume(returning: (path.flatMap { FileSystem.size($0) }, error))
            }.resume()
        }
        #expect(length == 70_000 && error == nil, "\(error.map { "\($0)" } ?? "")")
        let spaces = user.seen.read { $0.map(\.protectionSpace) }
        #expect(spaces.map(\.isProxy) == [true, true, false])
        #expect(spaces.last?.authenticationMethod == SessionChallenge.ProtectionSpace.serverTrust)
        session.invalidateAndCancel()
        #expect(server.finish().filter { $0.status == 200 }.count == 1)
    }
}
