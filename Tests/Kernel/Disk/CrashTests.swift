import Glibc
import Testing

@testable import PawlBase
@testable import PawlDisk
@testable import PawlJournal

/// The states that a kill leaves between two steps; the next claim completes or clears each of them.
@Suite struct CrashTests {
    private func journalled(_ folder: TestFolder) throws -> FilePartial {
        let partial = try folder.fresh("x.bin")
        try partial.write(payload(3000), at: 0)
        try partial.beginJournal(folder.facts("x.bin", total: 3000), done: ByteRangeSet([ByteRange(0, 3000)]))
        return partial
    }

    /// What publishing notes on a part file before it renames it.
    private func complete(_ partial: FilePartial, _ length: Int64, part: RequestedRange = .whole) {
        let value = OwnerAttribute.value(of: "https://a.example/x")
        OwnerAttribute.complete(value, part: part.mark, length: length, on: partial.openFile)
    }

    private func move(_ name: String, to newName: String, in folder: TestFolder) {
        #expect(unsafe rename("\(folder.path)/\(name)", "\(folder.path)/\(newName)") == 0)
    }

    @Test(arguments: IfExists.allCases)
    func `killed between the final rename and the journal's removal, the journal is removed and the file stays`(
        _ policy: IfExists
    ) throws {
        let folder = TestFolder()
        let published = try journalled(folder)
        complete(published, 3000)
        published.release()
        move("x.bin.part", to: "x.bin", in: folder)
        folder.restart()
        let result = try? folder.claim("x.bin", policy)
        switch (policy, result) {
        case (.rename, .skipped?), (.fail, .skipped?): break
        case (.overwrite, .fresh(let partial)?): partial.discard()
        case (.resume, .existing(let partial, let length)?):
            #expect(length == 3000)
            try partial.restoreOriginal()
        case (.skip, .skipped?): break
        default: Issue.record("\(policy) gave \(String(describing: result))")
        }
        #expect(folder.names == ["x.bin"])
        #expect(try folder.bytes(of: "x.bin") == payload(3000))
    }

    @Test(arguments: [true, false])
    func `C3 killed before the last step of publishing, the same download is complete and another's name is taken`(
        hasJournal: Bool
    ) throws {
        let folder = TestFolder()
        let published = try hasJournal ? journalled(folder) : folder.fresh("x.bin")
        complete(published, hasJournal ? 3000 : 0)
        published.release()
        move("x.bin.part", to: "x.bin", in: folder)
        folder.restart()
        let other = try folder.fresh("x.bin", from: "https://b.example/x")
        #expect(other.name == "x (1).bin")
        other.discard()
        guard case .skipped(let path) = try folder.claim("x.bin") else {
            Issue.record("it is downloaded again")
            return
        }
        #expect(path == "\(folder.path)/x.bin")
        #expect(folder.names == ["x.bin"])
        // From now on it is an ordinary file.
        #expect(try folder.fresh("x.bin").name == "x (1).bin")
    }

    @Test(arguments: [true, false], [true, false])
    func `killed before the last step of publishing, a file of another part is not the requested one`(
        hasJournal: Bool, marks: Bool
    ) throws {
        let folder = TestFolder { $0.marks = marks }
        var begun = folder.facts("x.bin", total: 9000)
        begun.representation.selection = .closed(ByteRange(0, 3000))
        func claim(_ selection: RequestedRange?) throws -> ClaimResult {
            var facts = begun
            facts.representation.selection = selection
            let claim = Claim(folder: folder.path, name: "x.bin", ifExists: .rename, facts: facts)
            return try folder.disk.claim(claim) { _ in false }
        }
        guard case .fresh(let opened) = try claim(begun.representation.selection) else { return }
        let partial = try #require(opened as? FilePartial)
        try partial.write(payload(3000), at: 0)
        if hasJournal { try partial.beginJournal(begun, done: ByteRangeSet([ByteRange(0, 3000)])) }
        if marks { complete(partial, 3000, part: .closed(ByteRange(0, 3000))) }
        partial.release()
        move("x.bin.part", to: "x.bin", in: folder)
        folder.restart()
        for other in [RequestedRange.whole, .from(0), .closed(ByteRange(0, 2000))] {
            guard case .fresh(let partial) = try claim(other) else {
                Issue.record("\(other) is taken for complete")
                continue
            }
            #expect(partial.name == "x (1).bin")
            partial.discard()
        }
        #expect(try folder.bytes(of: "x.bin") == payload(3000))
    }

