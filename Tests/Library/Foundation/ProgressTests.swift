import Foundation
import Pawl
import PawlFoundation
import PawlSession
import PawlSystem
import PawlTestKit
import Testing

@Suite struct ProgressTests {
    @Test func `A6 a Progress follows the download to its end`() async throws {
        let origin = try OriginServer()
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        let payload = Payload(seed: 5, length: 3_000_000)
        let url = origin.serve("/f", payload) { $0.cut = .stall(at: 2_000_000) }
        var options = DownloadOptions()
        options.folder = folder.path
        options.connections = 1
        let downloader = Downloader()
        let download = try downloader.add(url, options: options)
        let progress = download.makeProgress()
        #expect(progress.isIndeterminate)
        progress.resume()
        download.resume()
        for await snapshot in download.updates where snapshot.written == 2_000_000 { break }
        origin.release("/f")
        _ = try await download.file
        var beats = 0
        while progress.completedUnitCount < payload.length, beats < 1_000_000 {
            beats += 1
            await Task.yield()
        }
        #expect(progress.completedUnitCount == payload.length)
        #expect(progress.fractionCompleted == 1)
        await downloader.shutDown()
    }

    @Test func `the progress of an empty file finishes, of a download and of a task`() async throws {
        let origin = try OriginServer()
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        let url = origin.serve("/empty", Payload([]))
        var options = DownloadOptions()
        options.folder = folder.path
        let downloader = Downloader()
        let download = try downloader.add(url, options: options)
        let progress = download.makeProgress()
        let session = DownloadSession(configuration: .default)
        let (ended, fraction) = await withCheckedContinuation { continuation in
            let made = Monitor<DownloadTask?>(nil)
            let task = session.downloadTask(with: SessionRequest(url: url)) { _, _, _ in
                let progress = made.read { $0?.progress }
                continuation.resume(returning: (progress?.isFinished, progress?.fractionCompleted))
            }
            made.with { $0 = task }
            #expect(task.progress.isIndeterminate)
            task.resume()
        }
        #expect(ended == true && fraction == 1)
        session.invalidateAndCancel()
        download.resume()
        _ = try await download.file
        var beats = 0
        while !progress.isFinished, beats < 1_000_000 {
            beats += 1
            await Task.yield()
        }
        #expect(progress.isFinished)
        await downloader.shutDown()
    }
}
