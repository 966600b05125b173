import Glibc
import PawlTestKit
import Synchronization
import Testing

@testable import PawlBase
@testable import PawlSystem

/// Small files are whole or not there.
@Suite struct AtomicFileTests {
    private func text(_ path: String) -> String? {
        FileSystem.contents(path).map { String(decoding: $0, as: UTF8.self) }
    }

    @Test func `a file is replaced as a whole, with its permissions, and no draft stays`() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("notes")
        try AtomicFile.replace(path, with: Array("first".utf8))
        try AtomicFile.replace(path, with: Array("second".utf8), permissions: 0o644)
        #expect(text(path) == "second" && FileSystem.mode(path) == 0o644)
        #expect(FolderNames.read(folder.path) == ["notes"])
    }

    @Test func `a link stays, and what it leads to is replaced`() throws {
        let folder = try TemporaryFolder()
        _ = unsafe mkdir(folder.path("real"), 0o755)
        try AtomicFile.replace(folder.path("real/notes"), with: Array("first".utf8))
        #expect(unsafe symlink("real/notes", folder.path("notes")) == 0)
        try AtomicFile.replace(folder.path("notes"), with: Array("second".utf8))
        #expect(text(folder.path("real/notes")) == "second")
        #expect(AtomicFile.kind(of: folder.path("notes")) == S_IFLNK)
        #expect(Set(FolderNames.read(folder.path)) == ["real", "notes"])
    }

    @Test(arguments: [false, true]) func `a pipe is written to, not replaced`(throughLink: Bool) throws {
        let folder = try TemporaryFolder()
        let pipe = folder.path("pipe")
        try #require(unsafe mkfifo(pipe, 0o600) == 0)
        let reader = unsafe open(pipe, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        defer { close(reader) }
        // As /dev/stdout leads to a pipe that has no name.
        let path = throughLink ? folder.path("link") : pipe
        if throughLink { #expect(unsafe symlink("/proc/self/fd/\(reader)", path) == 0) }
        try AtomicFile.replace(path, with: Array("content".utf8))
        var bytes = [UInt8](repeating: 0, count: 100)
        let count = unsafe read(reader, &bytes, 100)
        #expect(bytes.prefix(max(0, count)).elementsEqual("content".utf8))
        #expect(AtomicFile.kind(of: pipe) == S_IFIFO)
        #expect(AtomicFile.kind(of: path) == (throughLink ? S_IFLNK : S_IFIFO))
    }

    @Test func `a name of 255 bytes can be written`() throws {
        let folder = try TemporaryFolder()
        let path = folder.path(String(repeating: "n", count: 255))
        try AtomicFile.replace(path, with: [1])
        #expect(FileSystem.contents(path) == [1])
    }

    @Test func `a file that exists is not created again`() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("once")
        #expect(try AtomicFile.create(path, with: [1]))
        #expect(try !AtomicFile.create(path, with: [2]))
        #expect(FileSystem.contents(path) == [1] && FolderNames.read(folder.path) == ["once"])
    }

    @Test func `of many threads that create a file, one does, and every reader sees its content`() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("shared")
        let results = Mutex<[Bool]>([])
        let threads = (1...8).map { number in
            SystemThread.start {
                let bytes = [UInt8](repeating: UInt8(number), count: 1000)
                let isCreator = (try? AtomicFile.create(path, with: bytes)) == true
                let read = FileSystem.contents(path) ?? []
                if Set(read).count == 1, read.count == 1000 { results.withLock { $0.append(isCreator) } }
            }
        }
        for thread in threads { thread.join() }
        let found = results.withLock { $0 }
        #expect(found.count == 8 && found.count { $0 } == 1)
    }

    @Test func `of many threads that replace useless content, one does`() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("useless")
        try FileSystem.write([], to: path)
        let replaced = Atomic(0)
        let threads = (1...8).map { number in
            SystemThread.start {
                let isDone = try? AtomicFile.replace(path, while: \.isEmpty, atMost: 10, with: [UInt8(number)])
                if isDone == true { replaced.wrappingAdd(1, ordering: .relaxed) }
            }
        }
        for thread in threads { thread.join() }
        #expect(replaced.load(ordering: .relaxed) == 1 && FileSystem.contents(path)?.count == 1)
    }

    @Test func `what cannot be written leaves the old file and no draft`() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("folder")
        guard unsafe mkdir(path, 0o700) == 0 else { throw SetupFailure("mkdir") }
        #expect(throws: Failure.self) { try AtomicFile.replace(path, with: [1]) }
        #expect(FolderNames.read(folder.path) == ["folder"])
        #expect(throws: Failure.self) { try AtomicFile.replace(folder.path("missing/file"), with: [1]) }
    }

    @Test func `a missing file is not one that cannot be read`() throws {
        let folder = try TemporaryFolder()
        #expect(try AtomicFile.read(folder.path("missing"), atMost: 10) == nil)
        // Reading a folder is EISDIR.
        #expect(throws: Failure.self) { try AtomicFile.read(folder.path, atMost: 10) }
        let path = folder.path("long")
        try FileSystem.write(Array(repeating: 7, count: 100), to: path)
        #expect(try AtomicFile.read(path, atMost: 10)?.count == 11)
    }

    @Test func `drafts of processes that were killed are removed, others stay`() throws {
        let folder = try TemporaryFolder()
        let ended = try PawlProcess.run("/bin/true", []).identifier
        let own = ".pawl-\(getpid())-1.new"
        for name in [".pawl-\(ended)-1.new", own, ".pawl-x-1.new", "pawl.new"] {
            try FileSystem.write([1], to: folder.path(name))
        }
        AtomicFile.removeDrafts(in: folder.path, olderThan: 3600)
        #expect(FolderNames.read(folder.path).count == 4)
        AtomicFile.removeDrafts(in: folder.path, olderThan: 0)
        #expect(Set(FolderNames.read(folder.path)) == [own, ".pawl-x-1.new", "pawl.new"])
    }
}
