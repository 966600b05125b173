import Glibc
import PawlTestKit
import Testing

@Suite struct ProcessTests {
    @Test func `output, errors, exit code and working folder are recorded`() throws {
        let folder = try TemporaryFolder()
        let process = try PawlProcess.run("/bin/sh", ["-c", "pwd; echo no >&2; exit 3"], folder: folder.path)
        #expect(process.exit == .code(3))
        #expect(process.lines == [folder.path])
        #expect(process.errors == "no\n")
    }

    @Test func `a line is waited for while the program runs, and a signal ends it`() throws {
        let process = try PawlProcess("/bin/sh", ["-c", "echo ready >&2; exec sleep 100"])
        #expect(process.line(in: .err) { $0 == "ready" } != nil)
        #expect(process.exit == nil)
        try #expect(#require(process.peakResident) > 0)
        process.send(SIGTERM)
        #expect(process.wait() == .signal(SIGTERM))
        #expect(process.line { $0 == "never said" } == nil)
    }

    @Test func `a temporary folder is removed with everything in it`() throws {
        var folder: TemporaryFolder? = try TemporaryFolder()
        let path = try #require(folder?.path)
        _ = try PawlProcess.run("/bin/mkdir", ["-p", "a/b"], folder: path)
        try FileSystem.write([1], to: path + "/a/b/c")
        folder = nil
        #expect(!FileSystem.exists(path))
    }

    @Test(.enabled(if: Namespace.isAvailable)) func `a namespace reaches an origin until its cable is pulled`() throws {
        let namespace = try Namespace(number: 1)
        let origin = try OriginServer(address: namespace.address)
        defer { origin.stop() }
        let url = origin.serve("/f", Payload(text: "over the cable"))
        let curl = ["--silent", "--max-time", "300", url]
        let first = try namespace.start("/usr/bin/curl", curl)
        first.wait()
        #expect(first.output == "over the cable")
        try namespace.unplug()
        let second = try namespace.start("/usr/bin/curl", curl)
        #expect(second.wait() == .code(7))
        try namespace.plugIn()
        let third = try namespace.start("/usr/bin/curl", curl)
        third.wait()
        #expect(third.output == "over the cable", "\(third.errors)")
    }

    @Test(.enabled(if: MountedFolder.isAvailable)) func `a small disk fills up and can grow`() throws {
        let disk = try MountedFolder(bytes: 65_536)
        #expect(throws: SetupFailure.self) {
            try FileSystem.write([UInt8](repeating: 1, count: 100_000), to: disk.path("f"))
        }
        try disk.remount("size=1m")
        try FileSystem.write([UInt8](repeating: 1, count: 100_000), to: disk.path("f"))
        #expect(disk.names == ["f"])
    }
}
