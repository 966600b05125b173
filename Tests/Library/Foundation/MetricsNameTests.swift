import Foundation
import Pawl
import PawlFoundation
import PawlSession
import PawlSystem
import PawlTestKit
import Testing

/// Metrics under the names of `URLSession`; a file that imports FoundationNetworking has to choose one of the two types.
@Suite struct MetricsNameTests {
    private final class Measuring: URLDownloadTaskDelegate {
        let redirects = Monitor<[Int]>([])

        func urlSession(
            _ session: DownloadSession, task: DownloadTask, didFinishCollecting metrics: URLSessionTaskMetrics
        ) {
            let last: URLSessionTaskTransactionMetrics? = metrics.transactionMetrics.last
            guard metrics.taskInterval.duration >= 0, last != nil else { return }
            redirects.with { $0.append(metrics.redirectCount) }
        }
    }

    @Test func `a method for the metrics of URLSession is called`() async throws {
        let origin = try OriginServer()
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        var configuration = DownloadSessionConfiguration.default
        configuration.stateFolder = folder.path("state")
        let session = DownloadSession(configuration: configuration)
        defer { session.invalidateAndCancel() }
        let target = origin.serve("/target", Payload(Array("target".utf8)))
        let measuring = Measuring()
        await withCheckedContinuation { continuation in
            let url = origin.redirect("/start", to: target)
            let task = session.downloadTask(with: SessionRequest(url: url)) { (_: String?, _, _) in
                continuation.resume()
            }
            task.delegate = measuring
            task.resume()
        }
        #expect(measuring.redirects.read { $0 } == [1])
    }
}