    @Test func `a published part of a resource is recognized until it was reported, also when another part was begun`()
        async throws
    {
        let folder = TestFolder()
        func facts(_ selection: RequestedRange) -> JournalFacts {
            var facts = folder.facts("x.bin", total: 9000)
            facts.representation.selection = selection
            return facts
        }
        func claim(_ selection: RequestedRange) throws -> ClaimResult {
            let claim = Claim(folder: folder.path, name: "x.bin", ifExists: .rename, facts: facts(selection))
            return try folder.disk.claim(claim) { _ in false }
        }
        guard case .fresh(let opened) = try claim(.whole) else { return }
        let begun = try #require(opened as? FilePartial)
        try begun.write(payload(3000), at: 0)
        try begun.beginJournal(facts(.whole), done: ByteRangeSet([ByteRange(0, 3000)]))
        begun.release()
        folder.restart()
        let part = RequestedRange.closed(ByteRange(0, 3000))
        guard case .found(let found, _) = try claim(part) else {
            Issue.record("the bytes on disk are not found")
            return
        }
        let partial = try #require(found as? FilePartial)
        try partial.record(facts(part), done: ByteRangeSet([ByteRange(0, 3000)]))
        complete(partial, 3000, part: part)
        partial.release()
        move("x.bin.part", to: "x.bin", in: folder)
        folder.restart()
        guard case .fresh(let other) = try claim(.whole) else {
            Issue.record("a part is taken for the whole")
            return
        }
        other.discard()
    }

    @Test(arguments: [true, false]) func `a file that another process is publishing is not taken for an abandoned one`(
        marks: Bool
    ) throws {
        let folder = TestFolder { $0.marks = marks }
        let partial = try journalled(folder)
        move("x.bin.part", to: "x.bin", in: folder)
        folder.restart()
        #expect(try folder.fresh("x.bin").name == "x (1).bin")
        withExtendedLifetime(partial) {}
    }

    @Test func `without extended attributes the journal records the published name of the file`() throws {
        let folder = TestFolder { $0.marks = false }
        try journalled(folder).release()
        move("x.bin.part", to: "x.bin", in: folder)
        folder.restart()
        guard case .skipped = try folder.claim("x.bin") else {
            Issue.record("it is downloaded again")
            return
        }
        #expect(folder.names == ["x.bin"])
    }

    @Test(arguments: [true, false], [true, false]) func `A9 a part file that its user has renamed is no finished file`(
        hasJournal: Bool, marks: Bool
    ) throws {
        let folder = TestFolder { $0.marks = marks }
        let partial = try folder.fresh("x.bin")
        try partial.write(payload(3000), at: 0)
        if hasJournal {
            try partial.beginJournal(folder.facts("x.bin", total: 9000), done: ByteRangeSet([ByteRange(0, 3000)]))
        }
        partial.release()
        move("x.bin.part", to: "x.bin", in: folder)
        folder.restart()
        if hasJournal {
            let failure = #expect(throws: Failure.self) { try folder.claim("x.bin", .skip) }
            #expect(failure?.cause?.id == "part-with-final-name")
        }
        let next = try folder.fresh("x.bin")
        #expect(next.name == "x (1).bin")
        next.discard()
        #expect(throws: Failure.self) { try folder.claim("x.bin", .fail) }
        guard case .existing(let continued, let length) = try folder.claim("x.bin", .resume) else {
            Issue.record("it cannot be continued")
            return
        }
        #expect(length == 3000)
        try continued.restoreOriginal()
        #expect(try folder.bytes(of: "x.bin") == payload(3000))
    }

    @Test func `a file that was changed after it was noted as complete is not taken for finished`() throws {
        let folder = TestFolder()
        let partial = try journalled(folder)
        complete(partial, 3000)
        try partial.openFile.truncate(to: 2000)
        partial.release()
        move("x.bin.part", to: "x.bin", in: folder)
        folder.restart()
        #expect(try folder.fresh("x.bin").name == "x (1).bin")
    }

    @Test func `C3 another program's file of the name is not taken for the one that a kill left`() throws {
        let folder = TestFolder()
        try journalled(folder).release()
        unsafe unlink("\(folder.path)/x.bin.part")
        try folder.put(payload(3000), in: "x.bin")
        folder.restart()
        #expect(try folder.fresh("x.bin").name == "x (1).bin")
        #expect(try folder.bytes(of: "x.bin") == payload(3000))
    }

    @Test func `killed after the last byte and before the final rename, everything is found`() throws {
        let folder = TestFolder()
        try journalled(folder).release()
        folder.restart()
        #expect(try folder.found("x.bin").1.done.count == 3000)
    }

    @Test func `killed while being removed, between part file and journal, the name is free again`() throws {
        let folder = TestFolder()
        try journalled(folder).release()
        unsafe unlink("\(folder.path)/x.bin.part")
        folder.restart()
        try folder.fresh("x.bin").discard()
        #expect(folder.names.isEmpty)
    }

