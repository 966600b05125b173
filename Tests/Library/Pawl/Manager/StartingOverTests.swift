import Pawl
import PawlTestKit
import Testing

/// A failed download that is downloaded again from the beginning.
@Suite struct `Starting over` {
    private static let bytes = Payload(seed: 61, length: 3_000_000)
    private static let other = Payload(seed: 62, length: 3_000_000)

    /// A download that has failed because another URL was not shown to have the same content.
    private static func fail(_ bench: ManagerBench, in manager: DownloadManager) async throws -> Download {
        let old = bench.origin.serve("/f", bytes) { $0.cut = .stall(from: 2_000_000) }
        let new = bench.origin.serve("/g", other)
        let download = try await manager.add(
            bench.request(old) {
                $0.options.user = "user"
                $0.options.password = "secret"
            })
        await download.reaches(bytes: 2_000_000)
        #expect(try await manager.startOver(download.id) == false, "it is running")
        try await manager.replaceURL(of: download.id, with: new)
        let error = await #expect(throws: PawlError.self) { try await download.file }
        #expect(error?.code == .cannotResume)
        return download
    }

    @Test func `what was received is discarded, and the options stay`() async throws {
        let bench = try ManagerBench()
        let manager = try await bench.open()
        let download = try await Self.fail(bench, in: manager)
        #expect(bench.root.names == ["f.part", "f.pawl"])
        #expect(try await manager.startOver(download.id))
        #expect(try await download.file.length == 3_000_000)
        #expect(bench.root.names == ["f"] && bench.root.difference("f", from: Self.other) == nil)
        let options = try #require(try await manager.details(of: [download.id]).first?.options)
        #expect(options.user == "user" && options.password == "secret")
        #expect(try await manager.startOver(download.id) == false, "it has finished")
        #expect(bench.root.names == ["f"])
        await manager.shutDown()
    }

    @Test func `after a restart of the program it starts over too`() async throws {
        let bench = try ManagerBench()
        var manager = try await bench.open()
        let id = try await Self.fail(bench, in: manager).id
        await manager.shutDown()
        manager = try await bench.open()
        #expect(try await manager.startOver(id))
        _ = try await manager.download(withID: id)?.file
        #expect(bench.root.names == ["f"] && bench.root.difference("f", from: Self.other) == nil)
        await manager.shutDown()
    }

    @Test func `a file of another program is not deleted`() async throws {
        let bench = try ManagerBench()
        let manager = try await bench.open()
        let download = try await Self.fail(bench, in: manager)
        for name in ["f.part", "f.pawl"] {
            FileSystem.remove(bench.root.path + "/" + name)
            try FileSystem.write(Array("theirs".utf8), to: bench.root.path + "/" + name)
        }
        #expect(try await manager.startOver(download.id))
        _ = try await download.file
        #expect(bench.root.difference("f", from: Self.other) == nil)
        for name in ["f.part", "f.pawl"] {
            #expect(FileSystem.contents(bench.root.path + "/" + name) == Array("theirs".utf8))
        }
        await manager.shutDown()
    }
}
