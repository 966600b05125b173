import Glibc
import PawlTestKit
import Testing

@testable import PawlBase
@testable import PawlDisk
@testable import PawlJournal

/// Names beside the final one that belong to other programs: such a file's bytes, name and length never change.
@Suite struct NeighbourTests {
    fileprivate enum Kind: String, CaseIterable {
        case absent, ours, file, empty, zeros, journalOfOthers, link, dangling, folder, pipe, hardLink
    }

    fileprivate enum Ending: CaseIterable { case publish, discard, pause }

    /// The externally changeable state of a name.
    private struct Sight: Hashable {
        var mode: UInt32
        var inode: UInt64
        var links: Int
        var bytes: [UInt8]?
    }

    private static let traits: FileSystemTraits = [.local, .volatile, .mappable, .keepsInodes]
    private static let endings = [".part", ".pawl", "", ".pawl.bad"]

    private static func sight(_ path: String) -> Sight? {
        var found = stat()
        guard unsafe lstat(path, &found) == 0 else { return nil }
        let isRegular = found.st_mode & S_IFMT == S_IFREG
        return Sight(
            mode: UInt32(found.st_mode), inode: UInt64(found.st_ino), links: Int(found.st_nlink),
            bytes: isRegular ? FileSystem.contents(path) : nil)
    }

    /// A valid journal made elsewhere, for example a downloaded one.
    private static let otherJournal: [UInt8] = {
        let (_, writes) = JournalKeeper.begun(
            facts: JournalFacts(sources: ["https://a.example/x"], name: "x"), done: ByteRangeSet([ByteRange(0, 10)]),
            inodes: JournalInodes(part: 1, journal: 2), boot: nil, nonce: 9)
        var bytes = VolatileBytes()
        bytes.perform(writes)
        return bytes.cache
    }()

    private func put(_ kind: Kind, at path: String, in folder: TestFolder) throws {
        let name = String(path.dropFirst(folder.path.utf8.count + 1))
        if kind != .ours { unsafe unlink(path) }
        switch kind {
        case .absent, .ours: break
        case .file: try folder.put(payload(700, seed: 4), in: name)
        case .empty: try folder.put([], in: name)
        case .zeros: try folder.put([UInt8](repeating: 0, count: 5000), in: name)
        case .journalOfOthers: try folder.put(Self.otherJournal, in: name)
        case .link: unsafe symlink("\(folder.path)/target", path)
        case .dangling: unsafe symlink("\(folder.path)/nowhere", path)
        case .folder: unsafe mkdir(path, 0o755)
        case .pipe: unsafe mkfifo(path, 0o644)
        case .hardLink: unsafe link("\(folder.path)/target", path)
        }
    }

    /// Pawl's own files of an earlier run, as a kill leaves them.
    private func leaveOurs(_ folder: TestFolder) throws {
        let partial = try folder.fresh("x")
        try partial.beginJournal(folder.facts("x"), done: ByteRangeSet())
        try partial.beginLane(slot: 0, at: 0)
        try partial.write(payload(50), at: 0)
        partial.advanceLane(slot: 0, to: 50)
        partial.release()
    }

    private func use(_ result: ClaimResult, _ ending: Ending, _ folder: TestFolder) async throws {
        let taken: any JournalledFile
        switch result {
        case .fresh(let partial), .found(let partial, _), .existing(let partial, _): taken = partial
        case .skipped: return
        }
        let partial = try #require(taken as? FilePartial)
        try partial.write(payload(80), at: 0)
        try partial.beginJournal(folder.facts("x"), done: ByteRangeSet([ByteRange(0, 80)]))
        switch ending {
        case .publish: _ = try await partial.publish(length: 80)
        case .discard: partial.discard()
        case .pause: try partial.close(keeping: folder.facts("x"), done: ByteRangeSet([ByteRange(0, 80)]))
        }
    }

