import Glibc
import PawlTestKit
import Synchronization
import Testing

@testable import PawlBase
@testable import PawlDisk
@testable import PawlJournal
@testable import PawlSystem

private let here = "https://a.example/x"
private let there = "https://b.example/x"

@Suite struct ClaimingTests {
    @Test func `a missing folder is created with its parents`() throws {
        let folder = TestFolder()
        let deep = "\(folder.path)/a/b"
        let selection = Claim(folder: deep, name: "x", ifExists: .rename, facts: folder.facts("x"))
        guard case .fresh(let partial) = try folder.disk.claim(selection, adopts: { _ in false }) else {
            Issue.record("not a new part file")
            return
        }
        #expect(partial.path == "\(deep)/x")
        partial.discard()
        unsafe rmdir(deep)
        unsafe rmdir("\(folder.path)/a")
    }

    @Test func `a folder below a file cannot be created`() throws {
        let folder = TestFolder()
        try folder.put([1], in: "file")
        let selection = Claim(folder: "\(folder.path)/file/sub", name: "x", ifExists: .rename, facts: folder.facts("x"))
        let failure = #expect(throws: Failure.self) { try folder.disk.claim(selection) { _ in false } }
        #expect(failure?.code == .cannotMakeFolder)
    }

    @Test func `a part file of the same URL is found with every written byte`() throws {
        let folder = TestFolder()
        let partial = try folder.fresh("x.bin")
        try partial.beginJournal(folder.facts("x.bin", total: 1000), done: ByteRangeSet())
        try partial.beginLane(slot: 0, at: 0)
        try partial.write(payload(300), at: 0)
        partial.advanceLane(slot: 0, to: 300)
        try partial.beginLane(slot: 1, at: 500)
        try partial.write(payload(100), at: 500)
        partial.advanceLane(slot: 1, to: 600)
        partial.release()  // As a kill would: nothing is written any more.
        folder.restart()
        let (again, loaded) = try folder.found("x.bin")
        #expect(loaded.done.runs == [ByteRange(0, 300), ByteRange(500, 600)])
        #expect(loaded.facts == folder.facts("x.bin", total: 1000))
        again.discard()
        #expect(folder.names.isEmpty)
    }

    @Test func `a part file of another URL is offered and adopted`() throws {
        let folder = TestFolder()
        let partial = try folder.fresh("x.bin", from: there)
        try partial.write(payload(10), at: 0)
        try partial.close(keeping: folder.facts("x.bin", from: there), done: ByteRangeSet([ByteRange(0, 10)]))
        var offered: [LoadedJournal] = []
        let result = try folder.claim("x.bin", from: here) { journal in
            offered.append(journal)
            return true
        }
        guard case .found(_, let loaded) = result else {
            Issue.record("not found")
            return
        }
        #expect(offered.map(\.facts.sources) == [[there]])
        #expect(loaded.done.count == 10)
    }

    @Test func `a part file of another URL that is not adopted counts as a taken name`() throws {
        let folder = TestFolder()
        let partial = try folder.fresh("x.bin", from: there)
        try partial.write(payload(10), at: 0)
        try partial.close(keeping: folder.facts("x.bin", from: there), done: ByteRangeSet([ByteRange(0, 10)]))
        let before = try folder.bytes(of: "x.bin.pawl")
        let second = try folder.fresh("x.bin", from: here)
        #expect(second.name == "x (1).bin")
        for policy in [IfExists.overwrite, .resume, .skip, .fail] {
            let failure = #expect(throws: Failure.self) { try folder.claim("x.bin", from: here, policy) }
            #expect(failure?.code == .fileExists)
        }
        #expect(try folder.bytes(of: "x.bin.pawl") == before)
        #expect(try folder.bytes(of: "x.bin.part").count == 10)
    }

    @Test func `the same download twice is code 11 and another one of the name uses another name`() throws {
        let folder = TestFolder()
        let first = try folder.fresh("x.bin", from: here)
        let failure = #expect(throws: Failure.self) { try folder.claim("x.bin", from: here) }
        #expect(failure?.code == .alreadyDownloading)
        #expect(failure?.description.contains("x.bin") == true)
        let other = try folder.fresh("x.bin", from: there)
        #expect(other.name == "x (1).bin")
        let held = #expect(throws: Failure.self) { try folder.claim("x.bin", from: there, .overwrite) }
        #expect(held?.code == .alreadyDownloading)
        first.discard()
        #expect(try folder.fresh("x.bin", from: here).name == "x.bin")
    }

