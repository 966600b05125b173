import Foundation
import Pawl
import PawlFoundation
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
        downloader.shutDown()
    }
}