    @Test func `killed between creating the part file and its journal, the name is reused`() throws {
        let folder = TestFolder()
        try folder.fresh("x.bin").release()
        folder.restart()
        #expect(try folder.fresh("x.bin").name == "x.bin")
    }

    @Test func `killed between the journal and the rename of a finished file, the file keeps its name`() throws {
        let folder = TestFolder()
        try folder.put(payload(100), in: "x.bin")
        guard case .existing(let partial, _) = try folder.claim("x.bin", .resume) else {
            Issue.record("not taken")
            return
        }
        try #require(partial as? FilePartial).release()
        move("x.bin.part", to: "x.bin", in: folder)
        folder.restart()
        _ = try folder.claim("x.bin", .skip)
        #expect(folder.names == ["x.bin"])
    }

    @Test func `killed between restoring a finished file's name and removing the journal`() throws {
        let folder = TestFolder()
        try folder.put(payload(100), in: "x.bin")
        guard case .existing(let partial, _) = try folder.claim("x.bin", .resume) else {
            Issue.record("not taken")
            return
        }
        #expect(unsafe link("\(folder.path)/x.bin.pawl", "\(folder.path)/kept") == 0)
        try partial.restoreOriginal()
        move("kept", to: "x.bin.pawl", in: folder)
        folder.restart()
        #expect(try folder.fresh("x.bin").name == "x (1).bin")
        #expect(folder.names == ["x (1).bin.part", "x.bin"])
    }

    @Test(arguments: [true, false], [true, false])
    func `killed between restoring a continued file and removing the journal, it is not complete`(
        marks: Bool, isExtended: Bool
    ) throws {
        let folder = TestFolder { $0.marks = marks }
        try folder.put(payload(100), in: "x.bin")
        guard case .existing(let taken, _) = try folder.claim("x.bin", .resume) else {
            Issue.record("not taken")
            return
        }
        let partial = try #require(taken as? FilePartial)
        try partial.record(folder.facts("x.bin", total: 200), done: ByteRangeSet([ByteRange(0, 150)]))
        try partial.beginLane(slot: 0, at: 100)
        try partial.write(payload(50, seed: 2), at: 100)
        partial.advanceLane(slot: 0, to: 150)
        #expect(unsafe link("\(folder.path)/x.bin.pawl", "\(folder.path)/kept") == 0)
        if isExtended { try partial.restoreExtended(length: 120) } else { try partial.restoreOriginal() }
        move("kept", to: "x.bin.pawl", in: folder)
        folder.restart()
        #expect(try folder.fresh("x.bin").name == "x (1).bin")
        #expect(!folder.names.contains("x.bin.pawl"))
        let added = isExtended ? payload(50, seed: 2).prefix(20) : []
        #expect(try folder.bytes(of: "x.bin") == payload(100) + added)
    }

    @Test func `a live download's journal is not cleared by a claim of its name`() throws {
        let folder = TestFolder()
        let partial = try journalled(folder)
        try folder.put([1], in: "x.bin")
        folder.restart()
        _ = try folder.claim("x.bin", .skip)
        #expect(folder.names == ["x.bin", "x.bin.part", "x.bin.pawl"])
        partial.discard()
    }

    @Test func `an orphan journal found when a new one begins is replaced`() throws {
        let folder = TestFolder()
        try journalled(folder).release()
        let partial = try folder.fresh("y.bin")
        move("x.bin.pawl", to: "y.bin.pawl", in: folder)
        try partial.beginJournal(folder.facts("y.bin"), done: ByteRangeSet())
        partial.release()
        folder.restart()
        #expect(try folder.found("y.bin").1.done.isEmpty)
    }

    @Test func `A9 a file that appears under the journal's name when it begins is not touched`() throws {
        let folder = TestFolder()
        let partial = try folder.fresh("x.bin")
        try folder.put(payload(200), in: "x.bin.pawl")
        let failure = #expect(throws: Failure.self) {
            try partial.beginJournal(folder.facts("x.bin"), done: ByteRangeSet())
        }
        #expect(failure?.code == .fileExists)
        partial.discard()
        #expect(try folder.bytes(of: "x.bin.pawl") == payload(200))
        #expect(folder.names == ["x.bin.pawl"])
    }

    @Test func `without extended attributes, killed after the final rename, the empty journal is removed`() throws {
        let folder = TestFolder { $0.marks = false }
        let partial = try folder.fresh("x.bin")
        #expect(folder.names == ["x.bin.part", "x.bin.pawl"])
        partial.release()
        move("x.bin.part", to: "x.bin", in: folder)
        folder.restart()
        _ = try folder.claim("x.bin", .skip)
        #expect(folder.names == ["x.bin"])
    }
}
