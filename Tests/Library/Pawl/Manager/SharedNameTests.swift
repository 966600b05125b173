import Pawl
import PawlBase
import PawlQueue
import PawlTestKit
import Testing

/// Several downloads may have claimed the same name, before a kill or after a failure: none takes another's file.
@Suite struct SharedNameTests {
    /// Files of the same name and length from two addresses, and records that claimed the name.
    private func twins(_ bench: ManagerBench) -> (payloads: [Payload], records: [QueueRecord]) {
        let payloads = [Payload(seed: 1, length: 4_096), Payload(seed: 2, length: 4_096)]
        let records = payloads.enumerated().map { index, payload in
            let url = bench.origin.serve("/\(index)/a.bin", payload)
            var record = QueueRecord(
                id: QueueID(rawValue: UInt64(index + 1)), sources: [url], addedAt: UnixTime(seconds: 0))
            (record.name, record.written, record.total) = ("a.bin", 4_096, 4_096)
            return record
        }
        return (payloads, records)
    }

    private func check(_ payloads: [Payload], in manager: DownloadManager) async throws {
        var paths: Set<String> = []
        for (index, payload) in payloads.enumerated() {
            let id = Download.ID(rawValue: UInt64(index + 1))
            let download = try #require(try await manager.download(withID: id))
            let path = try await download.file.path
            #expect(FileSystem.difference(of: path, from: payload) == nil, "of \(index)")
            paths.insert(path)
        }
        #expect(paths.count == payloads.count)
    }

    @Test func `after a kill while two files of one name are published, each download gets its own`() async throws {
        let bench = try ManagerBench()
        let (payloads, records) = twins(bench)
        try FileSystem.write(payloads[0].bytes, to: bench.root.path("a.bin"))
        let ids = records.map { String($0.id.rawValue, radix: 16) }.joined(separator: " ")
        try bench.store.apply(records.map { .put($0) } + [.value("publishing", ids)])
        let manager = try await bench.open()
        try await check(payloads, in: manager)
        await manager.shutDown()
    }

    @Test func `a failed download does not take the file of its name and length for its own`() async throws {
        let bench = try ManagerBench()
        var (payloads, records) = twins(bench)
        try FileSystem.write(payloads[1].bytes, to: bench.root.path("a.bin"))
        (records[0].state, records[1].state) = (.failed, .finished)
        try bench.store.apply(records.map { .put($0) })
        let manager = try await bench.open()
        #expect(try await manager.resume(Download.ID(rawValue: 1)))
        try await check(payloads, in: manager)
        await manager.shutDown()
    }

    @Test func `the part file of another download is not continued under a name that was claimed before`() async throws
    {
        let bench = try ManagerBench()
        let (url, payload) = bench.serveStalling("/1/b.bin", seed: 3)
        let first = try await bench.open()
        let download = try await first.add(bench.request(url) { $0.id = Download.ID(rawValue: 2) })
        await download.reaches(bytes: 1_500_000)
        try await first.pause(download.id)
        await download.reaches(.paused)
        await first.shutDown()
        let other = Payload(seed: 4, length: 2_500_000)
        var record = QueueRecord(
            id: QueueID(rawValue: 1), sources: [bench.origin.serve("/0/b.bin", other)], addedAt: UnixTime(seconds: 0))
        record.name = "b.bin"
        try bench.store.apply([.put(record)])
        bench.origin.serve("/1/b.bin", payload)
        let manager = try await bench.open()
        let ours = try #require(try await manager.download(withID: Download.ID(rawValue: 1)))
        _ = try await ours.file
        #expect(try await manager.resume(download.id))
        try await check([other, payload], in: manager)
        let offsets = bench.origin.log.records.filter { $0.path == "/1/b.bin" }.map(\.bodyStart)
        #expect(offsets.contains { $0 > 0 }, "it began again: \(offsets)")
        await manager.shutDown()
    }
}
