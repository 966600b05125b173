import Glibc
import Testing

@testable import PawlBase
@testable import PawlDisk
@testable import PawlJournal
@testable import PawlSystem

/// The files of an earlier run, and how much of them is trusted.
@Suite struct JournalFileTests {
    /// A part file of 3000 bytes, of which [0, 1000) are durable, abandoned as by a kill.
    private func killed(_ folder: TestFolder) async throws {
        let partial = try folder.fresh("x.bin")
        try partial.beginJournal(folder.facts("x.bin"), done: ByteRangeSet())
        try partial.beginLane(slot: 0, at: 0)
        try partial.write(payload(3000), at: 0)
        partial.advanceLane(slot: 0, to: 1000)
        try await partial.checkpoint(ByteRangeSet([ByteRange(0, 1000)]))
        #expect(partial.durable.runs == [ByteRange(0, 1000)])
        partial.advanceLane(slot: 0, to: 3000)
        partial.release()
    }

    private let otherBoot = BootIdentity(high: 77, low: 78)

    @Test(arguments: [FileSystemTraits.local, [.local, .mappable]])
    func `A4 on the same boot every written byte is trusted`(_ traits: FileSystemTraits) async throws {
        let folder = TestFolder { $0.traits = traits }
        try await killed(folder)
        folder.restart()
        #expect(try folder.found("x.bin").1.done.runs == [ByteRange(0, 3000)])
    }

    @Test func `A4 bytes that a kill kept from being recorded are found, once`() async throws {
        let here: FileSystemTraits = [.local, .mappable, .keepsInodes]
        let folder = TestFolder { $0.traits = here }
        let partial = try folder.fresh("x.bin")
        try partial.beginJournal(folder.facts("x.bin"), done: ByteRangeSet())
        try partial.beginLane(slot: 0, at: 0)
        try partial.write(Array(payload(3000)[..<1000]), at: 0)
        partial.advanceLane(slot: 0, to: 1000)
        try partial.write(Array(payload(3000)[1000...]), at: 1000)
        partial.release()
        folder.restart { $0.traits = here }
        let (again, loaded) = try folder.found("x.bin")
        #expect(loaded.done.runs == [ByteRange(0, 3000)])
        again.release()
        // On another boot none of it counts, nor does its length: the bytes may be anything.
        let boot = otherBoot
        for _ in 0..<2 {
            folder.restart {
                $0.traits = here
                $0.boot = boot
            }
            let (late, left) = try folder.found("x.bin")
            #expect(left.done.isEmpty)
            try late.beginLane(slot: 0, at: 0)
            late.release()
        }
    }

    @Test func `after another boot only durable bytes are trusted`() async throws {
        let folder = TestFolder()
        try await killed(folder)
        folder.restart { $0.boot = BootIdentity(high: 77, low: 78) }
        let (partial, loaded) = try folder.found("x.bin")
        #expect(loaded.done.runs == [ByteRange(0, 1000)])
        // Untrusted bytes stay untrusted, also for a second run on that boot.
        partial.release()
        folder.restart { $0.boot = BootIdentity(high: 77, low: 78) }
        #expect(try folder.found("x.bin").1.done.runs == [ByteRange(0, 1000)])
    }

    @Test func `after a failed sync no later one makes bytes durable, nor the file finished`() async throws {
        let folder = TestFolder { $0.traits = .local }
        let partial = try folder.fresh("x.bin")
        try partial.beginJournal(folder.facts("x.bin"), done: ByteRangeSet())
        try partial.beginLane(slot: 0, at: 0)
        try partial.write(payload(3000), at: 0)
        partial.advanceLane(slot: 0, to: 1000)
        try await partial.checkpoint(ByteRangeSet([ByteRange(0, 1000)]))
        partial.advanceLane(slot: 0, to: 3000)
        partial.journal?.distrustCache(because: SystemError(number: EIO))
        let all = ByteRangeSet([ByteRange(0, 3000)])
        await #expect(throws: Failure.self) { try await partial.checkpoint(all) }
        await #expect(throws: Failure.self) { try await partial.publish(length: 3000) }
        #expect(partial.durable.runs == [ByteRange(0, 1000)])
        #expect(throws: Failure.self) { try partial.close(keeping: folder.facts("x.bin"), done: all) }
        #expect(folder.names == ["x.bin.part", "x.bin.pawl"])
        folder.restart()
        #expect(try folder.found("x.bin").1.done.runs == [ByteRange(0, 1000)])
    }

    @Test func `after a failed sync a small file's first journal does not trust its bytes`() async throws {
        let folder = TestFolder { $0.traits = .local }
        let partial = try folder.fresh("x.bin")
        try partial.write(payload(3000), at: 0)
        partial.openFile.noteFailedSync(SystemError(number: EIO))
        await #expect(throws: Failure.self) { try await partial.publish(length: 3000) }
        let all = ByteRangeSet([ByteRange(0, 3000)])
        #expect(throws: Failure.self) { try partial.close(keeping: folder.facts("x.bin"), done: all) }
        #expect(folder.names == ["x.bin.part", "x.bin.pawl"])
        folder.restart()
        #expect(try folder.found("x.bin").1.done.isEmpty)
    }

