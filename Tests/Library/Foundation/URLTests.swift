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

/// Code written for Foundation: `URL`, `URLRequest` and `Data`.
@Suite struct URLTests {
    private let payload = Payload(seed: 21, length: 3_000_000)

    /// A delegate ported from NSURLSession by changing the names of types.
    private final class Delegate: URLDownloadSessionDelegate {
        private let destination: URL
        let heard = Monitor<[String]>([])

        private let queue: OperationQueue?

        init(destination: URL, queue: OperationQueue? = nil) {
            self.destination = destination
            self.queue = queue
        }

        func urlSession(_ session: DownloadSession, downloadTask: DownloadTask, didFinishDownloadingTo location: URL) {
            if let queue, OperationQueue.current !== queue { heard.with { $0.append("elsewhere") } }
            try? FileManager.default.moveItem(at: location, to: destination)
            heard.with { $0.append("finish") }
        }

        func urlSession(
            _ session: DownloadSession, downloadTask: DownloadTask, didWriteData bytesWritten: Int64,
            totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
        ) { if totalBytesWritten >= 1_000_000 { heard.with { $0.append("much") } } }

        func urlSession(_ session: DownloadSession, task: DownloadTask, didCompleteWithError error: (any Error)?) {
            let data = (error as NSError?)?.userInfo[NSURLSessionDownloadTaskResumeData] as? Data
            let code = (error as NSError?)?.code ?? 0
            if let error { heard.with { $0.append((error as NSError).domain) } }
            heard.with { $0.append("complete \(code) \(data?.isEmpty == false)") }
        }

        func urlSession(_ session: DownloadSession, didBecomeInvalidWithError error: (any Error)?) {
            heard.with { $0.append("over") }
        }

        func until(_ line: String) async {
            let isHeard = await withCheckedContinuation { continuation in
                SystemThread.detached {
                    let found = self.heard.wait { $0.contains(line) ? true : nil }
                    continuation.resume(returning: found != nil)
                }
            }
            #expect(isHeard, "\(line), \(heard.read(\.self))")
        }
    }

    @Test func `B3 B6 code for NSURLSession finds URLs, and resume data in the error`() async throws {
        let origin = try OriginServer()
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        let address = origin.serve("/f", payload) { $0.cut = .stall(at: 2_000_000) }
        let url = try #require(URL(string: address))
        var configuration = DownloadSessionConfiguration.default
        configuration.stateFolder = folder.path("state")
        configuration.retries = 1
        // It stalls until the test has reached this point, however slow the machine is.
        configuration.timeoutIntervalForRequest = 3600
        let delegate = Delegate(destination: URL(fileURLWithPath: folder.path("moved")))
        let session = DownloadSession(configuration: configuration, delegate: delegate)

        var request = URLRequest(url: url)
        request.setValue("yes", forHTTPHeaderField: "X-Extra")
        let task = session.downloadTask(with: request)
        task.resume()
        await delegate.until("much")
        let produced = await withCheckedContinuation { continuation in
            task.cancel(byProducingResumeData: { data in continuation.resume(returning: data) })
        }
        let data: Data = try #require(produced)
        await delegate.until("complete \(URLError.Code.cancelled.rawValue) true")
        #expect(origin.log.of("/f").first?.request.header("X-Extra") == "yes")

        origin.adjust("/f") { $0.instead = .status(403) }
        let failing = session.downloadTask(withResumeData: data)
        failing.resume()
        await delegate.until("complete \(URLError.Code.userAuthenticationRequired.rawValue) true")
        let kept = try #require(failing.error?.errorUserInfo[NSURLSessionDownloadTaskResumeData] as? Data)
        #expect(try DownloadResumeData(kept).received == DownloadResumeData(data).received)
        #expect((failing.error as (any Error)? as? URLError)?.downloadTaskResumeData == kept)

        origin.adjust("/f") { ($0.cut, $0.instead) = (nil, nil) }
        session.downloadTask(withResumeData: kept).resume()
        await delegate.until("complete 0 false")
        #expect(folder.difference("moved", from: payload) == nil)
        session.invalidateAndCancel()
        await delegate.until("over")
        #expect(delegate.heard.read { $0 }.contains(NSURLErrorDomain))
    }

    @Test func `a delegate is called on its queue, and a task shows its progress`() async throws {
        let origin = try OriginServer()
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        let url = try #require(URL(string: origin.serve("/f", payload)))
        var configuration = DownloadSessionConfiguration.default
        configuration.stateFolder = folder.path("state")
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        let delegate = Delegate(destination: URL(fileURLWithPath: folder.path("moved")), queue: queue)
        let session = DownloadSession(configuration: configuration, delegate: delegate, delegateQueue: queue)
        let task = session.downloadTask(with: url)
        let progress = task.progress
        #expect(progress.isIndeterminate && progress === task.progress)
        task.resume()
        await delegate.until("complete 0 false")
        #expect(folder.difference("moved", from: payload) == nil)
        #expect(progress.completedUnitCount == payload.length && progress.totalUnitCount == payload.length)
        session.invalidateAndCancel()
        await delegate.until("over")
        #expect(!delegate.heard.read { $0 }.contains("elsewhere"))
    }

