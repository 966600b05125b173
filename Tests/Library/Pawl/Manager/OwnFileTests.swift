import Glibc
import Pawl
import PawlBase
import PawlTestKit
import Testing

/// What has the name of a finished file may be another file: no command touches that.
@Suite struct OwnFileTests {
    private let payload = Payload(seed: 931, length: 70_000)

    /// A finished download, named `f`.
    private func finished(
        _ bench: ManagerBench, _ manager: DownloadManager, _ change: (inout DownloadRequest) -> Void = { _ in }
    ) async throws -> Download.ID {
        let download = try await manager.add(bench.request(bench.origin.serve("/f", payload), change))
        _ = try await download.file
        return download.id
    }

    /// How the user puts another file in the place of a finished one.
    enum Replacement: CaseIterable {
        case otherFile, sameLength, writtenInPlace, link, linkToItself

        func replace(_ path: String) throws {
            switch self {
            case .otherFile, .sameLength:
                let length = self == .otherFile ? 5 : Int(FileSystem.size(path) ?? 0)
                try FileSystem.move(path, to: path + ".moved")
                try FileSystem.write([UInt8](repeating: 7, count: length), to: path)
            case .writtenInPlace: try FileSystem.write([7, 7, 7], to: path)
            case .link:
                try FileSystem.move(path, to: path + ".moved")
                try FileSystem.write([7], to: path + ".other")
                try #require(unsafe symlink(path + ".other", path) == 0)
            case .linkToItself:
                try FileSystem.move(path, to: path + ".moved")
                try #require(unsafe symlink(path + ".moved", path) == 0)
            }
        }
    }

    @Test func `an existing file that is kept is the file of the download, with its length`() async throws {
        let bench = try ManagerBench()
        let manager = try await bench.open()
        try FileSystem.write([1, 2, 3], to: bench.root.path("f"))
        let request = bench.request(bench.origin.serve("/f", payload)) { $0.options.existingFile = .skip }
        let download = try await manager.add(request)
        #expect(try await download.file.length == 3)
        let snapshot = try #require(await manager.snapshot(of: download.id))
        #expect(snapshot.file == .there && snapshot.total == 3)
    }

    @Test(arguments: Replacement.allCases) func `no command of a download touches another file that has its name`(
        _ way: Replacement
    ) async throws {
        let bench = try ManagerBench()
        let manager = try await bench.open()
        let id = try await finished(bench, manager) { $0.options.checksum = "md5=" + md5(payload) }
        let path = bench.root.path("f")
        #expect(try await manager.snapshot(of: id)?.file == .there)
        try way.replace(path)
        let others = FileSystem.contents(path)
        #expect(try await manager.snapshot(of: id)?.file == .changed)
        #expect(try await manager.location(of: id) == .missing(path: path))
        #expect(try await manager.ownFile(of: id) == nil)
        for command in [
            { _ = try await manager.rename(id, to: "g") }, { _ = try await manager.relocate(id, toFolder: "a") },
            { try await manager.removeFile(of: id) },
        ] as [() async throws -> Void] {
            let error = await #expect(throws: PawlError.self) { try await command() }
            #expect(error?.cause?.id == "not-the-downloaded-file", "\(String(describing: error))")
        }
        // A file that was written in place is compared: it may be damaged.
        if way != .writtenInPlace {
            for check in [{ _ = try await manager.check(id) }, { _ = try await manager.repair(id) }]
                as [() async throws -> Void]
            {
                let error = await #expect(throws: PawlError.self) { try await check() }
                #expect(error?.cause?.id == "not-the-downloaded-file", "\(String(describing: error))")
            }
        }
        let error = await #expect(throws: PawlError.self) { try await manager.remove(id) }
        #expect(error?.cause?.id == "not-the-downloaded-file", "\(String(describing: error))")
        let remedy = "the download is off the list and this file stays: delete it yourself if it is not needed"
        #expect(error?.remedy == remedy)
        #expect(try await manager.snapshot(of: id) == nil, "the record is removed")
        #expect(FileSystem.contents(path) == others)
        await manager.shutDown()
    }

    private func md5(_ payload: Payload) -> String {
        Hexadecimal.text(MessageDigest5.digest(payload.bytes(in: ByteRange(0, payload.length))))
    }

