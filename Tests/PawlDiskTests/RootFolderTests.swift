import Glibc
import PawlTestKit
import Testing

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
        for path in ["root", "root/a", "root/a/b", "out"] {
            _ = unsafe mkdir(folder.path(path), 0o700)
        }
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
}
