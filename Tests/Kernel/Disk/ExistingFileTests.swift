import Glibc
import Synchronization
import Testing

@testable import PawlBase
@testable import PawlDisk
@testable import PawlJournal
@testable import PawlSystem

@Suite struct ExistingFileTests {
    private func folder() throws -> TestFolder {
        let folder = TestFolder()
        try folder.put(payload(1000), in: "x.bin")
        return folder
    }

    private func existing(_ folder: TestFolder) throws -> (FilePartial, Int64) {
        guard case .existing(let partial, let length) = try folder.claim("x.bin", .resume) else {
            throw Unexpected(what: "the finished file did not become the part file")
        }
        return (try #require(partial as? FilePartial), length)
    }

    @Test func `rename takes the next free name`() throws {
        let folder = try folder()
        try folder.put([1], in: "x (1).bin")
        #expect(try folder.fresh("x.bin").name == "x (2).bin")
    }

    @Test func `skip touches nothing`() throws {
        let folder = try folder()
        guard case .skipped(let path) = try folder.claim("x.bin", .skip) else {
            Issue.record("not skipped")
            return
        }
        #expect(path == "\(folder.path)/x.bin")
        #expect(folder.names == ["x.bin"])
        // A skipped name is not held.
        #expect(try folder.fresh("x.bin", .overwrite).name == "x.bin")
    }

    @Test func `fail is code 13 and touches nothing`() throws {
        let folder = try folder()
        let failure = #expect(throws: Failure.self) { try folder.claim("x.bin", .fail) }
        #expect(failure?.code == .fileExists)
        #expect(folder.names == ["x.bin"])
    }

    @Test func `the holes of a file that is to be continued are known`() throws {
        let folder = TestFolder()
        try folder.put(payload(1 << 20), in: "x.bin")
        let (whole, _) = try existing(folder)
        #expect(whole.holes.isEmpty)
        try whole.restoreOriginal()
        // As a program leaves a file that it writes several parts of at once.
        let file = unsafe open("\(folder.path)/y.bin", O_WRONLY | O_CREAT, 0o644)
        defer { close(file) }
        let part = payload(1 << 16)
        #expect(unsafe pwrite(file, part, part.count, 0) == part.count)
        #expect(unsafe pwrite(file, part, part.count, 1 << 19) == part.count)
        #expect(ftruncate(file, 1 << 20) == 0)
        guard case .existing(let partial, _) = try folder.claim("y.bin", .resume) else {
            throw Unexpected(what: "the finished file did not become the part file")
        }
        let end: Int64 = 1 << 19
        #expect(partial.holes == [ByteRange(1 << 16, end), ByteRange(end + 1 << 16, 1 << 20)])
        try partial.restoreOriginal()
        #expect(folder.names == ["x.bin", "y.bin"])
    }

    @Test(arguments: ["aria2", "st", "lftp-pget-status"])
    func `a file that another program has not finished is not continued`(ending: String) throws {
        let folder = try folder()
        try folder.put([1], in: "x.bin.\(ending)")
        let failure = #expect(throws: Failure.self) { try folder.claim("x.bin", .resume) }
        #expect(failure?.code == .fileExists)
        #expect(failure?.why.description.contains("x.bin.\(ending) shows that another program") == true)
        #expect(try folder.bytes(of: "x.bin") == payload(1000))
        // `pawl aria2c` makes an empty one for what it has not finished.
        try folder.put([], in: "x.bin.\(ending)")
        #expect(try existing(folder).1 == 1000)
    }

    @Test func `overwrite keeps the old file until the new one is complete`() async throws {
        let folder = try folder()
        let partial = try folder.fresh("x.bin", .overwrite)
        try partial.write(payload(10, seed: 2), at: 0)
        #expect(try folder.bytes(of: "x.bin") == payload(1000))
        _ = try await partial.publish(length: 10)
        #expect(try folder.bytes(of: "x.bin") == payload(10, seed: 2))
        #expect(folder.names == ["x.bin"])
    }

    @Test(arguments: [IfExists.overwrite, .resume]) func `a folder under the final name is not overwritten`(
        _ policy: IfExists
    ) throws {
        let folder = TestFolder()
        unsafe mkdir("\(folder.path)/x.bin", 0o777)
        let failure = #expect(throws: Failure.self) { try folder.claim("x.bin", policy) }
        #expect(failure?.code == .fileExists)
        unsafe rmdir("\(folder.path)/x.bin")
    }

    @Test func `resume makes the finished file the part file and can restore it`() throws {
        let folder = try folder()
        let kept = try #require(folder.disk.folders.existing(folder.path))
        let before = try #require(try kept.status(of: "x.bin"))
        let (partial, length) = try existing(folder)
        #expect(length == 1000)
        #expect(folder.names == ["x.bin.part", "x.bin.pawl"])
        try partial.write(payload(20, seed: 3), at: 1000)
        try partial.restoreOriginal()
        #expect(folder.names == ["x.bin"])
        #expect(try folder.bytes(of: "x.bin") == payload(1000))
        let after = try #require(try kept.status(of: "x.bin"))
        #expect(after.identity == before.identity)
        #expect(after.modifiedSeconds == before.modifiedSeconds)
        #expect(after.modifiedNanoseconds == before.modifiedNanoseconds)
    }

    @Test func `a file that was continued has its name again with the first bytes that were added`() throws {
        let folder = try folder()
        let (partial, _) = try existing(folder)
        try partial.record(folder.facts("x.bin", total: 2000), done: ByteRangeSet([ByteRange(0, 1500)]))
        try partial.write(payload(500, seed: 2), at: 1000)
        try partial.restoreExtended(length: 1300)
        #expect(folder.names == ["x.bin"])
        #expect(try folder.bytes(of: "x.bin") == payload(1000) + payload(500, seed: 2).prefix(300))
    }

    @Test func `bytes that were never written are not added to it`() throws {
        let folder = try folder()
        let (partial, _) = try existing(folder)
        try partial.write(payload(100, seed: 2), at: 1000)
        try partial.restoreExtended(length: 1101)
        #expect(folder.names == ["x.bin"])
        #expect(try folder.bytes(of: "x.bin") == payload(1000))
    }

    @Test(arguments: [true, false], [true, false])
    func `a file whose name was taken in the meantime stays Pawl's, and has the name when it is free`(
        marks: Bool, isExtended: Bool
    ) throws {
        let folder = TestFolder { $0.marks = marks }
        try folder.put(payload(1000), in: "x.bin")
        let (partial, _) = try existing(folder)
        try partial.record(folder.facts("x.bin", total: 2000), done: ByteRangeSet([ByteRange(0, 1500)]))
        try partial.beginLane(slot: 0, at: 1000)
        try partial.write(payload(500, seed: 2), at: 1000)
        partial.advanceLane(slot: 0, to: 1500)
        try folder.put([7], in: "x.bin")
        let failure = #expect(throws: Failure.self) {
            if isExtended { try partial.restoreExtended(length: 1300) } else { try partial.restoreOriginal() }
        }
        #expect(failure?.code == .renameFailed)
        partial.release()
        for isFree in [false, true] {
            if isFree { unsafe unlink("\(folder.path)/x.bin") }
            folder.restart()
            let other = try folder.fresh("x.bin")
            #expect(other.name == "x (1).bin")
            other.discard()
        }
        #expect(folder.names == ["x.bin"])
        let added = isExtended ? payload(500, seed: 2).prefix(300) : []
        #expect(try folder.bytes(of: "x.bin") == payload(1000) + added)
    }

