import Glibc
import Pawl
import PawlBase
import PawlTestKit
import Testing

/// Downloads of a queue whose disk is full, read-only or without inodes.
@Suite(.serialized, .enabled(if: MountedFolder.isAvailable, "needs root")) struct DiskWaitTests {
    private static func request(_ url: String) -> DownloadRequest {
        var request = DownloadRequest(url)
        request.options.connections = 1
        request.options.retries = 0
        return request
    }

    @Test(arguments: [Behaviour.Framing.length, .chunked])
    func `a full disk makes the queue wait, and all finish when there is room`(framing: Behaviour.Framing) async throws
    {
        let bench = try ManagerBench()
        let disk = try MountedFolder(bytes: 4 << 20)
        let manager = try await bench.open(bench.slots(2), root: disk.path)
        let payloads = (0..<4).map { Payload(seed: UInt64(40 + $0), length: 5_000_000) }
        var downloads: [Download] = []
        for (index, payload) in payloads.enumerated() {
            let url = bench.origin.serve("/f\(index)", payload) { $0.framing = framing }
            downloads.append(try await manager.add(Self.request(url)))
        }
        for download in downloads {
            let snapshot = try #require(await download.reaches(.waitingForDisk))
            #expect(snapshot.error?.code == .diskFull)
            #expect(snapshot.error?.cause?.id == "waits-for-space")
            #expect(snapshot.error?.why.hasSuffix("; continues by itself when there is space") == true)
        }
        #expect(try await manager.waitingForDisk() == 4)
        #expect(try await manager.counts().running == 0)
        let small = Payload(seed: 50, length: 10_000)
        if framing == .length {
            let other = try await manager.add(Self.request(bench.origin.serve("/small", small)))
            #expect(try await other.file.length == 10_000, "it has room")
        }
        try disk.remount("size=64m")
        for (index, download) in downloads.enumerated() {
            let file = try await download.file
            #expect(FileSystem.difference(of: file.path, from: payloads[index]) == nil)
        }
        await manager.shutDown()
    }

    @Test(arguments: ["ro", "nr_inodes=2"]) func `a read-only disk and one without inodes are waited for`(
        option: String
    ) async throws {
        let bench = try ManagerBench()
        let disk = try MountedFolder(bytes: 8 << 20)
        try FileSystem.write([1], to: disk.path("taken"))
        let manager = try await bench.open(root: disk.path)
        try disk.remount(option)
        let payload = Payload(seed: 51, length: 3_000_000)
        let download = try await manager.add(Self.request(bench.origin.serve("/f", payload)))
        let snapshot = try #require(await download.reaches(.waitingForDisk))
        let error = try #require(snapshot.error)
        #expect(snapshot.toggle == .pause)
        #expect(error.cause?.id == (option == "ro" ? "waits-for-writing" : "waits-for-files"), "\(error)")
        #expect(error.why.contains("continues by itself") && !error.description.contains("free some space"))
        #expect(error.why.contains(option == "ro" ? "Read-only" : "no inodes"), "\(error)")
        // One whose turn comes meanwhile joins it, and names its own folder.
        let other = try await manager.add(Self.request(bench.origin.serve("/g", payload)))
        let joined = try #require(await other.reaches(.waitingForDisk)?.error)
        #expect(joined.why == error.why && !joined.description.contains("f.part"), "\(joined)")
        try await other.remove()
        try disk.remount(option == "ro" ? "rw" : "nr_inodes=100")
        #expect(FileSystem.difference(of: try await download.file.path, from: payload) == nil)
        await manager.shutDown()
    }

    @Test func `one that waits is tried on command, paused and removed`() async throws {
        let bench = try ManagerBench()
        let disk = try MountedFolder(bytes: 1 << 20)
        let manager = try await bench.open(root: disk.path)
        let payload = Payload(seed: 52, length: 3_000_000)
        let download = try await manager.add(Self.request(bench.origin.serve("/f", payload)))
        await download.reaches(.waitingForDisk)
        let before = bench.origin.ended("/f").count
        #expect(try await manager.resume(download.id))
        for await snapshot in download.updates
        where snapshot.state == .waitingForDisk && bench.origin.ended("/f").count > before { break }
        #expect(try await manager.pause(download.id))
        #expect(download.snapshot.state == .paused)
        try await manager.resumeAll()
        await download.reaches(.waitingForDisk)
        try await download.remove()
        #expect(disk.names.filter { !$0.hasPrefix(".") }.isEmpty)
        await manager.shutDown()
    }

    @Test func `a queue that cannot be written refuses commands, and what runs continues`() async throws {
        let bench = try ManagerBench()
        let disk = try MountedFolder(bytes: 1 << 20)
        try #require(unsafe symlink(disk.path, bench.root.path(".pawl")) == 0)
        let manager = try await DownloadManager(root: bench.root.path)
        let (url, payload) = bench.serveStalling("/f", seed: 55)
        let download = try await manager.add(bench.request(url))
        await download.reaches(bytes: 1_000_000)
        // As far as there is room.
        try? FileSystem.write([UInt8](repeating: 1, count: 1 << 20), to: disk.path("taken"))
        var refusal: PawlError?
        for number in 0..<3_000 where refusal == nil {
            do throws(PawlError) {
                _ = try await manager.add(bench.request("http://127.0.0.1:9/\(number)") { $0.start = .paused })
            } catch { refusal = error }
        }
        #expect(refusal?.code == .diskFull, "\(String(describing: refusal))")
        bench.origin.release("/f")
        await download.reaches(bytes: payload.length)
        FileSystem.remove(disk.path("taken"))
        #expect(FileSystem.difference(of: try await download.file.path, from: payload) == nil)
        try await manager.pause(download.id)
        await manager.shutDown()
    }

    @Test func `without waiting it fails with code 9, and resuming all retries it`() async throws {
        let bench = try ManagerBench()
        let disk = try MountedFolder(bytes: 1 << 20)
        var configuration = DownloadManager.Configuration()
        configuration.waitsForDisk = false
        let manager = try await bench.open(configuration, root: disk.path)
        let payload = Payload(seed: 53, length: 3_000_000)
        let download = try await manager.add(Self.request(bench.origin.serve("/f", payload)))
        #expect(await download.reaches(.failed)?.error?.code == .diskFull)
        try disk.remount("size=16m")
        try await manager.resumeAll()
        #expect(FileSystem.difference(of: try await download.file.path, from: payload) == nil)
        await manager.shutDown()
    }
}
