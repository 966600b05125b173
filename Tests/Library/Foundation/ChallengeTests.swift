import Foundation
import Pawl
import PawlFoundation
import PawlSession
import PawlSystem
import PawlTestKit
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Challenges with Foundation's types.
@Suite struct ChallengeTests {
    /// Responds to every challenge in the same way, whatever its method is.
    private final class Careless: URLDownloadTaskDelegate {
        private let credential: @Sendable (URLAuthenticationChallenge) -> URLCredential?

        init(_ credential: @escaping @Sendable (URLAuthenticationChallenge) -> URLCredential?) {
            self.credential = credential
        }

        func urlSession(
            _ session: DownloadSession, task: DownloadTask, didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            guard challenge.previousFailureCount == 0 else {
                return completionHandler(.cancelAuthenticationChallenge, nil)
            }
            completionHandler(.useCredential, credential(challenge))
        }
    }

    private func status(
        _ url: String, in folder: TemporaryFolder,
        _ credential: @escaping @Sendable (URLAuthenticationChallenge) -> URLCredential?
    ) async throws -> Int? {
        var configuration = DownloadSessionConfiguration.default
        configuration.stateFolder = folder.path("state")
        configuration.retries = 0
        let session = DownloadSession(configuration: configuration, delegate: Careless(credential))
        defer { session.invalidateAndCancel() }
        let (file, response) = try await session.download(from: try #require(URL(string: url)))
        try FileManager.default.removeItem(at: file)
        return (response as? HTTPURLResponse)?.statusCode
    }

    @Test func `only a credential made from its certificates accepts a server`() async throws {
        let folder = try TemporaryFolder()
        let authority = try TestAuthority()
        let site = try ServedFolder()
        _ = try site.add("f", Payload(seed: 23, length: 70_000))
        let server = try NginxServer(site, authority: authority)
        let url = server.secureURL("/f")
        #expect(
            try await status(url, in: folder) { $0.protectionSpace.serverTrust.map { URLCredential(trust: $0) } } == 200
        )
        let logins: [@Sendable (URLAuthenticationChallenge) -> URLCredential?] = [
            { _ in nil }, { _ in URLCredential(user: "ann", password: "pw", persistence: .forSession) },
            { _ in URLCredential(user: "", password: "", persistence: .none) },
            { _ in ClientCertificate(certificateFile: "/none.pem") },
        ]
        for login in logins {
            let error = await #expect(throws: URLError.self) { try await status(url, in: folder, login) }
            #expect(error?.code == .serverCertificateUntrusted)
        }
        #expect(server.finish().filter { $0.status == 200 }.count == 1)
    }
}
