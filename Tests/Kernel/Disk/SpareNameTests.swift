import Glibc
import PawlTestKit
import Testing

@testable import PawlBase
@testable import PawlDisk
@testable import PawlJournal

/// Another program's file has the name of the part file or the journal: others are used for these, and the finished file has
/// its own name.
@Suite struct SpareNameTests {
    private static let others = [["x.bin.part"], ["x.bin.pawl"], ["x.bin.part", "x.bin.pawl"]]

    /// The folder with other programs' files, and a download of 3000 of 9000 bytes that a kill has ended.
    private func begun(_ others: [String], marks: Bool) throws -> TestFolder {
        let folder = TestFolder { $0.marks = marks }
        for name in others { try folder.put(payload(70, seed: 9), in: name) }
        let partial = try folder.fresh("x.bin")
        #expect(partial.name == "x.bin")
        try partial.beginJournal(folder.facts("x.bin", total: 9000), done: ByteRangeSet())
        try partial.beginLane(slot: 0, at: 0)
        try partial.write(payload(3000), at: 0)
        partial.advanceLane(slot: 0, to: 3000)
        partial.release()
        #expect(folder.names == (others + ["x.bin.part.1", "x.bin.pawl.1"]).sorted())
        folder.restart()
        return folder
    }

    private func finish(_ partial: FilePartial) async throws -> String {
        try partial.write(payload(9000).suffix(6000), at: 3000)
        return try await partial.publish(length: 9000)
    }

    @Test(arguments: others, [true, false]) func `a killed download is continued under its own name`(
        others: [String], marks: Bool
    ) async throws {
        let folder = try begun(others, marks: marks)
        #expect(folder.disk.unfinished(of: "https://a.example/x", in: folder.path) == "x.bin")
        let (partial, journal) = try folder.found("x.bin")
        #expect(journal.done.count == 3000 && partial.name == "x.bin" && partial.form == .spare)
        #expect(try await finish(partial) == "\(folder.path)/x.bin")
        #expect(try folder.bytes(of: "x.bin") == payload(9000))
        #expect(folder.names == (others + ["x.bin"]).sorted())
        for name in others { #expect(try folder.bytes(of: name) == payload(70, seed: 9)) }
        #expect(folder.said.count == 1 && folder.said[0].contains("another name for the part file"))
    }

    @Test(arguments: ["x.bin.part", "x.bin.pawl"], [true, false]) func `a file that is still to come keeps its name`(
        other: String, marks: Bool
    ) async throws {
        let folder = TestFolder { $0.marks = marks }
        folder.disk.reserve(other, in: folder.path)
        folder.disk.reserve("unrelated", in: folder.path)
        let partial = try folder.fresh("x.bin")
        try partial.write(payload(10), at: 0)
        #expect(!folder.names.contains(other) && partial.form == .spare)
        let second = try folder.fresh(other, from: "https://a.example/y")
        #expect(second.name == other)
        try second.write(payload(20), at: 0)
        _ = try await second.publish(length: 20)
        _ = try await partial.publish(length: 10)
        #expect(folder.names == ["x.bin", other].sorted())
        #expect(try folder.bytes(of: other) == payload(20) && folder.bytes(of: "x.bin") == payload(10))
        #expect(folder.said.isEmpty)
    }

    @Test(arguments: [true, false]) func `it is continued also when the file that was in the way is gone`(
        marks: Bool
    ) async throws {
        let folder = try begun(["x.bin.part"], marks: marks)
        unsafe unlink("\(folder.path)/x.bin.part")
        let (partial, journal) = try folder.found("x.bin")
        #expect(journal.done.count == 3000)
        #expect(try await finish(partial) == "\(folder.path)/x.bin")
        #expect(folder.names == ["x.bin"])
    }

    @Test(arguments: [true, false]) func `a kill after the final rename leaves nothing to do`(marks: Bool) throws {
        let folder = try begun(["x.bin.pawl"], marks: marks)
        let (partial, _) = try folder.found("x.bin")
        try partial.write(payload(9000).suffix(6000), at: 3000)
        let all = ByteRangeSet([ByteRange(0, 9000)])
        try partial.record(folder.facts("x.bin", total: 9000), done: all)
        if marks {
            let value = OwnerAttribute.value(of: "https://a.example/x")
            OwnerAttribute.complete(value, part: nil, length: 9000, on: partial.openFile)
        }
        partial.release()
        unsafe rename("\(folder.path)/x.bin.part.1", "\(folder.path)/x.bin")
        folder.restart()
        guard case .skipped = try folder.claim("x.bin") else {
            Issue.record("it is downloaded again")
            return
        }
        #expect(folder.names == ["x.bin", "x.bin.pawl"])
    }

    @Test func `another download of the name gets the next one`() throws {
        let folder = try begun(["x.bin.part"], marks: true)
        #expect(try folder.fresh("x.bin", from: "https://b.example/x").name == "x (1).bin")
        unsafe unlink("\(folder.path)/x.bin.part")
        #expect(try folder.fresh("x.bin", from: "https://b.example/x").name == "x (1).bin")
        #expect(try folder.found("x.bin").1.done.count == 3000)
    }

    @Test func `the same download twice is refused`() throws {
        let folder = TestFolder()
        try folder.put(payload(70), in: "x.bin.part")
        let partial = try folder.fresh("x.bin")
        for _ in 0..<2 {
            let failure = #expect(throws: Failure.self) { try folder.claim("x.bin") }
            #expect(failure?.code == .alreadyDownloading)
            // As another process sees it.
            folder.restart()
        }
        partial.discard()
    }

    @Test func `spare names that are another program's leave the next final name`() throws {
        for name in ["x.bin.part.1", "x.bin.pawl.1"] {
            let folder = TestFolder()
            try folder.put(payload(70), in: "x.bin.part")
            try folder.put(payload(80), in: name)
            #expect(try folder.fresh("x.bin").name == "x (1).bin")
            #expect(throws: Failure.self) { try folder.claim("x.bin", .overwrite) }
            #expect(try folder.bytes(of: name) == payload(80))
            unsafe unlink("\(folder.path)/x.bin.part")
            let partial = try folder.fresh("x.bin")
            #expect(partial.name == "x.bin" && partial.form == .usual)
        }
    }

    @Test(arguments: [IfExists.overwrite, .resume, .fail, .skip])
    func `every choice for existing files takes the spare names`(policy: IfExists) throws {
        let folder = TestFolder()
        try folder.put(payload(70), in: "x.bin.pawl")
        let partial = try folder.fresh("x.bin", policy)
        #expect(partial.name == "x.bin" && partial.form == .spare)
        partial.discard()
        #expect(folder.names == ["x.bin.pawl"])
    }

    @Test func `a finished file that is continued has the spare names in the meantime`() throws {
        let folder = TestFolder()
        try folder.put(payload(70), in: "x.bin.pawl")
        try folder.put(payload(3000), in: "x.bin")
        guard case .existing(let partial, let length) = try folder.claim("x.bin", .resume) else {
            throw Unexpected(what: "it is not continued")
        }
        #expect(length == 3000 && folder.names == ["x.bin.part.1", "x.bin.pawl", "x.bin.pawl.1"])
        try partial.restoreOriginal()
        #expect(folder.names == ["x.bin", "x.bin.pawl"])
    }
}
