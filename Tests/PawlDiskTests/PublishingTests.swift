import PawlCore
import PawlEngine
import Testing

@testable import PawlDisk

@Suite struct PublishingTests {
    @Test(arguments: ["/tmp", "/dev/shm"])
    func `A5 publishing moves the file to its place and removes part file and journal`(
        _ parent: String
    ) async throws {
        let folder = TestFolder(in: parent)
        let content = payload(100_000)
        let partial = try folder.fresh("x.bin")
        try partial.beginJournal(folder.facts("x.bin"), done: ByteRangeSet())
        try partial.beginLane(slot: 0, at: 0)
        try partial.write(content, at: 0)
        partial.advanceLane(slot: 0, to: 100_000)
        #expect(folder.names == ["x.bin.part", "x.bin.pawl"])
        let path = try await partial.publish(length: 100_000, modified: UnixTime(seconds: 1_000_000_000))
        #expect(path == "\(folder.path)/x.bin")
        #expect(folder.names == ["x.bin"])
        #expect(try folder.bytes(of: "x.bin") == content)
        let kept = try #require(folder.disk.folders.existing(folder.path))
        #expect(try kept.status(of: "x.bin")?.modifiedSeconds == 1_000_000_000)
    }
}