    private func check(_ kinds: [Kind], marks: Bool, _ policy: IfExists, _ ending: Ending) async throws {
        let folder = TestFolder(in: "/dev/shm") { environment in
            environment.marks = marks
            environment.traits = Self.traits
        }
        try folder.put(payload(300, seed: 8), in: "target")
        try leaveOurs(folder)
        for (kind, ending) in zip(kinds, Self.endings) { try put(kind, at: "\(folder.path)/x\(ending)", in: folder) }
        folder.restart()
        // The user has allowed the file of the final name to be replaced, or appended to.
        let isOffered = policy == .overwrite || policy == .resume
        var others = ["target"]
        for (kind, ending) in zip(kinds, Self.endings) where kind != .absent && kind != .ours {
            // Overwriting replaces a link to a file itself, and nothing that it leads to.
            let isReplaced = kind != .dangling && (kind != .link || policy == .overwrite)
            if ending.isEmpty, isOffered, isReplaced { continue }
            others.append("x\(ending)")
        }
        let before = others.map { Self.sight("\(folder.path)/\($0)") }
        for _ in 0..<2 {
            // A rejection also leaves everything unchanged.
            if let result = try? folder.claim("x", policy) { try? await use(result, ending, folder) }
            folder.restart()
        }
        let after = others.map { Self.sight("\(folder.path)/\($0)") }
        for (name, (before, after)) in zip(others, zip(before, after)) where before != after {
            if name == "target", isOffered, kinds.contains(.hardLink) { continue }
            let place = zip(kinds, Self.endings).map { "x\($1) \($0.rawValue)" }
            Issue.record("\(name) was changed: \(place), \(policy), marks \(marks), \(ending)")
        }
        for ending in Self.endings { unsafe rmdir("\(folder.path)/x\(ending)") }
    }

    @Test(arguments: [true, false], IfExists.allCases)
    func `A9 another program's file beside the final name stays as it is`(marks: Bool, policy: IfExists) async throws {
        for part in Kind.allCases {
            for journal in Kind.allCases {
                let finals: [Kind] = [.absent, .file, .link, .folder]
                for (number, final) in finals.enumerated() {
                    let bad = Kind.allCases.filter { $0 != .ours }[(number + part.rawValue.count) % 10]
                    let ending = Ending.allCases[(number + journal.rawValue.count) % 3]
                    try await check([part, journal, final, bad], marks: marks, policy, ending)
                }
            }
        }
    }

    @Test(arguments: [true, false], Ending.allCases)
    fileprivate func `A9 every kind of file under every name, one at a time`(marks: Bool, ending: Ending) async throws {
        for kind in Kind.allCases where kind != .ours {
            for place in Self.endings.indices {
                for policy in IfExists.allCases {
                    var kinds: [Kind] = [.absent, .absent, .absent, .absent]
                    kinds[place] = kind
                    try await check(kinds, marks: marks, policy, ending)
                }
            }
        }
    }

    @Test func `A9 a finished file of the journal's name is left alone, and the part file gets another name`()
        async throws
    {
        let folder = TestFolder()
        let first = try folder.fresh("foo.pawl", from: "https://a.example/foo.pawl")
        try first.write(payload(500), at: 0)
        _ = try await first.publish(length: 500)
        let second = try folder.fresh("foo", from: "https://a.example/foo")
        #expect(second.name == "foo")
        #expect(folder.said.contains { $0.contains("foo.pawl") && $0.contains("another name") }, "\(folder.said)")
        try second.write(payload(80), at: 0)
        try second.beginJournal(folder.facts("foo"), done: ByteRangeSet([ByteRange(0, 80)]))
        _ = try await second.publish(length: 80)
        #expect(folder.names == ["foo", "foo.pawl"])
        #expect(try folder.bytes(of: "foo.pawl") == payload(500))
    }

    @Test(arguments: [false, true])
    func `a part file that another program has locked is left alone, and the final name stays`(isOurs: Bool) throws {
        let folder = TestFolder(in: "/dev/shm") { $0.traits = Self.traits }
        if isOurs { try leaveOurs(folder) } else { try folder.put(payload(90), in: "x.part") }
        folder.restart()
        let before = try folder.bytes(of: "x.part")
        let path = "\(folder.path)/x.part"
        let file = OpenFile(adopting: unsafe open(path, O_RDWR | O_CLOEXEC))
        #expect(try JournalFile.lockIfPossible(file))
        let other = try folder.fresh("x", from: "https://a.example/y")
        #expect(other.name == (isOurs ? "x (1)" : "x"))
        #expect(folder.said.contains { $0.contains("x.part") && $0.contains("another name") } == !isOurs)
        #expect(try folder.bytes(of: "x.part") == before)
    }

    @Test func `an unreadable file is not used`() throws {
        let folder = TestFolder()
        try folder.put(payload(9), in: "x.pawl")
        unsafe chmod("\(folder.path)/x.pawl", 0)
        #expect(try folder.fresh("x").form == .spare)
        unsafe chmod("\(folder.path)/x.pawl", 0o644)
        #expect(try folder.bytes(of: "x.pawl") == payload(9))
    }
}
