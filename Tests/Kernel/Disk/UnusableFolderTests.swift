import Glibc
import PawlTestKit
import Testing

@testable import PawlBase
@testable import PawlDisk
@testable import PawlJournal

/// Places where no file can be made.
@Suite struct UnusableFolderTests {
    /// Sets and removes an attribute of a file (chattr(1)); `false` where the file system has none, or the user no right.
    private static func setAttribute(_ change: String, of path: String) -> Bool {
        (try? PawlProcess.run("/usr/bin/chattr", [change, path]))?.exit == .code(0)
    }

    private static let hasAttributes: Bool = {
        let folder = TestFolder()
        return setAttribute("+a", of: folder.path) && setAttribute("-a", of: folder.path)
    }()

    @Test(.enabled(if: hasAttributes, "needs root and a file system with attributes"))
    func `a folder whose files cannot be renamed is refused before the first byte, and keeps what it has`() throws {
        let folder = TestFolder()
        let partial = try folder.fresh("x")
        try partial.write(payload(10), at: 0)
        try partial.close(keeping: folder.facts("x"), done: ByteRangeSet([ByteRange(0, 10)]))
        try folder.put(payload(10), in: "there")
        let before = folder.names
        for change in ["a", "i"] {
            try #require(Self.setAttribute("+\(change)", of: folder.path))
            defer { _ = Self.setAttribute("-\(change)", of: folder.path) }
            folder.restart()
            for (name, policy) in [("x", IfExists.rename), ("y", .rename), ("there", .overwrite)] {
                let failure = #expect(throws: Failure.self) { try folder.claim(name, policy) }
                #expect(failure?.code == .cannotOpen && failure?.place.contains(folder.path) == true)
                #expect(failure?.remedy.text.contains("chattr") == true)
            }
            guard case .skipped = try folder.claim("there", .skip) else { return #expect(Bool(false)) }
        }
        #expect(folder.names == before)
        #expect(try folder.found("x").1.done.prefix == 10)
    }

    @Test(.enabled(if: hasAttributes, "needs root and a file system with attributes"))
    func `a file that cannot be replaced is found before the first byte`() throws {
        let folder = TestFolder()
        try folder.put(payload(10), in: "x")
        for change in ["a", "i"] {
            try #require(Self.setAttribute("+\(change)", of: "\(folder.path)/x"))
            defer { _ = Self.setAttribute("-\(change)", of: "\(folder.path)/x") }
            let failure = #expect(throws: Failure.self) { try folder.claim("x", .overwrite) }
            #expect(failure?.code == .cannotOpen && failure?.what == "cannot replace")
        }
        #expect(folder.names == ["x"])
    }

    @Test func `another user's file in a sticky folder is not to be replaced`() throws {
        let folder = TestFolder { $0.user = FileUser(user: geteuid() + 1, group: getegid() + 1) }
        try folder.put(payload(10), in: "x")
        unsafe chmod(folder.path, 0o1777)
        let failure = #expect(throws: Failure.self) { try folder.claim("x", .overwrite) }
        #expect(failure?.code == .cannotOpen && failure?.what == "cannot replace")
        #expect(folder.names == ["x"])
    }

    private func refusal(_ folder: String) -> Failure? {
        let disk = FileDisk { _ in }
        let facts = JournalFacts(sources: ["https://a.example/x"], name: "x")
        return #expect(throws: Failure.self) {
            try disk.claim(Claim(folder: folder, name: "x", ifExists: .rename, facts: facts)) { _ in false }
        }
    }

    @Test func `a file in place of a folder is named`() throws {
        let failure = try #require(refusal("/dev/null/x"))
        #expect(failure.code == .cannotMakeFolder)
        #expect(
            failure.description
                == "cannot make the folder /dev/null/x: /dev/null is not a folder; choose another folder")
        #expect(refusal("/dev/null")?.why == "/dev/null is not a folder")
    }

    @Test func `a link in the path that leads nowhere is named`() throws {
        let folder = TestFolder()
        let (dead, circle) = ("\(folder.path)/dead", "\(folder.path)/circle")
        #expect(unsafe symlink("nothing", dead) == 0 && symlink("circle", circle) == 0)
        for path in [dead, dead + "/x", dead + "/x/y"] {
            #expect(refusal(path)?.why == "the symbolic link \(dead) leads to nothing")
        }
        for path in [circle, circle + "/x"] {
            #expect(refusal(path)?.why == "the symbolic link \(circle) leads back to itself")
        }
        #expect(refusal(dead)?.code == .cannotMakeFolder)
        #expect(folder.names.sorted() == ["circle", "dead"])
    }

    @Test(arguments: ["/proc", "/proc/none"]) func `a file system that has only its own files is named as the cause`(
        path: String
    ) throws {
        let failure = try #require(refusal(path))
        #expect(failure.why == "the file system takes no new files or folders there")
        #expect(failure.remedy.text == "choose another folder")
    }
}
