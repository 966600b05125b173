import Glibc
import Pawl
import PawlQueue
import PawlTestKit
import Testing

@Suite struct RelocationTests {
    private let payload = Payload(seed: 831, length: 1000)

    @Test func `a finished file moves to another folder, and its record with it`() async throws {
        let bench = try ManagerBench()
        var manager = try await bench.open()
        let download = try await manager.add(bench.request(bench.origin.serve("/f", payload)))
        _ = try await download.file
        #expect(try await manager.relocate(download.id, toFolder: "a/b"))
        #expect(try await manager.location(of: download.id) == .finished(path: bench.root.path("a/b/f")))
        #expect(bench.root.difference("a/b/f", from: payload) == nil)
        #expect(!bench.root.names.contains("f"))
        #expect(try await manager.relocate(download.id, toFolder: "a/b"), "it is there already")
        await manager.shutDown()
        manager = try await bench.open()
        #expect(try await manager.location(of: download.id) == .finished(path: bench.root.path("a/b/f")))
        #expect(try await manager.relocate(download.id, toFolder: ""))
        #expect(bench.root.names.contains("f"))
        #expect(try await !manager.relocate(Download.ID(rawValue: 1), toFolder: "a"))
        await manager.shutDown()
    }

    @Test(arguments: [true, false]) func `a move that a kill interrupted leaves one name, that of the record`(
        isStored: Bool
    ) async throws {
        let bench = try ManagerBench()
        var manager = try await bench.open()
        let download = try await manager.add(bench.request(bench.origin.serve("/f", payload)))
        _ = try await download.file
        if isStored { #expect(try await manager.relocate(download.id, toFolder: "a\nb")) }
        await manager.shutDown()
        // The move gives the file its new name, stores the record, and removes the old name.
        let (from, to) = (bench.root.path("f"), bench.root.path("a\nb/f (1)"))
        if isStored {
            try FileSystem.move(bench.root.path("a\nb/f"), to: to)
            #expect(unsafe link(to, from) == 0)
        } else {
            #expect(unsafe mkdir(bench.root.path("a\nb"), 0o700) == 0)
            #expect(unsafe link(from, to) == 0)
        }
        let intent = #"{"id":"\#(download.id)","from":"","to":"a\nb","names":[["f","f (1)"]]}"#
        try bench.store.apply([.value("moving", intent)])
        if isStored {
            var record = try #require(bench.store.record(QueueID(rawValue: download.id.rawValue)))
            record.name = "f (1)"
            try bench.store.apply([.put(record)])
        }
        manager = try await bench.open()
        #expect(FileSystem.exists(to) == isStored && FileSystem.exists(from) != isStored)
        #expect(try await manager.snapshot(of: download.id)?.file == .there)
        await manager.shutDown()
        #expect(bench.store.value("moving") == nil)
    }

    @Test(.enabled(if: MountedFolder.isAvailable, "needs a file system of its own"))
    func `a folder on another file system is refused`() async throws {
        let bench = try ManagerBench()
        let manager = try await bench.open()
        let download = try await manager.add(bench.request(bench.origin.serve("/f", payload)))
        _ = try await download.file
        let disk = bench.root.path("other")
        #expect(unsafe mkdir(disk, 0o700) == 0)
        let mounted = try PawlProcess.run("/usr/bin/mount", ["-t", "tmpfs", "-o", "size=65536", "pawl-test", disk])
        try #require(mounted.exit == .code(0), "\(mounted.errors)")
        defer { _ = try? PawlProcess.run("/usr/bin/umount", ["-l", disk]) }
        let error = await #expect(throws: PawlError.self) {
            try await manager.relocate(download.id, toFolder: "other")
        }
        #expect(error?.why == "the folder \(disk) is on another file system" && error?.remedy.isEmpty == false)
        #expect(bench.root.difference("f", from: payload) == nil)
        await manager.shutDown()
    }

    @Test func `no file is replaced, and nothing leaves the root`() async throws {
        let bench = try ManagerBench()
        let manager = try await bench.open()
        let download = try await manager.add(bench.request(bench.origin.serve("/f", payload)))
        _ = try await download.file
        let taken = Payload(seed: 834, length: 5)
        let there = try await manager.add(bench.request(bench.origin.serve("/x/f", taken)) { $0.options.folder = "a" })
        _ = try await there.file
        for (folder, code) in [("a", PawlError.Code.fileExists), ("../x", .badOption), (".pawl", .badOption)] {
            let error = await #expect(throws: PawlError.self) {
                try await manager.relocate(download.id, toFolder: folder)
            }
            #expect(error?.code == code, "\(folder)")
        }
        #expect(bench.root.difference("a/f", from: taken) == nil)
        #expect(bench.root.difference("f", from: payload) == nil)
        await manager.shutDown()
    }

    @Test func `running downloads can be selected, and a change says which options it does not apply`() async throws {
        let bench = try ManagerBench()
        let manager = try await bench.open(bench.slots(1))
        let (url, _) = bench.serveStalling("/f", seed: 832)
        let (other, _) = bench.serveStalling("/g", seed: 833)
        let first = try await manager.add(bench.request(url))
        let second = try await manager.add(bench.request(other))
        let third = try await manager.add(bench.request(other + "?paused") { $0.start = .paused })
        await bench.origin.holds("/f")
        #expect(try await manager.downloads(matching: DownloadFilter([.running])).map(\.id) == [first.id])
        #expect(
            try await manager.downloads(matching: DownloadFilter([.running, .paused])).map(\.id) == [
                first.id, third.id,
            ])
        #expect(try await manager.downloads(matching: DownloadFilter([.waiting])).count == 2)
        #expect(try await manager.totals(matching: DownloadFilter([.running])).count == 1)
        #expect(try await manager.downloads(matching: DownloadFilter([.running]), offset: 1).isEmpty)
        var options = try #require(try await manager.details(of: [first.id]).first?.options)
        options.headers = ["X-Token: 2"]
        options.folder = "elsewhere"
        options.fileName = "other"
        let change = try await manager.change(options: options, of: first.id)
        #expect(change.isStored && change.unchanged == ["folder", "fileName"])
        options.folder = ""
        #expect(try await manager.change(options: options, of: second.id).unchanged == [])
        #expect(try await !manager.change(options: options, of: Download.ID(rawValue: 1)).isStored)
        await manager.shutDown()
    }
}
