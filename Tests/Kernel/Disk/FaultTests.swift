import Glibc
import PawlSystem
import PawlTestKit
import Testing

@testable import PawlBase
@testable import PawlDisk
@testable import PawlJournal

/// Full disks, folders that vanish or are read-only, and descriptors.
@Suite struct FaultTests {
    @Test(.enabled(if: MountedFolder.isAvailable)) func `G5 a full disk is code 9 with the needed and the free bytes`()
        throws
    {
        let mount = try MountedFolder(bytes: 1 << 20)
        let folder = TestFolder(in: mount.path)
        let partial = try folder.fresh("x.bin")
        let failure = #expect(throws: Failure.self) { try partial.reserve(3 << 20) }
        #expect(failure?.code == .diskFull)
        #expect(failure?.why.contains("3.00 MiB") == true)
        try partial.reserve(1 << 19)
        partial.discard()
    }

    @Test(.enabled(if: MountedFolder.isAvailable))
    func `G5 a disk that fills while writing is code 9, keeps its bytes and continues when there is space`() throws {
        let mount = try MountedFolder(bytes: 1 << 20)
        let folder = TestFolder(in: mount.path)
        let partial = try folder.fresh("x.bin")
        try partial.beginJournal(folder.facts("x.bin"), done: ByteRangeSet())
        try partial.beginLane(slot: 0, at: 0)
        let chunk = payload(64 << 10)
        var written: Int64 = 0
        let failure = #expect(throws: Failure.self) {
            while written < 2 << 20 {
                try partial.write(chunk, at: written)
                written += Int64(chunk.count)
                partial.advanceLane(slot: 0, to: written)
            }
        }
        #expect(failure?.code == .diskFull)
        #expect(written > 1 << 19)
        // The journal's space is already allocated.
        let done = ByteRangeSet([ByteRange(0, written)])
        try partial.record(folder.facts("x.bin"), done: done)
        try partial.close(keeping: folder.facts("x.bin"), done: done)
        try mount.remount("size=\(4 << 20)")
        folder.restart()
        let (again, loaded) = try folder.found("x.bin")
        // A part of the chunk that did not fit may be on disk, which the file's length shows.
        #expect(done.isSubset(of: loaded.done) && loaded.done.upperBound < written + Int64(chunk.count))
        let part = Int(loaded.done.upperBound - written)
        #expect(try folder.bytes(of: "x.bin.part").suffix(part) == chunk.prefix(part))
        try again.write(chunk, at: written)
        again.discard()
    }

    /// A small file has no journal until its download stops, and then there is no room for one.
    @Test(.enabled(if: MountedFolder.isAvailable), arguments: [true, false])
    func `a download that stops on a full disk keeps what it has received`(isReserved: Bool) throws {
        let mount = try MountedFolder(bytes: 1 << 20)
        // As on a disk, where room is reserved.
        let folder = TestFolder(in: mount.path) { if isReserved { $0.traits = [.local, .keepsInodes] } }
        let partial = try folder.fresh("x.bin")
        try partial.reserve(700 << 10)
        let written = payload(300 << 10)
        try partial.write(written, at: 0)
        fill(mount)
        let done = ByteRangeSet([ByteRange(0, 300 << 10)])
        try partial.close(keeping: folder.facts("x.bin"), done: done)
        unsafe unlink(mount.path("taken"))
        folder.restart()
        let (again, loaded) = try folder.found("x.bin")
        // What is not reserved makes way for the journal.
        let kept = loaded.done.upperBound
        #expect(isReserved ? kept == 300 << 10 : kept >= 268 << 10 && kept < 300 << 10, "\(kept)")
        #expect(loaded.done.runs.count == 1 && loaded.done.prefix == kept)
        #expect(try folder.bytes(of: "x.bin.part") == Array(written.prefix(Int(kept))))
        again.discard()
        #expect(folder.names.isEmpty)
    }

    @Test(.enabled(if: MountedFolder.isAvailable))
    func `a journal that there is no room for leaves nothing, and the next one is made`() throws {
        let mount = try MountedFolder(bytes: 1 << 20)
        let folder = TestFolder(in: mount.path)
        let partial = try folder.fresh("x.bin")
        fill(mount)
        let failure = #expect(throws: Failure.self) {
            try partial.beginJournal(folder.facts("x.bin"), done: ByteRangeSet())
        }
        #expect(failure?.code == .diskFull)
        #expect(folder.names == ["x.bin.part"])
        unsafe unlink(mount.path("taken"))
        try partial.beginJournal(folder.facts("x.bin"), done: ByteRangeSet())
        partial.discard()
        #expect(folder.names.isEmpty)
    }

    @Test(.enabled(if: MountedFolder.isAvailable))
    func `a header that outgrows the journal on a full disk leaves what it claimed before`() throws {
        let mount = try MountedFolder(bytes: 1 << 20)
        let folder = TestFolder(in: mount.path)
        let partial = try folder.fresh("x.bin")
        try partial.beginJournal(folder.facts("x.bin"), done: ByteRangeSet())
        try partial.beginLane(slot: 0, at: 0)
        try partial.write(payload(500 << 10), at: 0)
        partial.advanceLane(slot: 0, to: 500 << 10)
        fill(mount)
        // Each run takes some bytes of the header, which has 4 KiB.
        let many = ByteRangeSet((0..<2000).map { ByteRange(Int64($0) * 200, Int64($0) * 200 + 100) })
        let failure = #expect(throws: Failure.self) { try partial.record(folder.facts("x.bin"), done: many) }
        #expect(failure?.code == .diskFull)
        #expect(throws: Failure.self) { try partial.close(keeping: folder.facts("x.bin"), done: many) }
        unsafe unlink(mount.path("taken"))
        folder.restart()
        let (again, loaded) = try folder.found("x.bin")
        #expect(loaded.done == ByteRangeSet([ByteRange(0, 500 << 10)]))
        again.discard()
    }

    @Test(.enabled(if: MountedFolder.isAvailable)) func `a reservation leaves room for the journal that follows`()
        throws
    {
        let mount = try MountedFolder(bytes: 1 << 20)
        let folder = TestFolder(in: mount.path) { $0.traits = [.local, .keepsInodes] }
        let partial = try folder.fresh("x.bin")
        let failure = #expect(throws: Failure.self) { try partial.reserve(1020 << 10) }
        guard case .space(let needed?)? = failure?.awaited else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(needed > 1020 << 10)
        try partial.reserve(980 << 10)
        try partial.beginJournal(folder.facts("x.bin"), done: ByteRangeSet())
        partial.discard()
    }

    @Test(.enabled(if: MountedFolder.isAvailable)) func `a file system without inodes is not said to lack space`()
        throws
    {
        let mount = try MountedFolder(bytes: 1 << 20)
        let folder = TestFolder(in: mount.path)
        try mount.remount("nr_inodes=2")
        let failure = #expect(throws: Failure.self) { try folder.claim("x.bin") }
        #expect(failure?.code == .diskFull && failure?.awaited == .files)
        #expect(failure?.cause?.id == "no-inodes" && failure?.remedy.text.contains("space") == false)
    }

    private func fill(_ mount: MountedFolder) {
        let file = OpenFile(adopting: unsafe creat(mount.path("taken"), 0o600))
        var position: Int64 = 0
        while (try? file.write([UInt8](repeating: 1, count: 4096), at: position)) != nil { position += 4096 }
    }

    @Test(.enabled(if: MountedFolder.isAvailable)) func `a reservation counts only the bytes still needed`() throws {
        let mount = try MountedFolder(bytes: 1 << 20)
        let folder = TestFolder(in: mount.path)
        let partial = try folder.fresh("x.bin")
        try partial.write(payload(700 << 10), at: 0)
        try partial.reserve(900 << 10)
        partial.discard()
    }

    @Test(.enabled(if: MountedFolder.isAvailable)) func `a read-only file system is code 16`() throws {
        let mount = try MountedFolder(bytes: 1 << 20)
        let folder = TestFolder(in: mount.path)
        try mount.remount("ro")
        let failure = #expect(throws: Failure.self) { try folder.claim("x.bin") }
        #expect(failure?.code == .cannotCreate)
        #expect(failure?.remedy.text.contains("read-only") == true)
        try mount.remount("rw")
    }

    @Test func `a reservation does not change the file's length`() throws {
        let folder = TestFolder { $0.traits = .local }
        let partial = try folder.fresh("x.bin")
        try partial.reserve(1 << 20)
        #expect(FileSystem.size("\(folder.path)/x.bin.part") == 0)
        #expect(FileSystem.allocated("\(folder.path)/x.bin.part").map { $0 >= 1 << 20 } == true)
    }

    @Test func `a reservation larger than any disk is code 9`() throws {
        let folder = TestFolder { $0.traits = .local }
        let partial = try folder.fresh("x.bin")
        let failure = #expect(throws: Failure.self) { try partial.reserve(1 << 60) }
        #expect(failure?.code == .diskFull)
    }

    @Test(arguments: ["/tmp", "/dev/shm"]) func `a folder that vanishes is code 14 at publishing`(
        _ parent: String
    ) async throws {
        let folder = TestFolder(in: parent)
        let partial = try folder.fresh("x.bin")
        try partial.write(payload(10), at: 0)
        unsafe unlink("\(folder.path)/x.bin.part")
        unsafe rmdir(folder.path)
        let failure = await #expect(throws: Failure.self) { try await partial.publish(length: 10) }
        #expect(failure?.code == .renameFailed)
        #expect(failure?.place.contains("x.bin") == true)
    }

    @Test func `A9 another program's file under the part file's name is not published`() async throws {
        let folder = TestFolder()
        let partial = try folder.fresh("x.bin")
        try partial.write(payload(10), at: 0)
        unsafe rename("\(folder.path)/x.bin.part", "\(folder.path)/kept")
        try folder.put([9], in: "x.bin.part")
        let failure = await #expect(throws: Failure.self) { try await partial.publish(length: 10) }
        #expect(failure?.code == .renameFailed)
        partial.discard()
        #expect(try folder.bytes(of: "x.bin.part") == [9])
        #expect(folder.names == ["kept", "x.bin.part"])
    }

    /// How a download ends whose part file another program has replaced.
    enum Ending: CaseIterable { case discarded, paused, killed }

    @Test(arguments: Ending.allCases) func `no journal stays beside another program's file under the part file's name`(
        _ ending: Ending
    ) throws {
        let folder = TestFolder()
        let partial = try folder.fresh("x.bin")
        try partial.beginJournal(folder.facts("x.bin"), done: ByteRangeSet())
        try partial.beginLane(slot: 0, at: 0)
        try partial.write(payload(10), at: 0)
        partial.advanceLane(slot: 0, to: 10)
        unsafe unlink("\(folder.path)/x.bin.part")
        try folder.put([9], in: "x.bin.part")
        switch ending {
        case .discarded: partial.discard()
        case .paused: try partial.close(keeping: folder.facts("x.bin"), done: ByteRangeSet([ByteRange(0, 10)]))
        case .killed:
            partial.release()
            #expect(folder.names == ["x.bin.part", "x.bin.pawl"])
            folder.restart()
            let next = try folder.fresh("x.bin")
            #expect(folder.names == ["x.bin.part", "x.bin.part.1"])
            next.discard()
        }
        #expect(folder.names == ["x.bin.part"])
        #expect(try folder.bytes(of: "x.bin.part") == [9])
    }

    @Test func `a part file that was moved aside continues when it is back`() throws {
        let folder = TestFolder()
        let partial = try folder.fresh("x.bin")
        try partial.beginJournal(folder.facts("x.bin"), done: ByteRangeSet())
        try partial.write(payload(10), at: 0)
        unsafe rename("\(folder.path)/x.bin.part", "\(folder.path)/aside")
        try partial.close(keeping: folder.facts("x.bin"), done: ByteRangeSet([ByteRange(0, 10)]))
        unsafe rename("\(folder.path)/aside", "\(folder.path)/x.bin.part")
        let (again, loaded) = try folder.found("x.bin")
        #expect(loaded.done.prefix == 10)
        again.discard()
    }

    @Test func `reading beyond the end of the file is a failure`() throws {
        let folder = TestFolder()
        let partial = try folder.fresh("x.bin")
        try partial.write(payload(10), at: 0)
        var buffer = [UInt8](repeating: 0, count: 11)
        let failure = #expect(throws: Failure.self) {
            try unsafe buffer.withUnsafeMutableBytes { try unsafe partial.read(into: $0, at: 0) }
        }
        #expect(failure?.code == .inputOutput)
        buffer.removeLast()
        try unsafe buffer.withUnsafeMutableBytes { try unsafe partial.read(into: $0, at: 0) }
        #expect(buffer == payload(10))
    }

    @Test func `no descriptor of a folder stays open`() async throws {
        let folder = TestFolder()
        for number in 0..<30 {
            let partial = try folder.fresh("\(number).bin", from: "https://a.example/\(number)")
            try partial.write(payload(100), at: 0)
            switch number % 5 {
            case 0: partial.discard()
            case 1: _ = try await partial.publish(length: 100)
            case 2:
                try partial.beginJournal(folder.facts("x"), done: ByteRangeSet())
                try partial.beginLane(slot: 0, at: 0)
                try await partial.checkpoint(ByteRangeSet([ByteRange(0, 100)]))
                _ = try await partial.publish(length: 100)
            case 3: try partial.close(keeping: folder.facts("x"), done: ByteRangeSet([ByteRange(0, 100)]))
            default: _ = try? folder.claim("\(number).bin", from: "https://a.example/\(number)")
            }
        }
        folder.disk.syncers.rest().pass()
        folder.restart()
        let open = FileSystem.names(in: "/proc/self/fd").compactMap { FileSystem.link("/proc/self/fd/\($0)") }
        #expect(!open.isEmpty)
        #expect(open.filter { $0.hasPrefix(folder.path) } == [])
    }

    @Test func `the lock holds against another process`() throws {
        let folder = TestFolder()
        let partial = try folder.fresh("x.bin")
        try partial.write(payload(50), at: 0)
        try partial.beginJournal(folder.facts("x.bin"), done: ByteRangeSet([ByteRange(0, 50)]))
        partial.release()
        // A separate process that takes an open-file-description write lock (F_OFD_SETLK) and then waits.
        let script = """
            import fcntl, signal, struct, sys
            f = open(sys.argv[1], "r+b")
            fcntl.fcntl(f, 37, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0))
            print("locked", flush=True)
            signal.pause()
            """
        let process = try PawlProcess("/usr/bin/python3", ["-c", script, "\(folder.path)/x.bin.part"])
        #expect(process.line { $0 == "locked" } == "locked")
        folder.restart()
        let failure = #expect(throws: Failure.self) { try folder.claim("x.bin") }
        #expect(failure?.code == .alreadyDownloading)
        process.send(SIGKILL)
        #expect(process.wait() == .signal(SIGKILL))
        #expect(try folder.found("x.bin").1.done.count == 50)
    }
}
