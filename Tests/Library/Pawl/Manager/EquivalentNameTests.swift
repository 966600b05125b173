import Pawl
import PawlBase
import PawlTestKit
import Testing

/// Changes of a download of the queue that change only the bytes of a name, not what Swift's equality compares.
@Suite struct EquivalentQueueNameTests {
    @Test(arguments: EquivalentNames.pairs) func `D15 a finished file and its record get the other name`(
        left: String, right: String
    ) async throws {
        let bench = try ManagerBench()
        let payload = Payload(seed: 31, length: 5000)
        let url = bench.origin.serve("/f", payload)
        let manager = try await bench.open()
        let download = try await manager.add(bench.request(url) { $0.options.fileName = left })
        _ = try await download.file
        #expect(try await manager.rename(download.id, to: right))
        let names = FileSystem.names(in: bench.root.path).filter { $0 != ".pawl" }
        #expect(names.count == 1 && names[0].hasSameBytes(as: right))
        let snapshot = try #require(try await manager.downloads().first)
        #expect(snapshot.name.hasSameBytes(as: right))
        #expect(bench.root.difference(right, from: payload) == nil)
        await manager.shutDown()
    }

    @Test(arguments: EquivalentNames.pairs) func `options, groups and URLs of other bytes are others`(
        left: String, right: String
    ) async throws {
        let bench = try ManagerBench()
        let manager = try await bench.open()
        var request = DownloadRequest("http://127.0.0.1:9/f")
        request.start = .paused
        request.options.fileName = left
        request.options.password = left
        request.options.user = "u"
        request.group = left
        let first = try await manager.add(request)
        request.options.fileName = right
        request.group = right
        let second = try await manager.add(request)
        #expect(first.id != second.id, "two files")
        try await manager.pause(group: left)
        #expect(try await manager.isPaused(group: right) == false)
        let groups = try await manager.groups()
        #expect(groups.map(\.count) == [1, 1] && groups.filter(\.isPaused).count == 1)
        var options = request.options
        options.password = right
        try await manager.change(options: options, of: second.id)
        let details = try #require(try await manager.details(of: [second.id]).first)
        #expect(details.options.password.hasSameBytes(as: right))
        #expect(details.options.fileName.hasSameBytes(as: right))
        await manager.shutDown()
    }
}
