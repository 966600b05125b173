import Glibc
import Pawl
import PawlTestKit
import Testing

/// Folders and part files that are not there any more.
@Suite struct LostPartTests {
    /// A download in the folder `disk` that was paused after it had received bytes.
    private func paused(_ bench: ManagerBench, _ manager: DownloadManager) async throws -> Download {
        let (url, _) = bench.serveStalling("/f", seed: 941)
        let download = try await manager.add(bench.request(url) { $0.options.folder = "disk" })
        await download.reaches(bytes: 1_000_000)
        try await manager.pause(download.id)
        await download.reaches(.paused)
        return download
    }

    @Test(arguments: [true, false])
    func `a download is not begun again in another folder than that with its part file`(
        isEmpty: Bool
    ) async throws {
        let bench = try ManagerBench()
        let manager = try await bench.open()
        let download = try await paused(bench, manager)
        let (folder, away) = (bench.root.path("disk"), bench.root.path("away"))
        try FileSystem.move(folder, to: away)
        if isEmpty { try #require(unsafe mkdir(folder, 0o777) == 0) }
        try await manager.resume(download.id)
        let error = await #expect(throws: PawlError.self) { try await download.file }
        #expect(error?.code == .cannotOpen, "\(String(describing: error))")
        #expect(FileSystem.names(in: folder).isEmpty)
        await manager.shutDown()
    }

    @Test func `a queue whose root was replaced adds nothing`() async throws {
        let bench = try ManagerBench()
        let manager = try await bench.open()
        try FileSystem.move(bench.root.path, to: bench.root.path + ".away")
        let error = await #expect(throws: PawlError.self) {
            try await manager.add(bench.request("http://127.0.0.1:9/f"))
        }
        #expect(error?.code == .cannotOpen, "\(String(describing: error))")
        try FileSystem.move(bench.root.path + ".away", to: bench.root.path)
        await manager.shutDown()
    }
}
