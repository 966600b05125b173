import Foundation
import Pawl
import PawlFoundation
import PawlSession
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

        init(destination: URL) { self.destination = destination }

        func urlSession(
            _ session: DownloadSession,
            downloadTask: DownloadTask,
            didFinishDownloadingTo location: URL
        ) {
            try? FileManager.default.moveItem(at: location, to: destination)
            heard.with { $0.append("finish") }
        }

        func urlSession(
            _ session: DownloadSession,
            downloadTask: DownloadTask,
            didWriteData bytesWritten: Int64,
            totalBytesWritten: Int64,
            totalBytesExpectedToWrite: Int64
        ) {
            if totalBytesWritten >= 1_000_000 { heard.with { $0.append("much") } }
        }

        func urlSession(
            _ session: DownloadSession,
            task: DownloadTask,
            didCompleteWithError error: PawlError?
        ) {
            let data = (error as NSError?)?.userInfo[NSURLSessionDownloadTaskResumeData] as? Data
            let code = (error as NSError?)?.code ?? 0
            heard.with { $0.append("complete \(code) \(data?.isEmpty == false)") }
        }

        func urlSession(_ session: DownloadSession, didBecomeInvalidWithError error: PawlError?) {
            heard.with { $0.append("over") }
        }

        func until(_ line: String) async {
            await withCheckedContinuation { continuation in
                Worker.detached {
                    _ = self.heard.wait { $0.contains(line) ? true : nil }
                    continuation.resume()
                }
            }
        }
    }

    @Test func `B3 B6 code for NSURLSession finds URLs, and resume data in the error`() async throws {
        let origin = try Origin()
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
        request.setValue("yes", forHTTPHeaderField: "X-Asked")
        let task = session.downloadTask(with: request)
        task.resume()
        await delegate.until("much")
        let produced = await withCheckedContinuation { continuation in
            task.cancel(byProducingResumeData: { data in continuation.resume(returning: data) })
        }
        let data: Data = try #require(produced)
        await delegate.until("complete 7 false")
        #expect(origin.log.of("/f").first?.request.header("X-Asked") == "yes")

        origin.adjust("/f") { $0.instead = .status(403) }
        let failing = session.downloadTask(withResumeData: data)
        failing.resume()
        await delegate.until("complete 22 true")
        let kept = try #require(failing.error?.errorUserInfo[NSURLSessionDownloadTaskResumeData] as? Data)
        #expect(try ResumeData(kept).received == ResumeData(data).received)

        origin.adjust("/f") { ($0.cut, $0.instead) = (nil, nil) }
        session.downloadTask(withResumeData: kept).resume()
        await delegate.until("complete 0 false")
        #expect(folder.difference("moved", from: payload) == nil)
        session.invalidateAndCancel()
        await delegate.until("over")
    }

    @Test func `the queue and the downloader accept URLs and return Data`() async throws {
        let origin = try Origin()
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        let url = try #require(URL(string: origin.serve("/f", payload)))
        let manager = try await DownloadManager(root: URL(fileURLWithPath: folder.path))
        let file = try await manager.add(url).file
        #expect(file.url.path == folder.path("f"))
        #expect(try await manager.download(of: url) != nil)
        #expect(try await manager.location(ofSource: url) == .finished(path: folder.path("f")))
        #expect(try await manager.data(from: url).count == 3_000_000)
        #expect(DownloadRequest(url).source == url.absoluteString)
        await manager.shutDown()
        let downloader = Downloader()
        #expect(try await downloader.data(from: url).count == 3_000_000)
        #expect(try downloader.add(url).source == url.absoluteString)
        downloader.shutDown()
    }
}
