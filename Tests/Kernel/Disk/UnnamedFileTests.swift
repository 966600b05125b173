import Glibc
import Testing

@testable import PawlBase
@testable import PawlDisk
@testable import PawlJournal

/// Small files on a memory disk have no name until they are finished.
@Suite struct UnnamedFileTests {
    @Test func `a small file in memory has no name before it is finished`() async throws {
        let folder = TestFolder(in: "/dev/shm")
        let partial = try folder.small("x.bin", of: 1000)
        #expect(!partial.isNamed)
        try partial.write(payload(1000), at: 0)
        #expect(folder.names.isEmpty)
        let path = try await partial.publish(length: 1000, modified: UnixTime(seconds: 1_000_000_000))
        #expect(path == "\(folder.path)/x.bin")
        #expect(folder.names == ["x.bin"])
        #expect(try folder.bytes(of: "x.bin") == payload(1000))
        #expect(try folder.disk.folders.open(folder.path).status(of: "x.bin")?.modifiedSeconds == 1_000_000_000)
    }

    @Test func `a killed small download leaves nothing`() throws {
        let folder = TestFolder(in: "/dev/shm")
        do {
            let partial = try folder.small("x.bin", of: 1000)
            try partial.write(payload(500), at: 0)  // Abandoned without being closed: what a kill would leave.
        }
        #expect(folder.names.isEmpty)
        #expect(try !folder.small("x.bin", of: 1000).isNamed)
    }

    @Test func `a discarded one leaves other files unchanged`() throws {
        let folder = TestFolder(in: "/dev/shm")
        let partial = try folder.small("x.bin", of: 1000)
        try folder.put([7], in: "x.bin.part")
        partial.discard()
        #expect(folder.names == ["x.bin.part"])
    }

    @Test(arguments: [IfExists.rename, .fail, .skip, .resume]) func `a file that appeared meanwhile is never replaced`(
        ifExists: IfExists
    ) async throws {
        let folder = TestFolder(in: "/dev/shm")
        let partial = try folder.small("x.bin", of: 1000, ifExists)
        #expect(!partial.isNamed)
        try partial.write(payload(1000), at: 0)
        try folder.put([7], in: "x.bin")
        if ifExists == .rename {
            #expect(try await partial.publish(length: 1000) == "\(folder.path)/x (1).bin")
            #expect(try folder.bytes(of: "x (1).bin") == payload(1000))
        } else {
            let failure = await #expect(throws: Failure.self) { try await partial.publish(length: 1000) }
            #expect(failure?.code == .fileExists)
            partial.discard()
            #expect(folder.names == ["x.bin"])
        }
        #expect(try folder.bytes(of: "x.bin") == [7])
    }

    @Test func `a slow one gets its part file, locked and marked`() async throws {
        let folder = TestFolder(in: "/dev/shm")
        let partial = try folder.small("x.bin", of: 1000)
        try partial.write(payload(400), at: 0)
        partial.ensurePartName()
        #expect(partial.isNamed)
        #expect(folder.names == ["x.bin.part"])
        let other = FileDisk(folder.disk.environment)
        let selection = Claim(
            folder: folder.path, name: "x.bin", ifExists: .rename, facts: folder.facts("x.bin", total: 1000))
        let failure = #expect(throws: Failure.self) { try other.claim(selection) { _ in false } }
        #expect(failure?.code == .alreadyDownloading)
        try partial.write(payload(1000), at: 0)
        _ = try await partial.publish(length: 1000)
        #expect(folder.names == ["x.bin"])
        #expect(try folder.bytes(of: "x.bin") == payload(1000))
    }

    @Test func `a part file that another process has created meanwhile is not taken`() async throws {
        let folder = TestFolder(in: "/dev/shm")
        let partial = try folder.small("x.bin", of: 1000)
        let other = try folder.elsewhere("x.bin", of: 1000)
        other.ensurePartName()
        partial.ensurePartName()
        #expect(!partial.isNamed && other.isNamed)
        try partial.write(payload(1000, seed: 2), at: 0)
        try other.write(payload(1000), at: 0)
        #expect(try await other.publish(length: 1000) == "\(folder.path)/x.bin")
        #expect(try await partial.publish(length: 1000) == "\(folder.path)/x (1).bin")
        #expect(try folder.bytes(of: "x.bin") == payload(1000))
        #expect(try folder.bytes(of: "x (1).bin") == payload(1000, seed: 2))
        #expect(folder.names == ["x (1).bin", "x.bin"])
    }

