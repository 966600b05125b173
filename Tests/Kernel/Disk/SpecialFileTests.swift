import Glibc
import PawlTestKit
import Testing

@testable import PawlBase
@testable import PawlDisk
@testable import PawlJournal
@testable import PawlSystem

/// A device, a pipe or a socket under a requested name.
@Suite struct SpecialFileTests {
    private func claim(_ folder: String, _ name: String, isChosen: Bool, _ policy: IfExists) throws -> String {
        let disk = FileDisk(FileDisk.Environment { _ in })
        let facts = JournalFacts(sources: ["https://a.example/x"], name: name)
        var selection = Claim(folder: folder, name: name, ifExists: policy, facts: facts)
        selection.isChosen = isChosen
        switch try disk.claim(selection, adopts: { _ in false }) {
        case .fresh(let partial), .found(let partial, _), .existing(let partial, _):
            defer { partial.discard() }
            return partial.name
        case .skipped(let path): return path
        }
    }

    @Test(arguments: IfExists.allCases) func `no file is created beside it, and the reason is reported`(
        policy: IfExists
    ) throws {
        let folder = TestFolder()
        unsafe mkfifo("\(folder.path)/pipe", 0o666)
        unsafe symlink("/dev/null", "\(folder.path)/link")
        for name in ["pipe", "link"] {
            let failure = #expect(throws: Failure.self) { try claim(folder.path, name, isChosen: true, policy) }
            #expect(failure?.code == .cannotCreate)
            #expect(failure?.description.contains("device") == true)
        }
        let null = #expect(throws: Failure.self) { try claim("/dev", "null", isChosen: true, policy) }
        #expect(null?.code == .cannotCreate)
        #expect(folder.names == ["link", "pipe"])
    }

    @Test func `a server-suggested name is changed as it is for any existing file`() throws {
        let folder = TestFolder()
        unsafe mkfifo("\(folder.path)/pipe", 0o666)
        #expect(try claim(folder.path, "pipe", isChosen: false, .rename) == "pipe (1)")
    }

    /// A folder with something of each kind that is not a file.
    private func strange() -> TestFolder {
        let folder = TestFolder()
        unsafe mkdir("\(folder.path)/folder", 0o777)
        unsafe symlink("folder", "\(folder.path)/to-folder")
        unsafe symlink("nothing", "\(folder.path)/dangling")
        unsafe mkfifo("\(folder.path)/pipe", 0o666)
        unsafe symlink("pipe", "\(folder.path)/to-pipe")
        return folder
    }

    @Test(
        arguments: [IfExists.skip, .resume, .overwrite, .fail],
        [
            ("folder", "a directory"), ("to-folder", "leads to a directory"), ("dangling", "leads to nothing"),
            ("pipe", "a device, a pipe"), ("to-pipe", "a device, a pipe"),
        ]) func `what is not a file is no finished download`(
            policy: IfExists, found: (name: String, reason: String)
        ) throws
    {
        let folder = strange()
        defer { unsafe rmdir("\(folder.path)/folder") }
        let before = folder.names
        for isChosen in [true, false] {
            let failure = #expect(throws: Failure.self) {
                try claim(folder.path, found.name, isChosen: isChosen, policy)
            }
            #expect(failure?.why.description.contains(found.reason) == true)
            #expect(failure?.place.hasSuffix("/\(found.name)") == true && failure?.remedy.text.isEmpty == false)
        }
        #expect(folder.names == before)
    }

    @Test func `a link to a file is itself replaced where files are overwritten, and what it leads to stays`()
        async throws
    {
        let folder = TestFolder()
        try folder.put(payload(10), in: "file")
        unsafe symlink("file", "\(folder.path)/link")
        let partial = try folder.fresh("link", .overwrite)
        try partial.write(payload(3), at: 0)
        #expect(try await partial.publish(length: 3) == "\(folder.path)/link")
        #expect(folder.disk.length(of: "link", in: folder.path) == 3)
        #expect(folder.disk.length(of: "file", in: folder.path) == 10)
        #expect(folder.names == ["file", "link"])
    }

    @Test func `a link to a file is one that is skipped, and no other action is taken on it`() throws {
        let folder = TestFolder()
        try folder.put(payload(10), in: "file")
        unsafe symlink("file", "\(folder.path)/link")
        #expect(try claim(folder.path, "link", isChosen: true, .skip) == "\(folder.path)/link")
        for policy in [IfExists.resume, .fail] {
            let failure = #expect(throws: Failure.self) { try claim(folder.path, "link", isChosen: true, policy) }
            #expect(failure?.code == .fileExists)
            #expect(failure?.why.description == "a symbolic link of that name exists")
        }
        #expect(folder.names == ["file", "link"])
    }

    @Test func `only a file has a length, everything else takes its name all the same`() throws {
        let folder = strange()
        defer { unsafe rmdir("\(folder.path)/folder") }
        try folder.put(payload(10), in: "file")
        unsafe symlink("file", "\(folder.path)/link")
        for name in ["folder", "to-folder", "dangling", "pipe", "to-pipe"] {
            #expect(folder.disk.length(of: name, in: folder.path) == nil, "\(name)")
            #expect(folder.disk.holds(name, in: folder.path), "\(name)")
        }
        for name in ["file", "link"] { #expect(folder.disk.length(of: name, in: folder.path) == 10) }
        #expect(!folder.disk.holds("none", in: folder.path))
    }
}
