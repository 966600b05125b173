import Glibc
import PawlTestKit
import Testing

@testable import PawlBase
@testable import PawlDisk
@testable import PawlJournal

/// Names and folders that are only canonically equivalent are different ones on disk.
@Suite struct EquivalentNameTests {
    @Test(arguments: EquivalentNames.pairs) func `both are downloaded at once, each to its own file`(
        left: String, right: String
    ) async throws {
        let folder = TestFolder()
        let partials = [try folder.fresh(left), try folder.fresh(right)]
        for (partial, seed) in zip(partials, 1...) { try partial.write(payload(100, seed: UInt64(seed)), at: 0) }
        for (partial, name) in zip(partials, [left, right]) {
            #expect(try await partial.publish(length: 100).hasSameBytes(as: "\(folder.path)/\(name)"))
        }
        #expect(try folder.bytes(of: left) == payload(100, seed: 1))
        #expect(try folder.bytes(of: right) == payload(100, seed: 2))
        #expect(folder.names.count == 2)
    }

    @Test(arguments: EquivalentNames.pairs) func `a folder is not taken for an equivalent one`(
        left: String, right: String
    ) throws {
        let folder = TestFolder()
        for (name, seed) in [(left, UInt64(1)), (right, 2)] {
            let path = "\(folder.path)/\(name)"
            let claim = Claim(folder: path, name: "f", ifExists: .rename, facts: folder.facts("f"))
            let result = try folder.disk.claim(claim) { _ in false }
            guard case .fresh(let partial as FilePartial) = result else { throw Unexpected(what: "an existing file") }
            try partial.write(payload(10, seed: seed), at: 0)
            #expect(FileSystem.names(in: path).contains("f.part"))
            #expect(folder.disk.folders.kept(path) != nil)
            partial.discard()
        }
        let others = try #require(folder.disk.folders.existing("\(folder.path)/\(left)"))
        #expect(folder.disk.folders.existing("\(folder.path)/\(right)")?.identity != others.identity)
        for name in [left, right] { unsafe rmdir("\(folder.path)/\(name)") }
    }

    @Test(arguments: EquivalentNames.pairs, [true, false]) func `each part file is found by the URL that it is of`(
        pair: (String, String), marks: Bool
    ) throws {
        let folder = TestFolder { $0.marks = marks }
        for name in [pair.0, pair.1] {
            let source = "s3://bucket/\(name)"
            let partial = try folder.fresh(name, from: source)
            var facts = folder.facts(name, from: source, total: 9000)
            facts.name = name
            try partial.beginJournal(facts, done: ByteRangeSet())
            try partial.beginLane(slot: 0, at: 0)
            try partial.write(payload(3000), at: 0)
            partial.advanceLane(slot: 0, to: 3000)
            partial.release()
        }
        for isRestarted in [false, true] {
            if isRestarted { folder.restart() }
            for name in [pair.0, pair.1] {
                let found = folder.disk.unfinished(of: "s3://bucket/\(name)", in: folder.path)
                #expect(found.hasSameBytes(as: name))
            }
        }
        let (partial, journal) = try folder.found(pair.1, from: "s3://bucket/\(pair.1)")
        #expect(journal.done.count == 3000 && partial.name.hasSameBytes(as: pair.1))
        partial.release()
        // A part file of the other URL is another download's.
        let other = try folder.fresh(pair.1, from: "s3://bucket/\(pair.0)")
        #expect(!other.name.hasSameBytes(as: pair.1))
        other.discard()
    }

    @Test(arguments: EquivalentNames.pairs) func `the numbers of taken names are those of the name`(
        left: String, right: String
    ) throws {
        let folder = TestFolder()
        let opened = try folder.disk.folders.open(folder.path)
        for number in 20..<30 { #expect(folder.disk.numbers.next(after: number, of: left, in: opened) == number + 1) }
        #expect(folder.disk.numbers.next(after: 10, of: right, in: opened) == 11)
        let keys = [left, right].map { ClaimRegistry.Key(folder: opened.identity, name: $0) }
        #expect(keys[0] != keys[1] && Set(keys).count == 2)
        #expect(PartNames(left) != PartNames(right))
    }

    @Test(arguments: EquivalentNames.pairs) func `a path below an equivalent folder is not below the root`(
        left: String, right: String
    ) throws {
        let folder = try TemporaryFolder()
        for name in [left, right] { _ = unsafe mkdir(folder.path(name), 0o700) }
        try FileSystem.write(Array("x".utf8), to: folder.path("\(left)/\u{301}f"))
        let root = try #require(RootFolder(folder.path(left)))
        #expect(root.open(folder.path("\(right)/\u{301}f")) == nil)
        let file = try #require(root.open(folder.path("\(left)/\u{301}f")))
        close(file)
    }
}