    @Test func `a pause keeps the received bytes`() throws {
        let folder = TestFolder(in: "/dev/shm")
        let partial = try folder.small("x.bin", of: 1000)
        try partial.write(payload(400), at: 0)
        let facts = folder.facts("x.bin", total: 1000)
        try partial.close(keeping: facts, done: ByteRangeSet([ByteRange(0, 400)]))
        #expect(folder.names == ["x.bin.part", "x.bin.pawl"])
        folder.restart()
        let (again, loaded) = try folder.found("x.bin")
        #expect(loaded.done.runs == [ByteRange(0, 400)])
        again.discard()
        #expect(folder.names.isEmpty)
    }

    @Test func `a slow one beside another program's journal gets the spare names`() async throws {
        let folder = TestFolder(in: "/dev/shm")
        try folder.put([7], in: "x.bin.pawl")
        let partial = try folder.small("x.bin", of: 1000)
        #expect(!partial.isNamed)
        try partial.write(payload(400), at: 0)
        partial.ensurePartName()
        #expect(partial.isNamed && folder.names == ["x.bin.part.1", "x.bin.pawl"])
        let facts = folder.facts("x.bin", total: 1000)
        try partial.close(keeping: facts, done: ByteRangeSet([ByteRange(0, 400)]))
        folder.restart()
        let (again, loaded) = try folder.found("x.bin")
        #expect(loaded.done.runs == [ByteRange(0, 400)] && again.form == .spare)
        try again.write(payload(1000), at: 0)
        #expect(try await again.publish(length: 1000) == "\(folder.path)/x.bin")
        #expect(folder.names == ["x.bin", "x.bin.pawl"])
        #expect(try folder.bytes(of: "x.bin.pawl") == [7])
    }

    @Test func `the leftover of an earlier run is continued`() throws {
        let folder = TestFolder(in: "/dev/shm")
        let partial = try folder.fresh("x.bin")
        try partial.close(keeping: folder.facts("x.bin", total: 1000), done: ByteRangeSet([ByteRange(0, 10)]))
        folder.restart()
        let selection = Claim(
            folder: folder.path, name: "x.bin", ifExists: .rename, facts: folder.facts("x.bin", total: 1000))
        guard case .found(let again, _) = try folder.disk.claim(selection, adopts: { _ in false }) else {
            Issue.record("not found")
            return
        }
        again.discard()
        #expect(folder.names.isEmpty)
    }

    @Test func `a large file, one of unknown length and one that may replace have their part file immediately`() throws
    {
        let folder = TestFolder(in: "/dev/shm")
        for (total, ifExists) in [(Int64(2 << 20), IfExists.rename), (nil, .rename), (1000, .overwrite)] {
            let partial = try folder.small("x.bin", of: total, ifExists)
            #expect(partial.isNamed)
            #expect(folder.names == ["x.bin.part"])
            partial.discard()
        }
        #expect(folder.names.isEmpty)
    }
}

extension TestFolder {
    fileprivate func small(_ name: String, of total: Int64?, _ ifExists: IfExists = .rename) throws -> FilePartial {
        try fresh(name, of: total, ifExists, on: disk)
    }

    /// A claim as another process would make it.
    fileprivate func elsewhere(_ name: String, of total: Int64) throws -> FilePartial {
        try fresh(name, of: total, .rename, on: FileDisk(disk.environment))
    }

    private func fresh(_ name: String, of total: Int64?, _ ifExists: IfExists, on disk: FileDisk) throws -> FilePartial
    {
        let selection = Claim(folder: path, name: name, ifExists: ifExists, facts: facts(name, total: total))
        guard case .fresh(let partial) = try disk.claim(selection, adopts: { _ in false }) else {
            throw Unexpected(what: "the part file of \(name) is not a new one")
        }
        return try #require(partial as? FilePartial)
    }
}