    @Test(arguments: [true, false])
    func `without a boot ID or on a file system that is not local only durable bytes are trusted`(
        _ knowsBoot: Bool
    ) async throws {
        let folder = TestFolder { environment in
            if knowsBoot { environment.traits = [] } else { environment.boot = nil }
        }
        try await killed(folder)
        folder.restart()
        #expect(try folder.found("x.bin").1.done.runs == [ByteRange(0, 1000)])
    }

    @Test func `C2 a part file shorter than its journal claims counts with its length`() async throws {
        let folder = TestFolder()
        try await killed(folder)
        unsafe truncate("\(folder.path)/x.bin.part", 700)
        folder.restart()
        #expect(try folder.found("x.bin").1.done.runs == [ByteRange(0, 700)])
    }

    @Test func `a part file that another program put beside the journal is not accepted`() async throws {
        let folder = TestFolder()
        try await killed(folder)
        // Kept under another name, so that its inode is not reused for the next file.
        unsafe rename("\(folder.path)/x.bin.part", "\(folder.path)/kept")
        try folder.put(payload(5000, seed: 9), in: "x.bin.part")
        folder.restart()
        #expect(try folder.fresh("x.bin").form == .spare)
        #expect(try folder.bytes(of: "x.bin.part") == payload(5000, seed: 9))
    }

    /// Both files with other inodes, as in a copy of the folder.
    private func copyPair(_ folder: TestFolder, withMarks: Bool) throws {
        for name in ["x.bin.part", "x.bin.pawl"] {
            let bytes = try folder.bytes(of: name)
            unsafe rename("\(folder.path)/\(name)", "\(folder.path)/old-\(name)")
            try folder.put(bytes, in: name)
            guard withMarks else { continue }
            let copy = try #require(folder.disk.folders.existing(folder.path)).open(name, flags: O_RDWR)
            #expect(try OwnerAttribute.set(7, on: copy))
        }
    }

    @Test func `a pair that was copied together with its attributes is continued`() async throws {
        let folder = TestFolder()
        try await killed(folder)
        try copyPair(folder, withMarks: true)
        folder.restart()
        #expect(try folder.found("x.bin").1.done.runs == [ByteRange(0, 3000)])
    }

    @Test(arguments: [true, false])
    func `A9 a pair without owner attributes belongs to another program, unless it is what the journal was made for`(
        marks: Bool
    ) async throws {
        let folder = TestFolder { $0.marks = marks }
        try await killed(folder)
        try copyPair(folder, withMarks: false)
        let journal = try folder.bytes(of: "x.bin.pawl")
        folder.restart()
        #expect(try folder.fresh("x.bin").form == .spare)
        #expect(try folder.bytes(of: "x.bin.part") == payload(3000))
        #expect(try folder.bytes(of: "x.bin.pawl") == journal)
    }

    @Test func `a journal without its part file claims nothing`() async throws {
        let folder = TestFolder()
        try await killed(folder)
        unsafe unlink("\(folder.path)/x.bin.part")
        folder.restart()
        let partial = try folder.fresh("x.bin")
        #expect(folder.names == ["x.bin.part"])
        partial.discard()
        #expect(folder.names.isEmpty)
    }

    @Test(arguments: [0, 1, 40, 5000, 20_000])
    func `a damaged journal is set aside and reported, and nothing of it is trusted`(_ position: Int) async throws {
        let folder = TestFolder()
        try await killed(folder)
        var bytes = try folder.bytes(of: "x.bin.pawl")
        if position < 40 { bytes[position] ^= 0x55 } else { bytes = payload(position, seed: 5) }
        try folder.put(bytes, in: "x.bin.pawl")
        try folder.put([1], in: "x.bin.pawl.bad")
        folder.restart()
        let partial = try folder.fresh("x.bin")
        #expect(folder.said.count == 1)
        #expect(folder.said.first?.contains("x.bin.pawl") == true)
        #expect(try folder.bytes(of: "x.bin.pawl.bad") == [1])
        #expect(folder.names.filter { $0.contains("bad") }.count == 2)
        #expect(try folder.bytes(of: "x.bin.part").isEmpty)
        partial.discard()
    }

    @Test(arguments: [0, 4096, 20_480]) func `a journal that was never filled is not damaged`(
        _ length: Int
    ) async throws {
        let folder = TestFolder()
        try await killed(folder)
        try folder.put([UInt8](repeating: 0, count: length), in: "x.bin.pawl")
        folder.restart()
        _ = try folder.fresh("x.bin")
        #expect(folder.said.isEmpty)
        #expect(try folder.bytes(of: "x.bin.part").isEmpty)
    }

