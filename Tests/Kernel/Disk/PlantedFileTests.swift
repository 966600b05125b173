import Glibc
import Testing

@testable import PawlBase
@testable import PawlDisk
@testable import PawlJournal
@testable import PawlSystem

/// Part files and journals that another user may have written are not continued.
@Suite struct PlantedFileTests {
    /// The folder with a valid part file and journal of 50 bytes.
    private func begun(in parent: String = "/tmp") throws -> TestFolder {
        let folder = TestFolder(in: parent)
        let partial = try folder.fresh("x.bin")
        try partial.beginJournal(folder.facts("x.bin", total: 100), done: ByteRangeSet())
        try partial.write(payload(50), at: 0)
        partial.wrote(ByteRange(0, 50))
        try partial.close(keeping: folder.facts("x.bin", total: 100), done: ByteRangeSet([ByteRange(0, 50)]))
        return folder
    }

    /// Another name, a notice, and no byte of the existing files changed.
    private func expectOther(_ folder: TestFolder, _ word: String) throws {
        #expect(try folder.fresh("x.bin").form == .spare)
        #expect(folder.said.contains { $0.contains(word) && $0.contains("another name") }, "\(folder.said)")
        #expect(try folder.bytes(of: "x.bin.part").prefix(50).elementsEqual(payload(50)))
        #expect(folder.disk.unfinished(of: "https://a.example/x", in: folder.path) != "x.bin")
    }

    @Test func `the user's own part file is continued`() throws {
        let folder = try begun()
        folder.restart()
        #expect(try folder.found("x.bin").1.done.count == 50)
        #expect(folder.said.isEmpty)
    }

    @Test func `files of another user are not used`() throws {
        let folder = try begun()
        folder.restart { $0.user = FileUser(user: geteuid() + 1, group: getegid() + 1) }
        try expectOther(folder, "another user")
    }

    @Test(arguments: ["x.bin.part", "x.bin.pawl"]) func `a file that others can write to is not used`(
        name: String
    ) throws {
        let folder = try begun()
        unsafe chmod("\(folder.path)/\(name)", 0o666)
        folder.restart()
        try expectOther(folder, "other users can write")
    }

    @Test(arguments: ["x.bin.part", "x.bin.pawl"]) func `a file with a second hard link is not used`(
        name: String
    ) throws {
        let folder = try begun()
        unsafe link("\(folder.path)/\(name)", "\(folder.path)/second")
        folder.restart()
        try expectOther(folder, "another name")
    }

    @Test(arguments: ["x.bin.part", "x.bin.pawl"]) func `a link in place of a file is not followed`(name: String) throws
    {
        let folder = try begun()
        unsafe rename("\(folder.path)/\(name)", "\(folder.path)/elsewhere")
        unsafe symlink("elsewhere", "\(folder.path)/\(name)")
        folder.restart()
        #expect(try folder.fresh("x.bin").form == .spare)
        #expect(folder.said.contains { $0.contains("not a regular file") }, "\(folder.said)")
    }

    @Test func `an explicit request for that name fails with the reason where the spare names are taken too`() throws {
        let folder = try begun()
        unsafe chmod("\(folder.path)/x.bin.part", 0o602)
        try folder.put([], in: "x.bin.part.1")
        unsafe chmod("\(folder.path)/x.bin.part.1", 0o602)
        folder.restart()
        let failure = #expect(throws: Failure.self) { try folder.claim("x.bin", .overwrite) }
        #expect(failure?.code == .fileExists)
        #expect(failure?.why == "other users can write to it")
    }

    @Test func `a finished file of another user is not continued`() throws {
        let folder = TestFolder { $0.user = FileUser(user: geteuid() + 1, group: getegid()) }
        try folder.put(payload(50), in: "x.bin")
        let failure = #expect(throws: Failure.self) { try folder.claim("x.bin", .resume) }
        #expect(failure?.why == "it belongs to another user")
        #expect(folder.names == ["x.bin"])
    }

    @Test func `a finished file that others can write to is copied, not renamed`() throws {
        let folder = TestFolder()
        try folder.put(payload(50), in: "x.bin")
        unsafe chmod("\(folder.path)/x.bin", 0o666)
        guard case .existing(let partial, let length) = try folder.claim("x.bin", .resume) else {
            throw Unexpected(what: "it is not continued")
        }
        #expect(length == 50)
        #expect(folder.names.contains("x.bin") && folder.names.contains("x.bin.part"))
        try partial.restoreOriginal()
    }

    @Test func `a folder that others can write to is reported once`() throws {
        let folder = TestFolder()
        unsafe chmod(folder.path, 0o777)
        try folder.fresh("a").discard()
        try folder.fresh("b").discard()
        #expect(folder.said.count == 1)
        #expect(folder.said.first?.contains("other users can write to the folder") == true)
        // In a folder like /tmp only the owner can remove or rename a file.
        unsafe chmod(folder.path, 0o1777)
        folder.restart()
        try folder.fresh("c").discard()
        #expect(folder.said.count == 1)
    }

    @Test func `file systems without owners are not checked for them`() throws {
        let folder = try begun()
        unsafe chmod("\(folder.path)/x.bin.part", 0o666)
        unsafe chmod(folder.path, 0o777)
        folder.restart {
            $0.traits = [.local]
            $0.user = FileUser(user: geteuid() + 1, group: getegid())
        }
        #expect(try folder.found("x.bin").1.done.count == 50)
        #expect(folder.said.isEmpty)
    }
}
