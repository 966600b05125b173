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

/// A task's own delegate with Foundation's types, and the session's delegate behind it.
@Suite struct ForwardingTests {
    /// Decides nothing itself.
    private final class Plain: URLDownloadTaskDelegate {}

    /// Drops every completion handler.
    private final class Forgetful: URLDownloadTaskDelegate {
        func urlSession(
            _ session: DownloadSession, task: DownloadTask, willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
        ) {}

        func urlSession(
            _ session: DownloadSession, task: DownloadTask, didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {}
    }

    /// Decides with the session's own types, and calls each handler twice.
    private final class Deciding: DownloadTaskDelegate {
        private let follows: Bool
        private let queue: OperationQueue
        let isElsewhere = Monitor(false)

        init(follows: Bool, queue: OperationQueue) {
            self.follows = follows
            self.queue = queue
        }

        func urlSession(
            _ session: DownloadSession, task: DownloadTask, willPerformHTTPRedirection response: SessionResponse,
            newRequest request: SessionRequest, completionHandler: @escaping @Sendable (SessionRequest?) -> Void
        ) {
            if OperationQueue.current !== queue { isElsewhere.with { $0 = true } }
            completionHandler(follows && response.statusCode == 302 ? request : nil)
            completionHandler(nil)
        }

        func urlSession(
            _ session: DownloadSession, task: DownloadTask, didReceive challenge: SessionChallenge,
            completionHandler: @escaping @Sendable (SessionChallenge.Disposition, SessionCredential?) -> Void
        ) {
            if OperationQueue.current !== queue { isElsewhere.with { $0 = true } }
            completionHandler(.useCredential, SessionCredential(user: "ann", password: "pw"))
            completionHandler(.cancelAuthenticationChallenge, nil)
        }
    }

    private struct Bench {
        let origin: OriginServer
        let folder: TemporaryFolder

        init() throws {
            origin = try OriginServer()
            folder = try TemporaryFolder()
        }

        func configuration(_ identifier: String? = nil) -> DownloadSessionConfiguration {
            var configuration =
                identifier.map { DownloadSessionConfiguration.background(withIdentifier: $0) } ?? .default
            configuration.stateFolder = folder.path("state")
            configuration.retries = 0
            return configuration
        }

        /// The response and its file's text.
        func result(
            of url: String, in session: DownloadSession, _ delegate: any DownloadTaskDelegate
        ) async throws -> (status: Int?, text: String) {
            let (file, response) = try await session.download(from: try #require(URL(string: url)), delegate: delegate)
            let text = try String(contentsOf: file, encoding: .utf8)
            try FileManager.default.removeItem(at: file)
            return ((response as? HTTPURLResponse)?.statusCode, text)
        }
    }

    @Test(arguments: [false, true])
    func `a dropped decision is none, whether the task's or the session's delegate drops it`(
        isOfTask: Bool
    ) async throws {
        let bench = try Bench()
        defer { bench.origin.stop() }
        let session = DownloadSession(configuration: bench.configuration(), delegate: isOfTask ? Plain() : Forgetful())
        defer { session.invalidateAndCancel() }
        let own: any DownloadTaskDelegate = isOfTask ? Forgetful() : Plain()
        let target = bench.origin.serve("/target", Payload(Array("target".utf8)))
        let url = bench.origin.redirect("/start", to: target)
        let error = await #expect(throws: URLError.self) { try await bench.result(of: url, in: session, own) }
        #expect(error?.pawlError?.code == .rejected)
        #expect(bench.origin.log.of("/target").isEmpty)
        let locked = bench.origin.serve("/locked", Payload(Array("secret".utf8))) {
            $0.login = .basic(user: "ann", password: "pw")
        }
        #expect(try await bench.result(of: locked, in: session, own).status == 401)
    }

    @Test(arguments: [false, true])
    func `a session's delegate with other types decides, on its queue, and its first decision holds`(
        follows: Bool
    ) async throws {
        let bench = try Bench()
        defer { bench.origin.stop() }
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        let deciding = Deciding(follows: follows, queue: queue)
        let session = DownloadSession(configuration: bench.configuration(), delegate: deciding, delegateQueue: queue)
        defer { session.invalidateAndCancel() }
        let target = bench.origin.serve("/target", Payload(Array("target".utf8))) {
            $0.login = .basic(user: "ann", password: "pw")
        }
        let url = bench.origin.redirect("/start", to: target)
        let result = try await bench.result(of: url, in: session, Plain())
        #expect(result.status == (follows ? 200 : 302))
        #expect((result.text == "target") == follows)
        #expect(bench.origin.log.of("/target").isEmpty == !follows)
        #expect(deciding.isElsewhere.read { $0 } == false)
    }

    @Test func `a task that was cancelled before uses no resume data`() async throws {
        let bench = try Bench()
        defer { bench.origin.stop() }
        let session = DownloadSession(configuration: bench.configuration())
        defer { session.invalidateAndCancel() }
        let payload = Payload(seed: 31, length: 3_000_000)
        let url = bench.origin.serve("/f", payload) { $0.cut = .stall(from: 2_000_000) }
        let first = session.downloadTask(with: SessionRequest(url: url)) { (_: String?, _, _) in }
        first.resume()
        while first.countOfBytesReceived < 1_000_000 { await Task.yield() }
        let data: Data = try #require(await first.cancelByProducingResumeData())
        bench.origin.adjust("/f") { $0.cut = nil }
        let cancelled = Task {
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            _ = try await session.download(resumeFrom: data)
        }
        let error = await #expect(throws: URLError.self) { try await cancelled.value }
        #expect(error?.code == .cancelled)
        let (file, _) = try await session.download(resumeFrom: data)
        #expect(try Data(contentsOf: file).count == Int(payload.length))
        try FileManager.default.removeItem(at: file)
    }

    @Test func `a second session of an identifier fails every download, also later ones`() async throws {
        let bench = try Bench()
        defer { bench.origin.stop() }
        let first = DownloadSession(configuration: bench.configuration("films"))
        defer { first.invalidateAndCancel() }
        #expect(await first.allTasks.isEmpty)
        let second = DownloadSession(configuration: bench.configuration("films"))
        let url = bench.origin.serve("/f", Payload(Array("text".utf8)))
        for _ in 0..<2 {
            let error = await #expect(throws: URLError.self) { try await bench.result(of: url, in: second, Plain()) }
            #expect(error?.pawlError?.code == .alreadyDownloading)
        }
        #expect(bench.origin.log.of("/f").isEmpty)
    }
}