    @Test(arguments: [true, false]) func `what is being published is left to the publisher`(isExtended: Bool) throws {
        let folder = try folder()
        let (partial, _) = try existing(folder)
        try partial.write(payload(500, seed: 2), at: 1000)
        partial.ticket.isPublishing.store(true, ordering: .releasing)
        if isExtended { try partial.restoreExtended(length: 1300) } else { try partial.restoreOriginal() }
        #expect(folder.names == ["x.bin.part", "x.bin.pawl"])
        #expect(try folder.bytes(of: "x.bin.part") == payload(1000) + payload(500, seed: 2))
        #expect(partial.file == nil && !partial.ticket.isReleased)
    }

    @Test func `bytes whose sync has failed are not added to it, although a later sync succeeds`() throws {
        let folder = try folder()
        let (partial, _) = try existing(folder)
        try partial.record(folder.facts("x.bin", total: 2000), done: ByteRangeSet([ByteRange(0, 1500)]))
        try partial.write(payload(500, seed: 2), at: 1000)
        partial.journal?.distrustCache(because: SystemError(number: EIO))
        try partial.restoreExtended(length: 1300)
        #expect(folder.names == ["x.bin"])
        #expect(try folder.bytes(of: "x.bin") == payload(1000))
    }

    @Test func `resume that continues publishes the longer file`() async throws {
        let folder = try folder()
        let (partial, _) = try existing(folder)
        try partial.beginJournal(folder.facts("x.bin"), done: ByteRangeSet([ByteRange(0, 1000)]))
        try partial.beginLane(slot: 0, at: 1000)
        try partial.write(payload(500, seed: 2), at: 1000)
        partial.advanceLane(slot: 0, to: 1500)
        _ = try await partial.publish(length: 1500)
        #expect(try folder.bytes(of: "x.bin") == payload(1000) + payload(500, seed: 2))
        #expect(folder.names == ["x.bin"])
    }

