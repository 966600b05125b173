import Glibc
import PawlTestKit
import Testing

@testable import PawlBase
@testable import PawlDisk

/// Files that are opened below a folder while its content is swapped.
@Suite struct RootFolderTests {
    private func text(_ root: RootFolder, _ path: String) -> String? {
        guard let file = root.open(path) else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 100)
        let count = unsafe read(file, &bytes, bytes.count)
        return count >= 0 ? String(decoding: bytes[..<count], as: UTF8.self) : nil
    }

    @Test func `neither a link nor a swapped folder leads out`() throws {
        let folder = try TemporaryFolder()
        for path in ["root", "root/a", "root/a/b", "out"] { _ = unsafe mkdir(folder.path(path), 0o700) }
        try FileSystem.write(Array("inside".utf8), to: folder.path("root/a/b/f"))
        try FileSystem.write(Array("outside".utf8), to: folder.path("out/f"))
        let root = try #require(RootFolder(folder.path("root")))
        func path(_ rest: String) -> String { folder.path("root/" + rest) }
        #expect(text(root, path("a/b/f")) == "inside")
        #expect(text(root, folder.path("out/f")) == nil)
        #expect(text(root, path("../out/f")) == nil)
        #expect(text(root, path("a/b/none")) == nil)
        _ = unsafe symlink(folder.path("out/f"), path("a/link"))
        #expect(text(root, path("a/link")) == nil)
        // Another folder is put, by a link, in place of the file's.
        _ = unsafe rename(path("a/b"), path("a/c"))
        _ = unsafe symlink(folder.path("out"), path("a/b"))
        #expect(text(root, path("a/b/f")) == nil)
        #expect(text(root, path("a/c/f")) == "inside")
        // Another folder in the root's place is not the root.
        _ = unsafe rename(folder.path("root"), folder.path("old"))
        _ = unsafe symlink(folder.path("out"), folder.path("root"))
        #expect(text(root, path("f")) == nil)
        #expect(text(root, path("a/c/f")) == "inside")
    }

    @Test func `a path through links stays in the folder, however they are written`() throws {
        let folder = try TemporaryFolder()
        for path in ["root", "root/a", "root/a/b", "out", "rootless"] { _ = unsafe mkdir(folder.path(path), 0o700) }
        let links = [
            ("inside", folder.path("root/a")), ("itself", folder.path("root")), ("relative", "a"),
            ("around", "../root/a"), ("missing", folder.path("root/none")), ("beside", folder.path("rootless")),
            ("up", folder.path("")), ("top", "/"), ("outside", "../out"), ("twice", "beside"),
        ]
        for (name, target) in links { #expect(unsafe symlink(target, folder.path("root/\(name)")) == 0) }
        func isRefused(_ path: String) -> Bool {
            do throws(Failure) {
                try RootFolder.check(path, below: folder.path("root"))
                return false
            } catch { return error.code == .badOption }
        }
        for path in ["a/b", "inside/b", "inside/new", "itself/a", "relative/b", "around/b", "missing/x", "new/x"] {
            #expect(!isRefused(path), "\(path)")
        }
        for path in ["beside", "beside/new/x", "up/out", "top/tmp", "outside", "outside/new", "twice"] {
            #expect(isRefused(path), "\(path)")
        }
    }
}
