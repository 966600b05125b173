import Glibc
import PawlTestKit
import Testing

@testable import PawlBase
@testable import PawlDisk
@testable import PawlJournal

/// Bytes behind the cursors: at most one write of Pawl's own, and nothing of any other program.
@Suite struct TailTests {
    private static let traits: [FileSystemTraits] = [[.local, .keepsInodes], [.local, .mappable, .keepsInodes]]

    private func folder(_ traits: FileSystemTraits) -> TestFolder { TestFolder { $0.traits = traits } }

    /// A part file with [0, 1000) recorded.
    private func begun(_ folder: TestFolder) throws -> FilePartial {
        let partial = try folder.fresh("x.bin")
        try partial.beginJournal(folder.facts("x.bin"), done: ByteRangeSet())
        try partial.beginLane(slot: 0, at: 0)
        try partial.write(payload(1000), at: 0)
        partial.advanceLane(slot: 0, to: 1000)
        return partial
    }

    private func part(_ folder: TestFolder) -> String { "\(folder.path)/x.bin.part" }

    private func grow(_ folder: TestFolder, by count: Int) throws {
        let length = try #require(FileSystem.size(part(folder)))
        #expect(unsafe truncate(part(folder), Int(length) + count) == 0)
    }

    /// Waits until the file system's clock has advanced, as it has before a user acts.
    private func awaitTick(_ folder: TestFolder) throws {
        let before = try #require(FileSystem.changed(part(folder)))
        repeat {
            unsafe chmod(part(folder), 0o644)
        } while try #require(FileSystem.changed(part(folder))) - before < 20_000_000
    }

    private func left(_ folder: TestFolder, _ traits: FileSystemTraits) throws -> [ByteRange] {
        folder.restart { $0.traits = traits }
        let (partial, loaded) = try folder.found("x.bin")
        #expect(FileSystem.size(part(folder)) == loaded.done.upperBound, "what is not trusted is cut")
        partial.release()
        return loaded.done.runs
    }

    @Test(arguments: traits, [1, 4096, 100_000, 1 << 20, 3 << 20])
    func `bytes appended by another program after a clean end are cut`(traits: FileSystemTraits, count: Int) throws {
        let folder = folder(traits)
        let partial = try begun(folder)
        // The last write failed half-way: its bytes count no more than those of another program.
        try partial.write(payload(500, seed: 3), at: 1000)
        try partial.close(keeping: folder.facts("x.bin"), done: ByteRangeSet([ByteRange(0, 1000)]))
        try grow(folder, by: count)
        #expect(try left(folder, traits) == [ByteRange(0, 1000)])
    }

    @Test(arguments: traits, [1, 4096, 100_000, 1 << 20, 3 << 20])
    func `bytes appended by another program after a kill are cut`(traits: FileSystemTraits, count: Int) throws {
        let folder = folder(traits)
        try begun(folder).release()
        try grow(folder, by: count)
        #expect(try left(folder, traits) == [ByteRange(0, 1000)])
    }

    @Test(arguments: traits) func `A4 the write immediately before a kill is kept`(traits: FileSystemTraits) throws {
        let folder = folder(traits)
        let partial = try begun(folder)
        try partial.write(payload(300, seed: 3), at: 1000)
        partial.release()
        #expect(try left(folder, traits) == [ByteRange(0, 1300)])
        #expect(try left(folder, traits) == [ByteRange(0, 1300)])
    }

    @Test(arguments: traits, [1, 300, 7000, 9000]) func `half a write is cut, whatever follows it`(
        traits: FileSystemTraits, count: Int
    ) throws {
        let folder = folder(traits)
        let partial = try begun(folder)
        partial.willWrite(ByteRange(1000, 9000))
        try unsafe payload(300, seed: 3).withUnsafeBytes { try unsafe partial.write($0, at: 1000) }
        partial.release()
        if count > 300 { try grow(folder, by: count - 300 - 1) }
        #expect(try left(folder, traits) == [ByteRange(0, 1000)])
    }

    @Test(arguments: traits, [1, 200, 8000]) func `bytes appended to the write that a kill interrupted are cut with it`(
        traits: FileSystemTraits, count: Int
    ) throws {
        let folder = folder(traits)
        let partial = try begun(folder)
        partial.willWrite(ByteRange(1000, 9000))
        try unsafe payload(300, seed: 3).withUnsafeBytes { try unsafe partial.write($0, at: 1000) }
        partial.release()
        try awaitTick(folder)
        try grow(folder, by: count)
        #expect(try left(folder, traits) == [ByteRange(0, 1000)])
    }

    @Test(arguments: traits) func `bytes appended before the write that a kill interrupted are cut with it`(
        traits: FileSystemTraits
    ) throws {
        let folder = folder(traits)
        let partial = try begun(folder)
        try grow(folder, by: 5000)
        partial.willWrite(ByteRange(1000, 9000))
        try unsafe payload(300, seed: 3).withUnsafeBytes { try unsafe partial.write($0, at: 1000) }
        partial.release()
        #expect(try left(folder, traits) == [ByteRange(0, 1000)])
    }

    @Test func `bytes appended during the download are not in the finished file`() async throws {
        let folder = TestFolder()
        let partial = try begun(folder)
        try grow(folder, by: 5000)
        let path = try await partial.publish(length: 1000)
        #expect(FileSystem.size(path) == 1000)
        #expect(try folder.bytes(of: "x.bin") == payload(1000))
    }
}
