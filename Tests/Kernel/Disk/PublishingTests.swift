import Glibc
import Testing

@testable import PawlBase
@testable import PawlDisk
@testable import PawlJournal

@Suite struct PublishingTests {
    @Test(arguments: ["/tmp", "/dev/shm"])
    func `A5 publishing moves the file to its place and removes part file and journal`(_ parent: String) async throws {
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

    @Test func `many small files of a disk are published together, and a failure of one harms no other`() async throws {
        let folder = TestFolder()
        let stream = AsyncStream<(Int, Result<String, Failure>)>.makeStream()
        for number in 0..<100 {
            let partial = try folder.fresh("\(number).bin", from: "https://a.example/\(number)")
            try partial.write(payload(number, seed: UInt64(number)), at: 0)
            if number == 50 { unsafe unlink("\(folder.path)/50.bin.part") }
            partial.publish(length: Int64(number), modified: nil) { stream.continuation.yield((number, $0)) }
        }
        var failed: [Int] = []
        var left = 100
        for await (number, result) in stream.stream {
            if case .failure = result { failed.append(number) }
            left -= 1
            if left == 0 { break }
        }
        #expect(failed == [50])
        #expect(folder.names.count == 99)
        for number in 0..<100 where number != 50 {
            #expect(try folder.bytes(of: "\(number).bin") == payload(number, seed: UInt64(number)))
        }
        // Their names and marks are free again.
        let kept = try #require(folder.disk.folders.existing(folder.path))
        #expect(
            OwnerAttribute.read(try kept.open("1.bin", flags: 0))
                != .of(OwnerAttribute.value(of: "https://a.example/1")))
        #expect(try folder.fresh("50.bin").name == "50.bin")
    }

    @Test(arguments: ["/tmp", "/dev/shm"]) func `a file that is shorter than its length is not published`(
        _ parent: String
    ) async throws {
        let folder = TestFolder(in: parent)
        let partial = try folder.fresh("x.bin")
        try partial.write(payload(100), at: 0)
        unsafe truncate("\(folder.path)/x.bin.part", 60)
        let failure = await #expect(throws: Failure.self) { try await partial.publish(length: 100) }
        #expect(failure?.code == .inputOutput)
        // After the failure it can be closed normally.
        try partial.close(keeping: folder.facts("x.bin"), done: ByteRangeSet([ByteRange(0, 60)]))
        #expect(try folder.found("x.bin").1.done.count == 60)
    }

    @Test func `a longer file is cut to its length`() async throws {
        let folder = TestFolder()
        let partial = try folder.fresh("x.bin")
        try partial.write(payload(100), at: 0)
        _ = try await partial.publish(length: 60)
        #expect(try folder.bytes(of: "x.bin") == Array(payload(100)[..<60]))
    }

    @Test func `closing while a worker publishes leaves the lock to the worker`() async throws {
        let folder = TestFolder()
        let partial = try folder.fresh("x.bin")
        try partial.write(payload(100), at: 0)
        try partial.beginJournal(folder.facts("x.bin"), done: ByteRangeSet([ByteRange(0, 100)]))
        let path: String = try await FilePartial.wait { done in
            partial.publish(length: 100, modified: nil, completion: done)
            try? partial.close(keeping: folder.facts("x.bin"), done: ByteRangeSet([ByteRange(0, 100)]))
        }
        #expect(path == "\(folder.path)/x.bin")
        #expect(folder.names == ["x.bin"])
    }
}