    @Test(arguments: [true, false]) func `a disk object that shares no state sees the lock and whose download it is`(
        _ hasJournal: Bool
    ) throws {
        let folder = TestFolder()
        let first = try folder.fresh("x.bin", from: here)
        if hasJournal { try first.beginJournal(folder.facts("x.bin"), done: ByteRangeSet()) }
        folder.restart()
        let failure = #expect(throws: Failure.self) { try folder.claim("x.bin", from: here) }
        #expect(failure?.code == .alreadyDownloading)
        #expect(try folder.fresh("x.bin", from: there).name == "x (1).bin")
        first.discard()
    }

    @Test func `A9 another program's part file is never touched`() throws {
        let folder = TestFolder()
        try folder.put(payload(50), in: "x.bin.part")
        for policy in IfExists.allCases {
            let partial = try folder.fresh("x.bin", policy)
            #expect(partial.name == "x.bin" && partial.form == .spare)
            partial.discard()
        }
        #expect(try folder.bytes(of: "x.bin.part") == payload(50))
    }

    @Test func `A9 a link, a folder or a pipe under a part file's name is never touched`() throws {
        let folder = TestFolder()
        try folder.put(payload(50), in: "target")
        unsafe symlink("\(folder.path)/target", "\(folder.path)/a.part")
        unsafe mkfifo("\(folder.path)/b.part", 0o666)
        unsafe mkdir("\(folder.path)/c.part", 0o777)
        for name in ["a", "b", "c"] { #expect(try folder.fresh(name).form == .spare) }
        #expect(try folder.bytes(of: "target") == payload(50))
        unsafe rmdir("\(folder.path)/c.part")
    }

    @Test(arguments: ["/tmp", "/dev/shm"], [true, false])
    func `the leftover of a killed small file is recognized and reused`(_ parent: String, _ marks: Bool) throws {
        let folder = TestFolder(in: parent) { $0.marks = marks }
        let partial = try folder.fresh("x.bin")
        try partial.write(payload(50), at: 0)
        partial.release()
        folder.restart()
        let again = try folder.fresh("x.bin", from: there)
        #expect(again.name == "x.bin")
        #expect(try folder.bytes(of: "x.bin.part").isEmpty)
    }

    @Test(arguments: [true, false])
    func `A9 an empty part file without an owner attribute is another program's, unless it was about to get one`(
        marks: Bool
    ) throws {
        let folder = TestFolder { $0.marks = marks }
        try folder.put([], in: "x.bin.part")
        #expect(try folder.fresh("x.bin").form == .spare)
        #expect(folder.names.contains("x.bin.part"))
        try folder.put([], in: "y.bin.part")
        #expect(unsafe chmod("\(folder.path)/y.bin.part", 0o1644) == 0)
        let ours = try folder.fresh("y.bin")
        #expect(ours.name == "y.bin")
        var found = stat()
        #expect(unsafe stat("\(folder.path)/y.bin.part", &found) == 0)
        #expect(found.st_mode & 0o7777 == 0o644, "the bit is cleared when the attribute is set")
    }

    @Test func `names of 255 bytes leave room for part file and journal`() throws {
        let folder = TestFolder()
        let name = String(repeating: "ä", count: 125) + "a.bin"
        #expect(name.utf8.count == 255)
        let partial = try folder.fresh(name)
        try partial.beginJournal(folder.facts(name), done: ByteRangeSet())
        #expect(folder.names.count == 2)
        #expect(folder.names.allSatisfy { $0.utf8.count <= 255 })
        partial.release()
        #expect(try folder.found(name).0.name == name)
        #expect(folder.disk.unfinished(of: here, in: folder.path) == name)
    }

    @Test func `a folder that is moved away and created again is seen to be another one`() throws {
        let folder = TestFolder()
        #expect(try claimsInMovedFolder(folder) == ["in", "out"])
    }

    @Test func `a folder that was checked just now is not checked again`() throws {
        let folder = TestFolder { $0.folderTrust = .max }
        #expect(try claimsInMovedFolder(folder) == ["out", "out"])
    }

    @Test func `a part file is looked for where its folder's path leads, however lately that was checked`() throws {
        let folder = TestFolder { $0.folderTrust = .max }
        let (inner, moved) = ("\(folder.path)/in", "\(folder.path)/out")
        let selection = Claim(folder: inner, name: "x", ifExists: .rename, facts: folder.facts("x"))
        guard case .fresh(let part) = try folder.disk.claim(selection, adopts: { _ in false }) else {
            throw Unexpected(what: "the part file of x is not a new one")
        }
        try part.beginJournal(folder.facts("x"), done: ByteRangeSet())
        try #require(part as? FilePartial).release()
        #expect(folder.disk.unfinished(of: here, in: inner) == "x")
        try #require(unsafe rename(inner, moved) == 0)
        #expect(folder.disk.unfinished(of: here, in: inner) == nil)
        #expect(folder.disk.unfinished(of: here, in: moved) == "x")
    }

    @Test func `a folder that was removed is made again, however lately it was checked`() throws {
        let folder = TestFolder { $0.folderTrust = .max }
        let inner = "\(folder.path)/in"
        var selection = Claim(folder: inner, name: "x", ifExists: .rename, facts: folder.facts("x"))
        _ = try folder.disk.claim(selection) { _ in false }
        try #require(unsafe unlink("\(inner)/x.part") == 0 && rmdir(inner) == 0)
        selection.name = "y"
        guard case .fresh = try folder.disk.claim(selection, adopts: { _ in false }) else {
            throw Unexpected(what: "the part file of y is not a new one")
        }
        #expect(unsafe unlink("\(inner)/y.part") == 0 && rmdir(inner) == 0)
    }

    /// Claims a name, moves its folder from `in` to `out`, claims the next name, and returns the locations of both.
    private func claimsInMovedFolder(_ folder: TestFolder) throws -> [String] {
        let inner = "\(folder.path)/in"
        var found: [String] = []
        var selection = Claim(folder: inner, name: "x", ifExists: .rename, facts: folder.facts("x"))
        _ = try folder.disk.claim(selection) { _ in false }
        unsafe rename(inner, "\(folder.path)/out")
        selection.name = "y"
        _ = try folder.disk.claim(selection) { _ in false }
        for name in ["y", "x"] {
            for place in ["in", "out"] where unsafe unlink("\(folder.path)/\(place)/\(name).part") == 0 {
                found.append(place)
            }
        }
        for place in ["in", "out"] { unsafe rmdir("\(folder.path)/\(place)") }
        return found
    }

    @Test func `many downloads of one name each get their own`() throws {
        let folder = TestFolder()
        var names: Set<String> = []
        var partials: [FilePartial] = []
        for number in 0..<40 {
            let partial = try folder.fresh("x.bin", from: "https://a.example/\(number)")
            names.insert(partial.name)
            partials.append(partial)
        }
        #expect(names.count == 40)
        #expect(names.contains("x (39).bin"))
    }

    @Test func `a download finds its part file while others examine the name`() throws {
        let folder = TestFolder()
        let partial = try folder.fresh("x.bin", from: here)
        try partial.write(payload(10), at: 0)
        try partial.close(keeping: folder.facts("x.bin", from: here), done: ByteRangeSet([ByteRange(0, 10)]))
        for _ in 0..<60 {
            let found = claimAtOnce("x.bin", from: [there, here], in: folder)
            #expect(found == ["new: x (1).bin", "found: x.bin"])
            if found.last != "found: x.bin" { break }
        }
    }

    /// The results of claims of one name that threads make at the same time.
    private func claimAtOnce(_ name: String, from sources: [String], in folder: TestFolder) -> [String] {
        let disk = folder.disk
        let start = Start()
        let claims = sources.map { source in
            let facts = folder.facts(name, from: source)
            return Claim(folder: folder.path, name: name, ifExists: .rename, facts: facts)
        }
        let threads = claims.indices.map { index in
            SystemThread.start {
                start.ready.add(1, ordering: .acquiringAndReleasing)
                while start.ready.load(ordering: .acquiring) < claims.count {}
                let found = Self.outcome(of: claims[index], on: disk)
                start.results.withLock { $0[index] = found }
            }
        }
        for thread in threads { thread.join() }
        return start.results.withLock { results in claims.indices.map { results[$0] ?? "" } }
    }

    /// Claims and lets go again.
    private static func outcome(of claim: Claim, on disk: FileDisk) -> String {
        do {
            switch try disk.claim(claim, adopts: { _ in false }) {
            case .fresh(let partial):
                partial.discard()
                return "new: \(partial.name)"
            case .found(let partial, _):
                (partial as? FilePartial)?.release()
                return "found: \(partial.name)"
            case .existing, .skipped: return "exists"
            }
        } catch { return "\(error)" }
    }

    private final class Start: Sendable {
        let ready = Atomic(0)
        let results = Mutex<[Int: String]>([:])
    }
}