    @Test func `killed before a byte was added, resume offers the finished file again`() throws {
        let folder = try folder()
        let (partial, _) = try existing(folder)
        // The judge has accepted a lane, and its overlap is being compared.
        try partial.record(folder.facts("x.bin", total: 2000), done: ByteRangeSet([ByteRange(0, 1000)]))
        try partial.beginLane(slot: 0, at: 1000)
        partial.release()
        folder.restart()
        #expect(try existing(folder).1 == 1000)
    }

    @Test func `killed after a byte was added, the bytes are found`() throws {
        let folder = try folder()
        let (partial, _) = try existing(folder)
        try partial.record(folder.facts("x.bin", total: 2000), done: ByteRangeSet([ByteRange(0, 1000)]))
        try partial.beginLane(slot: 0, at: 1000)
        try partial.write(payload(50, seed: 2), at: 1000)
        partial.advanceLane(slot: 0, to: 1050)
        partial.release()
        folder.restart()
        let (again, loaded) = try folder.found("x.bin", .resume)
        #expect(loaded.done.runs == [ByteRange(0, 1050)] && loaded.original == 1000)
        try again.record(loaded.facts, done: loaded.done)
        again.release()
        folder.restart()
        // However often it is killed: what it began with is known.
        let (last, journal) = try folder.found("x.bin")
        #expect(journal.original == 1000)
        try last.restoreOriginal()
        #expect(folder.names == ["x.bin"])
        #expect(try folder.bytes(of: "x.bin") == payload(1000))
    }

    @Test(arguments: [IfExists.rename, .resume])
    func `killed between losing its mark and having its name again, it is still Pawl's`(next: IfExists) throws {
        let folder = try folder()
        let (partial, _) = try existing(folder)
        OwnerAttribute.remove(from: partial.openFile)
        partial.release()
        folder.restart()
        guard next == .resume else {
            let other = try folder.fresh("x.bin")
            #expect(other.name == "x (1).bin")
            #expect(try folder.bytes(of: "x.bin") == payload(1000))
            return other.discard()
        }
        let (again, length) = try existing(folder)
        #expect(length == 1000 && OwnerAttribute.read(again.openFile).isOurs)
        try again.restoreOriginal()
        #expect(folder.names == ["x.bin"])
    }

    @Test func `an unmarked part file of another length is not taken for it`() throws {
        let folder = try folder()
        let (partial, _) = try existing(folder)
        OwnerAttribute.remove(from: partial.openFile)
        try partial.openFile.truncate(to: 999)
        partial.release()
        folder.restart()
        #expect(try folder.fresh("x.bin").form == .spare)
        #expect(try folder.bytes(of: "x.bin.part") == payload(999))
    }

    @Test(arguments: [IfExists.rename, .skip, .fail])
    func `killed before a byte was added, another policy restores the finished file's name`(_ policy: IfExists) throws {
        let folder = try folder()
        let (partial, _) = try existing(folder)
        partial.release()
        folder.restart()
        switch policy {
        case .rename: #expect(try folder.fresh("x.bin").name == "x (1).bin")
        case .fail: #expect(throws: Failure.self) { try folder.claim("x.bin", .fail) }
        default: _ = try folder.claim("x.bin", policy)
        }
        #expect(try folder.bytes(of: "x.bin") == payload(1000))
        #expect(!folder.names.contains("x.bin.part"))
        #expect(!folder.names.contains("x.bin.pawl"))
    }

    @Test func `a hard link to the finished file stays unharmed`() async throws {
        let folder = try folder()
        #expect(unsafe link("\(folder.path)/x.bin", "\(folder.path)/other") == 0)
        let (partial, length) = try existing(folder)
        #expect(length == 1000)
        try partial.write(payload(500, seed: 2), at: 1000)
        _ = try await partial.publish(length: 1500)
        #expect(try folder.bytes(of: "x.bin") == payload(1000) + payload(500, seed: 2))
        #expect(try folder.bytes(of: "other") == payload(1000))
        #expect(folder.names == ["other", "x.bin"])
    }

    @Test func `a finished file with another link is restored by dropping the copy`() throws {
        let folder = try folder()
        #expect(unsafe link("\(folder.path)/x.bin", "\(folder.path)/other") == 0)
        let (partial, _) = try existing(folder)
        try partial.restoreOriginal()
        #expect(folder.names == ["other", "x.bin"])
        #expect(try folder.bytes(of: "x.bin") == payload(1000))
    }

