import Glibc
import Pawl
import PawlTestKit
import Testing

/// Folders and part files that are not there any more.
@Suite struct LostPartTests {
    /// The content of ``ManagerBench/serveStalling(_:seed:)``.
    private let payload = Payload(seed: 941, length: 3_000_000)

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
    func `a download waits for the folder with its part file, and continues when it is there again`(
        isEmpty: Bool
    ) async throws {
        let bench = try ManagerBench()
        let manager = try await bench.open()
        let download = try await paused(bench, manager)
        let (folder, away) = (bench.root.path("disk"), bench.root.path("away"))
        try FileSystem.move(folder, to: away)
        if isEmpty { try #require(unsafe mkdir(folder, 0o777) == 0) }
        try await manager.resume(download.id)
        let snapshot = try #require(await download.reaches(.waitingForDisk))
        #expect(snapshot.error?.code == .cannotOpen, "\(String(describing: snapshot.error))")
        #expect(FileSystem.names(in: folder).isEmpty)
        // Others on the disk of the root do not wait with it.
        let other = try await manager.add(bench.request(bench.origin.serve("/g", Payload(seed: 5, length: 100))))
        #expect(try await other.file.length == 100)
        _ = bench.origin.serve("/f", payload)
        if isEmpty { try #require(unsafe rmdir(folder) == 0) }
        try FileSystem.move(away, to: folder)
        #expect(FileSystem.difference(of: try await download.file.path, from: payload) == nil)
        #expect(bench.origin.ended("/f").last?.bodyStart ?? 0 > 900_000, "it continued")
        await manager.shutDown()
    }

    @Test func `one that waits for its folder is begun again when the user starts it over`() async throws {
        let bench = try ManagerBench()
        let manager = try await bench.open()
        let download = try await paused(bench, manager)
        try FileSystem.move(bench.root.path("disk"), to: bench.root.path("away"))
        try await manager.resume(download.id)
        await download.reaches(.waitingForDisk)
        _ = bench.origin.serve("/f", payload)
        #expect(try await manager.startOver(download.id))
        #expect(FileSystem.difference(of: try await download.file.path, from: payload) == nil)
        await manager.shutDown()
    }

    @Test func `without waiting for disks it fails`() async throws {
        let bench = try ManagerBench()
        var configuration = DownloadManager.Configuration()
        configuration.waitsForDisk = false
        let manager = try await bench.open(configuration)
        let download = try await paused(bench, manager)
        try FileSystem.move(bench.root.path("disk"), to: bench.root.path("away"))
        try await manager.resume(download.id)
        let error = await #expect(throws: PawlError.self) { try await download.file }
        #expect(error?.code == .cannotOpen, "\(String(describing: error))")
        await manager.shutDown()
    }

    @Test(arguments: [true, false]) func `a root that had a queue and is not there does not get a new one`(
        isEmpty: Bool
    ) async throws {
        let (folder, state) = (try TemporaryFolder(), try TemporaryFolder())
        let (root, away) = (folder.path("root"), folder.path("away"))
        var configuration = DownloadManager.Configuration()
        configuration.stateFolder = state.path
        await (try await DownloadManager(root: root, configuration)).shutDown()
        await (try await DownloadManager(root: root, configuration)).shutDown()
        try FileSystem.move(root, to: away)
        if isEmpty { try #require(unsafe mkdir(root, 0o777) == 0) }
        let error = await #expect(throws: PawlError.self) { try await DownloadManager(root: root, configuration) }
        #expect(error?.code == .cannotOpen, "\(String(describing: error))")
        #expect(FileSystem.names(in: root).isEmpty)
        if !isEmpty { try #require(unsafe mkdir(root, 0o777) == 0) }
        try #require(unsafe mkdir(root + "/.pawl", 0o700) == 0)
        await (try await DownloadManager(root: root, configuration)).shutDown()
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