    @Test func `a file is awaited, and cancelling the task that waits cancels it`() async throws {
        let origin = try OriginServer()
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        let url = try #require(URL(string: origin.serve("/f", payload)))
        var configuration = DownloadSessionConfiguration.default
        configuration.stateFolder = folder.path("state")
        configuration.timeoutIntervalForRequest = 3600
        let session = DownloadSession(configuration: configuration)
        let (file, response) = try await session.download(from: url)
        defer { try? FileManager.default.removeItem(at: file) }
        #expect((response as? HTTPURLResponse)?.statusCode == 200)
        #expect(try Data(contentsOf: file) == Data(payload.bytes))

        origin.adjust("/f") { $0.cut = .stall(after: 1000) }
        let waiting = Task { try await session.download(from: url) }
        await withCheckedContinuation { continuation in
            SystemThread.detached {
                origin.wait(held: 1, of: "/f")
                continuation.resume()
            }
        }
        waiting.cancel()
        let error = await #expect(throws: URLError.self) { try await waiting.value }
        #expect(error?.code == .cancelled && error?.pawlError?.code == .unfinished)
        #expect(origin.waitUntilQuiet("/f"))
        session.invalidateAndCancel()
        await #expect(throws: URLError.self) { try await session.download(from: url) as (URL, URLResponse) }
    }

    /// As Apple's examples look at errors and responses.
    private final class Idioms: URLDownloadSessionDelegate {
        let heard = Monitor<[String]>([])

        func urlSession(_ session: DownloadSession, downloadTask: DownloadTask, didFinishDownloadingTo location: URL) {
            guard let response = downloadTask.response as? HTTPURLResponse else { return }
            heard.with { $0.append("finish \(response.statusCode)") }
        }

        func urlSession(_ session: DownloadSession, task: DownloadTask, didCompleteWithError error: (any Error)?) {
            let code = (error as? URLError)?.code
            heard.with { $0.append(code == .cancelled ? "cancelled" : "\(code.map { "\($0.rawValue)" } ?? "done")") }
            if (task.error as? URLError)?.code != code { heard.with { $0.append("another error") } }
        }

        func until(_ count: Int) async {
            let isHeard = await withCheckedContinuation { continuation in
                SystemThread.detached {
                    let found = self.heard.wait { $0.count >= count ? true : nil }
                    continuation.resume(returning: found != nil)
                }
            }
            #expect(isHeard, "\(heard.read(\.self))")
        }
    }

    @Test func `errors are of URLError and responses HTTPURLResponse, as ported code asks`() async throws {
        let origin = try OriginServer()
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        let url = try #require(URL(string: origin.serve("/f", payload)))
        let stalled = try #require(URL(string: origin.serve("/s", payload) { $0.cut = .stall(after: 1000) }))
        let missing = try #require(URL(string: origin.url("/none")))
        var configuration = DownloadSessionConfiguration.default
        configuration.stateFolder = folder.path("state")
        configuration.retries = 0
        configuration.timeoutIntervalForRequest = 3600
        let delegate = Idioms()
        let session = DownloadSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
        for (number, url) in [url, missing].enumerated() {
            session.downloadTask(with: url).resume()
            await delegate.until(2 * (number + 1))
        }
        let task = session.downloadTask(with: stalled)
        task.resume()
        await withCheckedContinuation { continuation in
            SystemThread.detached {
                origin.wait(held: 1, of: "/s")
                continuation.resume()
            }
        }
        task.cancel()
        await delegate.until(5)
        #expect(delegate.heard.read { $0 } == ["finish 200", "done", "finish 404", "done", "cancelled"])

        #expect((task.error as? URLError)?.failingURL == stalled)

        let refused = try #require(URL(string: "http://127.0.0.1:1/f?key=1"))
        let error: URLError? = await withCheckedContinuation { continuation in
            session.downloadTask(with: refused) { file, response, error in
                let isNone = file == nil && (response as? HTTPURLResponse) == nil
                continuation.resume(returning: isNone ? error as? URLError : nil)
            }.resume()
        }
        #expect(error?.code == .cannotConnectToHost && error?.failingURL == refused)
        #expect(error?.localizedDescription.contains("key=1") == false)
        session.invalidateAndCancel()
    }

    @Test func `a URLRequest that is no download is refused`() async throws {
        let url = try #require(URL(string: "http://127.0.0.1:1/f"))
        var post = URLRequest(url: url, timeoutInterval: 3)
        post.httpMethod = "POST"
        post.httpBody = Data([1])
        let request = SessionRequest(post)
        #expect(request.httpMethod == "POST" && request.httpBody == [1] && request.timeoutInterval == 3)
        #expect(SessionRequest(URLRequest(url: url)).timeoutInterval == nil)
        let session = DownloadSession(configuration: .default)
        let error = await withCheckedContinuation { continuation in
            session.downloadTask(with: post) { _, _, error in continuation.resume(returning: error) }.resume()
        }
        #expect((error as? URLError)?.pawlError?.code == .badOption)
        session.invalidateAndCancel()
    }

    @Test func `the queue and the downloader accept URLs and return Data`() async throws {
        let origin = try OriginServer()
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        let url = try #require(URL(string: origin.serve("/f", payload)))
        let manager = try await DownloadManager(root: URL(fileURLWithPath: folder.path))
        let file = try await manager.add(url).file
        #expect(file.url.path == folder.path("f"))
        #expect(try await manager.download(ofURL: url) != nil)
        #expect(try await manager.location(ofURL: url) == .finished(path: folder.path("f")))
        #expect(try await manager.data(from: url).count == 3_000_000)
        #expect(DownloadRequest(url).source == url.absoluteString)
        await manager.shutDown()
        let downloader = Downloader()
        #expect(try await downloader.data(from: url).count == 3_000_000)
        #expect(try downloader.add(url).source == url.absoluteString)
        await downloader.shutDown()
    }
}