    /// A copy of a finished file with another link, to which `added` bytes were added.
    private func copied(_ folder: TestFolder, adding added: Int) throws -> FilePartial {
        #expect(unsafe link("\(folder.path)/x.bin", "\(folder.path)/other") == 0)
        let (partial, _) = try existing(folder)
        let done = ByteRangeSet([ByteRange(0, 1000 + Int64(added))])
        try partial.write(payload(added, seed: 2), at: 1000)
        try partial.beginJournal(folder.facts("x.bin", total: 2000), done: done)
        return partial
    }

    @Test func `an interrupted copy continues the finished file, and replaces it when it is complete`() async throws {
        let folder = try folder()
        try copied(folder, adding: 500).release()
        folder.restart()
        let (partial, loaded) = try folder.found("x.bin", .resume)
        #expect(loaded.original == 1000 && loaded.done.count == 1500)
        try partial.write(payload(500, seed: 3), at: 1500)
        _ = try await partial.publish(length: 2000)
        #expect(try folder.bytes(of: "x.bin") == payload(1000) + payload(500, seed: 2) + payload(500, seed: 3))
        #expect(try folder.bytes(of: "other") == payload(1000))
        #expect(folder.names == ["other", "x.bin"])
    }

    @Test func `a copy to which nothing was added is made again`() throws {
        for hasJournal in [true, false] {
            let folder = try folder()
            if hasJournal {
                try copied(folder, adding: 0).release()
            } else {
                #expect(unsafe link("\(folder.path)/x.bin", "\(folder.path)/other") == 0)
                try existing(folder).0.release()
            }
            folder.restart()
            let (partial, length) = try existing(folder)
            #expect(length == 1000)
            try partial.restoreOriginal()
            #expect(folder.names == ["other", "x.bin"])
        }
    }

    @Test func `after a failure the finished file is replaced by its copy with the bytes that were added`() throws {
        let folder = try folder()
        try copied(folder, adding: 500).restoreExtended(length: 1300)
        #expect(folder.names == ["other", "x.bin"])
        #expect(try folder.bytes(of: "x.bin") == payload(1000) + payload(500, seed: 2).prefix(300))
        #expect(try folder.bytes(of: "other") == payload(1000))
        #expect(try existing(folder).1 == 1300)
    }

    @Test(arguments: [500, 1500])
    func `the part file of a download that is to replace the file is not continued, which is known at once`(
        count: Int
    ) throws {
        let folder = try folder()
        let partial = try folder.fresh("x.bin", .overwrite)
        try partial.write(payload(count, seed: 2), at: 0)
        let done = ByteRangeSet([ByteRange(0, Int64(count))])
        try partial.beginJournal(folder.facts("x.bin", total: 2000), done: done)
        partial.release()
        folder.restart()
        for _ in 0..<2 {
            let failure = #expect(throws: Failure.self) { try folder.claim("x.bin", .resume) }
            #expect(failure?.cause?.id == "part-not-continuing")
        }
        #expect(try folder.bytes(of: "x.bin") == payload(1000))
        #expect(try folder.found("x.bin", .overwrite).1.done == done)
    }

    @Test(arguments: ["/tmp", "/dev/shm"]) func `A9 a file that appears while downloading is not replaced`(
        _ parent: String
    ) async throws {
        let folder = TestFolder(in: parent)
        let renaming = try folder.fresh("x.bin")
        try renaming.write(payload(10), at: 0)
        try folder.put([7], in: "x.bin")
        try folder.put([8], in: "x (1).bin")
        let path = try await renaming.publish(length: 10)
        #expect(path == "\(folder.path)/x (2).bin")

        let failing = try folder.fresh("y.bin", .fail)
        try failing.write(payload(10), at: 0)
        try folder.put([7], in: "y.bin")
        let failure = await #expect(throws: Failure.self) { try await failing.publish(length: 10) }
        #expect(failure?.code == .fileExists)
        #expect(try folder.bytes(of: "y.bin") == [7])
        #expect(try folder.bytes(of: "y.bin.part") == payload(10))

        let skipping = try folder.fresh("z.bin", .skip)
        try skipping.write(payload(10), at: 0)
        try folder.put([7], in: "z.bin")
        await #expect(throws: Failure.self) { try await skipping.publish(length: 10) }
        #expect(try folder.bytes(of: "z.bin") == [7])
        #expect(!folder.names.contains("z.bin.part"))
        #expect(try folder.bytes(of: "x.bin") == [7])
    }
}