    @Test func `a journal of a newer version is code 34 and nothing is touched`() async throws {
        let folder = TestFolder()
        try await killed(folder)
        var bytes = try folder.bytes(of: "x.bin.pawl")
        bytes[8] = UInt8(JournalLayout.version) + 1
        let check = CRC64.value(of: bytes[..<24])
        for index in 0..<8 { bytes[24 + index] = UInt8(truncatingIfNeeded: check >> UInt64(8 * index)) }
        try folder.put(bytes, in: "x.bin.pawl")
        folder.restart()
        for policy in IfExists.allCases {
            let failure = #expect(throws: Failure.self) { try folder.claim("x.bin", policy) }
            #expect(failure?.code == .newerJournal)
        }
        #expect(try folder.bytes(of: "x.bin.pawl") == bytes)
        #expect(try folder.bytes(of: "x.bin.part") == payload(3000))
        #expect(folder.names == ["x.bin.part", "x.bin.pawl"])
        #expect(folder.said.isEmpty)
    }

    @Test func `starting over is durable before the data is truncated`() async throws {
        let folder = TestFolder()
        let partial = try folder.fresh("x.bin")
        try partial.beginJournal(folder.facts("x.bin"), done: ByteRangeSet())
        try partial.beginLane(slot: 0, at: 0)
        try partial.write(payload(3000), at: 0)
        partial.advanceLane(slot: 0, to: 3000)
        try partial.startOver(folder.facts("x.bin", total: 9))
        #expect(try folder.bytes(of: "x.bin.part").isEmpty)
        // A lane of the old content cannot claim anything any more.
        partial.advanceLane(slot: 0, to: 3000)
        try partial.write(payload(20), at: 0)
        try partial.beginLane(slot: 0, at: 0)
        partial.advanceLane(slot: 0, to: 20)
        partial.release()
        folder.restart()
        let (_, loaded) = try folder.found("x.bin")
        #expect(loaded.done.runs == [ByteRange(0, 20)])
        #expect(loaded.facts.representation.total == 9)
    }

    @Test func `a reused slot loses nothing of its last lane`() throws {
        let folder = TestFolder()
        let partial = try folder.fresh("x.bin")
        try partial.beginJournal(folder.facts("x.bin"), done: ByteRangeSet())
        for lane in 0..<20 as Range<Int64> {
            try partial.beginLane(slot: 3, at: lane * 100)
            try partial.write(payload(50), at: lane * 100)
            partial.advanceLane(slot: 3, to: lane * 100 + 50)
        }
        partial.release()
        folder.restart()
        #expect(try folder.found("x.bin").1.done.count == 1000)
    }

    @Test func `a paused download without a journal gets one, and one without bytes leaves nothing`() throws {
        let folder = TestFolder()
        let partial = try folder.fresh("x.bin")
        try partial.write(payload(50), at: 0)
        try partial.close(keeping: folder.facts("x.bin"), done: ByteRangeSet([ByteRange(0, 50)]))
        let empty = try folder.fresh("y.bin")
        try empty.close(keeping: folder.facts("y.bin"), done: ByteRangeSet())
        #expect(folder.names == ["x.bin.part", "x.bin.pawl"])
        #expect(try folder.found("x.bin").1.done.count == 50)
    }

    @Test func `URLs in a journal are readable by its owner only`() throws {
        let folder = TestFolder()
        let partial = try folder.fresh("x.bin")
        try partial.beginJournal(folder.facts("x.bin"), done: ByteRangeSet())
        var found = stat()
        #expect(unsafe stat("\(folder.path)/x.bin.pawl", &found) == 0)
        #expect(found.st_mode & 0o077 == 0)
    }

    @Test func `unfinished finds a part file by its URL, in one scan`() throws {
        let folder = TestFolder()
        for number in 0..<20 {
            let partial = try folder.fresh("\(number).bin", from: "https://a.example/\(number)")
            let facts = folder.facts("\(number).bin", from: "https://a.example/\(number)")
            try partial.beginJournal(facts, done: ByteRangeSet())
            partial.release()
        }
        try folder.put(payload(100), in: "noise.pawl")
        folder.restart()
        #expect(folder.disk.unfinished(of: "https://a.example/7", in: folder.path) == "7.bin")
        #expect(folder.disk.unfinished(of: "https://a.example/77", in: folder.path) == nil)
        #expect(folder.disk.unfinished(of: "https://a.example/7", in: "/nowhere/at/all") == nil)
        // Later changes by this process are known without another scan.
        let partial = try folder.fresh("new.bin", from: "https://a.example/new")
        try partial.beginJournal(folder.facts("new.bin", from: "https://a.example/new"), done: ByteRangeSet())
        #expect(folder.disk.unfinished(of: "https://a.example/new", in: folder.path) == "new.bin")
        partial.discard()
        #expect(folder.disk.unfinished(of: "https://a.example/new", in: folder.path) == nil)
    }
}
