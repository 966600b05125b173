import Glibc
import Testing

@testable import PawlBase
@testable import PawlDisk
@testable import PawlJournal

/// Files that are written when all of their bytes are there.
@Suite struct WholeFileTests {
    private func whole(_ name: String, in folder: TestFolder, _ bytes: [UInt8] = payload(1000)) -> WholeFile {
        WholeFile(
            folder: folder.path, name: name, bytes: bytes, source: "https://a.example/x",
            content: ContentFingerprint(
                source: "https://a.example/x", host: "https://a.example:443", selection: .whole,
                validators: Validators(entityTag: EntityTag(opaque: "a", isWeak: false))),
            modified: UnixTime(seconds: 1_000_000_000))
    }

    @Test func `it gets its name, its time and the mark of a finished file at once`() throws {
        let folder = TestFolder(in: "/dev/shm")
        #expect(folder.disk.publishesWhole(in: folder.path))
        let file = try #require(folder.disk.publish(whole("x.bin", in: folder)))
        #expect(file.path == "\(folder.path)/x.bin")
        #expect(folder.names == ["x.bin"])
        #expect(try folder.bytes(of: "x.bin") == payload(1000))
        let status = try #require(try folder.disk.folders.open(folder.path).status(of: "x.bin"))
        #expect(status.modifiedSeconds == 1_000_000_000 && status.permissions == 0o666 & ~Umask.own)
        #expect(file.stamp == folder.disk.stamp(of: "x.bin", in: folder.path))
        folder.restart()
        #expect(folder.disk.wasFinished("x.bin", from: "https://a.example/x", in: folder.path))
    }

    @Test func `a file without a byte is one too`() throws {
        let folder = TestFolder(in: "/dev/shm")
        #expect(folder.disk.publish(whole("x.bin", in: folder, [])) != nil)
        #expect(try folder.bytes(of: "x.bin") == [])
    }

    @Test func `what has the name stays as it is`() throws {
        let folder = TestFolder(in: "/dev/shm")
        try folder.put([7], in: "x.bin")
        #expect(!folder.disk.isFree("x.bin", in: folder.path) && folder.disk.isFree("y.bin", in: folder.path))
        #expect(folder.disk.publish(whole("x.bin", in: folder)) == nil)
        #expect(folder.names == ["x.bin"])
        #expect(try folder.bytes(of: "x.bin") == [7])
    }

    @Test(arguments: ["x.bin.part", "x.bin.part.1", "x.bin.pawl.1"])
    func `files beside it that were there are a claim's`(other: String) throws {
        let folder = TestFolder(in: "/dev/shm")
        try folder.put([7], in: other)
        #expect(!folder.disk.isFree("x.bin", in: folder.path))
        #expect(folder.disk.publish(whole("x.bin", in: folder)) == nil)
        #expect(folder.names == [other])
    }

    @Test func `a name that a download has, or that a paused one has left, is not taken`() throws {
        let folder = TestFolder(in: "/dev/shm")
        #expect(folder.disk.unfinished(of: "https://a.example/x", in: folder.path) == nil)
        let partial = try folder.fresh("x.bin")
        #expect(folder.disk.publish(whole("x.bin", in: folder)) == nil)
        try partial.write(payload(400), at: 0)
        try partial.close(keeping: folder.facts("x.bin", total: 1000), done: ByteRangeSet([ByteRange(0, 400)]))
        #expect(folder.disk.publish(whole("x.bin", in: folder)) == nil)
        #expect(folder.names == ["x.bin.part", "x.bin.pawl"])
    }

    @Test func `a name that may be a numbered one is a claim's, which compares its bytes`() throws {
        let folder = TestFolder(in: "/dev/shm")
        #expect(folder.disk.publish(whole("x (1).bin", in: folder)) == nil)
        #expect(folder.names.isEmpty)
    }

    @Test func `a reserved name is a claim's`() throws {
        let folder = TestFolder(in: "/dev/shm")
        folder.disk.reserve("x.bin.part", in: folder.path)
        #expect(folder.disk.publish(whole("x.bin", in: folder)) == nil)
        #expect(folder.disk.publish(whole("y.bin", in: folder)) != nil)
    }

    @Test func `on a disk that is to be waited for nothing is written`() throws {
        let folder = TestFolder(in: "/dev/shm") { $0.traits = [.local, .keepsOwners] }
        #expect(!folder.disk.publishesWhole(in: folder.path))
        #expect(folder.disk.publish(whole("x.bin", in: folder)) == nil)
        #expect(folder.names.isEmpty)
    }

    @Test func `a folder that is gone is made, as for a claim`() throws {
        let folder = TestFolder(in: "/dev/shm")
        unsafe rmdir(folder.path)
        #expect(!folder.disk.publishesWhole(in: folder.path))
        #expect(folder.disk.publish(whole("x.bin", in: folder)) != nil)
        #expect(folder.names == ["x.bin"])
    }

    @Test func `without attributes there is no mark`() throws {
        let folder = TestFolder(in: "/dev/shm") { $0.marks = false }
        #expect(folder.disk.publish(whole("x.bin", in: folder)) != nil)
        #expect(!folder.disk.wasFinished("x.bin", from: "https://a.example/x", in: folder.path))
    }

    @Test func `the digests of bytes are computed at once`() {
        let disk = TestFolder().disk
        let found = disk.digests([.md5], of: Array("hello".utf8))
        #expect(found.map(\.text) == ["md5=5d41402abc4b2a76b9719d911017c592"])
    }
}
