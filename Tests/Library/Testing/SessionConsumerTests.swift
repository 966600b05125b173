import Pawl
import PawlSession
import PawlTesting
import Synchronization
import Testing

/// Code written for sessions, with its delegate, as a program has it.
private final class Films: DownloadSessionDelegate {
    private let noted = Mutex<[String]>([])
    let end = AsyncStream<Void>.makeStream()

    var lines: [String] { noted.withLock { $0 } }
    private func note(_ line: String) { noted.withLock { $0.append(line) } }

    func urlSession(_ session: DownloadSession, downloadTask: DownloadTask, didFinishDownloadingTo location: String) {
        note("finished with \(downloadTask.response?.statusCode ?? 0)")
    }

    func urlSession(_ session: DownloadSession, task: DownloadTask, didCompleteWithError error: PawlError?) {
        note(error.map { "failed: \($0.code.rawValue)" } ?? "complete")
        end.continuation.finish()
    }

    func urlSession(_ session: DownloadSession, task: DownloadTask, didFinishCollecting metrics: DownloadTaskMetrics) {
        let bytes = metrics.transactionMetrics.reduce(0) { $0 + $1.countOfResponseBodyBytesReceived }
        note("\(bytes) bytes over \(metrics.redirectCount) redirects")
    }

    func urlSession(
        _ session: DownloadSession, didReceive challenge: SessionChallenge,
        completionHandler: @escaping @Sendable (SessionChallenge.Disposition, SessionCredential?) -> Void
    ) {
        let isKnown = challenge.protectionSpace.host == "known.example"
        completionHandler(isKnown ? .useCredential : .cancelAuthenticationChallenge, nil)
    }
}

@Suite struct SessionConsumerTests {
    private func configuration(_ origin: StubOrigin, in folder: Scratch) -> DownloadSessionConfiguration {
        var configuration = DownloadSessionConfiguration.default
        configuration.stateFolder = folder.path
        configuration.transport = origin.transport
        return configuration
    }

    @Test func `a session downloads from a stub origin`() async throws {
        let folder = try Scratch()
        let film = makeContent(500_000)
        let origin = StubOrigin { request in
            request.path == "/old" ? .redirect(to: "https://h.example/film.mp4") : .ok(film)
        }
        let delegate = Films()
        let session = DownloadSession(configuration: configuration(origin, in: folder), delegate: delegate)
        session.downloadTask(with: "https://h.example/old").resume()
        for await _ in delegate.end.stream {}
        #expect(delegate.lines.contains("finished with 200") && delegate.lines.last == "complete")
        #expect(delegate.lines.contains("500000 bytes over 1 redirects"))
        #expect(origin.requests.map(\.path) == ["/old", "/film.mp4"])
        session.invalidateAndCancel()
    }

    @Test func `a delegate is called with values of a test`() throws {
        let folder = try Scratch()
        let delegate = Films()
        let session = DownloadSession(configuration: configuration(StubOrigin { _ in .status(404) }, in: folder))
        let task = session.downloadTask(with: "https://h.example/a")
        let moved = SessionResponse(url: "https://h.example/a", statusCode: 302)
        let metrics = DownloadTaskMetrics(
            transactionMetrics: [
                DownloadTaskTransactionMetrics(request: SessionRequest(url: "https://h.example/a"), response: moved),
                DownloadTaskTransactionMetrics(
                    request: SessionRequest(url: "https://h.example/b"),
                    response: SessionResponse(url: "https://h.example/b"), fetchStart: 1, responseEnd: 3, received: 7,
                    networkProtocolName: "h2", isReusedConnection: true),
            ], taskInterval: 0...3)
        delegate.urlSession(session, task: task, didFinishCollecting: metrics)
        #expect(delegate.lines == ["7 bytes over 1 redirects"])
        let last = try #require(metrics.transactionMetrics.last)
        #expect(last.networkProtocolName == "h2" && last.isReusedConnection && last.responseEndDate == 3)
        #expect(last.connectStartDate == nil && last.request.url == "https://h.example/b")
        let space = SessionChallenge.ProtectionSpace(
            host: "known.example", port: 443, authenticationMethod: SessionChallenge.ProtectionSpace.httpBasic)
        delegate.urlSession(session, didReceive: SessionChallenge(protectionSpace: space, task: task)) { answer, _ in
            #expect(answer == .useCredential)
        }
        session.invalidateAndCancel()
    }

    @Test func `header fields of the configuration are sent where the request has none`() async throws {
        let folder = try Scratch()
        let origin = StubOrigin { _ in .ok([1, 2, 3], headers: ["Content-Type": "text/plain; charset=UTF-8"]) }
        var configuration = configuration(origin, in: folder)
        configuration.httpAdditionalHeaders = ["X-Kind": "film", "Accept-Language": "de"]
        let delegate = Films()
        let session = DownloadSession(configuration: configuration, delegate: delegate)
        session.sessionDescription = "films"
        #expect(session.sessionDescription == "films")
        var request = SessionRequest(url: "https://h.example/a")
        request.setValue("en", forHTTPHeaderField: "accept-language")
        #expect(request.allHTTPHeaderFields.count == 1)
        let task = session.downloadTask(with: request)
        task.resume()
        for await _ in delegate.end.stream {}
        let sent = try #require(origin.requests.first)
        #expect(sent.value(of: "X-Kind") == "film" && sent.value(of: "Accept-Language") == "en")
        #expect(task.currentRequest?.url == "https://h.example/a")
        let response = try #require(task.response)
        #expect(response.mimeType == "text/plain" && response.textEncodingName == "utf-8")
        #expect(response.expectedContentLength == 3 && response.suggestedFilename == "a")
        #expect(task.countOfBytesSent == 0 && task.countOfBytesExpectedToReceive == 3)
        session.invalidateAndCancel()
    }

    @Test func `a session with an impossible number is invalid, and so are its tasks`() async throws {
        let folder = try Scratch()
        for change in [\DownloadSessionConfiguration.httpMaximumConnectionsPerHost, \.maximumConcurrentDownloads] {
            var configuration = configuration(StubOrigin { _ in .ok([1]) }, in: folder)
            configuration[keyPath: change] = 0
            let delegate = Films()
            let session = DownloadSession(configuration: configuration, delegate: delegate)
            session.downloadTask(with: "https://h.example/a").resume()
            for await _ in delegate.end.stream {}
            #expect(delegate.lines.last == "failed: 28")
            session.invalidateAndCancel()
        }
    }
}