    @Test func `a later download that took the name keeps its file, of the same size and time too`() async throws {
        let bench = try ManagerBench()
        var manager = try await bench.open()
        let first = try await finished(bench, manager)
        let path = bench.root.path("f")
        try FileSystem.move(path, to: bench.root.path("moved"))
        let second = try await finished(bench, manager) { $0.allowsDuplicate = true }
        #expect(first != second)
        #expect(FileSystem.contents(path) == FileSystem.contents(bench.root.path("moved")))
        // Also after the queue was read again.
        await manager.shutDown()
        manager = try await bench.open()
        let error = await #expect(throws: PawlError.self) { try await manager.remove(first) }
        #expect(error?.cause?.id == "not-the-downloaded-file", "\(String(describing: error))")
        #expect(bench.root.difference("f", from: payload) == nil)
        #expect(try await manager.snapshot(of: second)?.file == .there)
        try await manager.remove(second)
        #expect(bench.root.names == ["moved"])
        await manager.shutDown()
    }

    @Test func `a copy with size and time of the finished file counts as it, and one that was renamed back`()
        async throws
    {
        let bench = try ManagerBench()
        let manager = try await bench.open()
        let id = try await finished(bench, manager)
        let path = bench.root.path("f")
        let bytes = try #require(FileSystem.contents(path))
        try FileSystem.move(path, to: bench.root.path("moved"))
        try FileSystem.move(bench.root.path("moved"), to: path)
        #expect(try await manager.snapshot(of: id)?.file == .there)
        var status = stat()
        try #require(unsafe stat(path, &status) == 0)
        FileSystem.remove(path)
        #expect(try await manager.snapshot(of: id)?.file == .missing)
        try FileSystem.write(bytes, to: path)
        #expect(try await manager.snapshot(of: id)?.file == .changed)
        let times = [status.st_atim, status.st_mtim]
        try #require(unsafe utimensat(AT_FDCWD, path, times, 0) == 0)
        #expect(try await manager.snapshot(of: id)?.file == .there)
        #expect(try await manager.rename(id, to: "g"))
        try await manager.remove(id)
        #expect(bench.root.names.isEmpty)
        await manager.shutDown()
    }

    @Test func `a file whose place was taken is downloaded again beside the other one`() async throws {
        let bench = try ManagerBench()
        let manager = try await bench.open()
        let id = try await finished(bench, manager) { $0.options.existingFile = .overwrite }
        let path = bench.root.path("f")
        try Replacement.otherFile.replace(path)
        let others = FileSystem.contents(path)
        try await manager.resume(id)
        let download = try #require(try await manager.download(withID: id))
        let again = try await download.file
        #expect(again.path != path)
        #expect(FileSystem.difference(of: again.path, from: payload) == nil)
        #expect(FileSystem.contents(path) == others)
        await manager.shutDown()
    }

    @Test func `adding the URL again downloads it again, if the file is another one now`() async throws {
        let bench = try ManagerBench()
        let manager = try await bench.open()
        let id = try await finished(bench, manager)
        try Replacement.otherFile.replace(bench.root.path("f"))
        let download = try await manager.add(bench.request(bench.origin.serve("/f", payload)))
        #expect(download.id == id)
        #expect(try await download.file.path != bench.root.path("f"))
        await manager.shutDown()
    }

    @Test func `a file that cannot be recorded in its new folder stays in the old one`() async throws {
        let bench = try ManagerBench()
        var manager = try await bench.open()
        let id = try await finished(bench, manager)
        bench.store.fail(with: Failure(.diskFull, "cannot write", at: "the queue", because: "full"))
        let error = await #expect(throws: PawlError.self) { try await manager.relocate(id, toFolder: "a") }
        #expect(error?.code == .diskFull)
        bench.store.fail(with: nil)
        #expect(try await manager.location(of: id) == .finished(path: bench.root.path("f")))
        #expect(FileSystem.names(in: bench.root.path("a")).isEmpty)
        await manager.shutDown()
        manager = try await bench.open()
        #expect(try await manager.location(of: id) == .finished(path: bench.root.path("f")))
        await manager.shutDown()
    }

    @Test func `without a queue a finished download removes only its own file`() async throws {
        let origin = try OriginServer()
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        let downloader = Downloader()
        var options = DownloadOptions()
        options.folder = folder.path
        let download = try downloader.add(origin.serve("/f", payload), options: options)
        download.resume()
        _ = try await download.file
        try Replacement.otherFile.replace(folder.path("f"))
        let error = await #expect(throws: PawlError.self) { try await download.remove() }
        #expect(error?.cause?.id == "not-the-downloaded-file")
        #expect(FileSystem.contents(folder.path("f"))?.count == 5)
    }
}
