import Glibc
import PawlBase
import PawlJournal
import PawlTestKit
import Testing

/// Disks that are full, read-only or gone, and damaged journals.
@Suite(.ownThreads) struct LocalFaultTests {
    private static let payload = Payload(seed: 81, length: 6_000_000)

    @Test(.enabled(if: MountedFolder.isAvailable), arguments: [Behaviour.Framing.length, .chunked])
    func `C6 G5 a full disk is code 9, the bytes are kept, and it continues when there is space`(
        framing: Behaviour.Framing
    ) throws {
        let bench = try Bench()
        let disk = try MountedFolder(bytes: 4_194_304)
        let url = bench.origin.serve("/f", Self.payload) { $0.framing = framing }
        let full = try bench.get(url, "-d", disk.path, "-x", "1")
        #expect(full.code == 9, "\(full)")
        #expect(full.message.contains(disk.path), "\(full)")
        #expect(!disk.names.contains("f"))
        let before = bench.origin.ended("/f").count
        try disk.remount("size=32m")
        let outcome = try bench.get(url, "-d", disk.path, "-x", "1")
        #expect(outcome.code == 0, "\(outcome)")
        #expect(FileSystem.difference(of: disk.path("f"), from: Self.payload) == nil, "\(outcome)")
        #expect(disk.names == ["f"])
        if framing == .chunked {
            let next = try #require(bench.origin.ended("/f").dropFirst(before).first)
            #expect(next.bodyStart > 1_000_000, "what was written is kept: \(next)")
        }
    }

    @Test(.enabled(if: MountedFolder.isAvailable))
    func `the service waits for a full disk, shows that, and continues when there is room`() throws {
        let disk = try MountedFolder(bytes: 2 << 20)
        let house = try ServiceHouse()
        let more = ["PAWL_ROOT": disk.path]
        func output(_ arguments: String...) throws -> String {
            let process = try house.start(arguments, more: more)
            process.wait()
            return process.output
        }
        _ = try output("serve", "--background")
        for name in ["a", "b", "c"] { _ = try output("add", house.origin.serve("/\(name)", Self.payload)) }
        var list = ""
        while list.components(of: "waiting for disk") < 3 { list = try output("list") }
        #expect(list.contains("needs"), "the reason: \(list)")
        #expect(list.contains("continues by itself when there is space; free some space\n"), "\(list)")
        #expect(try output("status").contains("\n0 running, 0 queued, 3 waiting for their disk, "))
        #expect(try output("list", "--state", "waiting").components(of: "waiting for disk") == 3)
        #expect(try !output("list", "--state", "running", "--state", "queued").contains("waiting for disk"))
        #expect(try output("list", "--json").contains(#""state":"waitingForDisk""#))
        #expect(try output("resume", "--all") == "resumed all\n")
        try disk.remount("size=64m")
        while try output("list").components(of: "finished") < 3 {}
        for name in ["a", "b", "c"] { #expect(FileSystem.difference(of: disk.path(name), from: Self.payload) == nil) }
    }

    @Test func `a limit of the size of files is named`() throws {
        let bench = try Bench()
        let url = bench.origin.serve("/f", Self.payload)
        let process = try PawlProcess.run(
            "/bin/sh",
            [
                "-c", "ulimit -f 1000; exec \"$0\" get --progress none -d \"$1\" \"$2\"", PawlBinary.path,
                bench.folder.path, url,
            ])
        #expect(process.exit == .code(17) && process.errors.contains("RLIMIT_FSIZE"), "\(process.errors)")
        let stream = try PawlProcess.run(
            "/bin/sh",
            [
                "-c", "ulimit -f 1000; exec \"$0\" get --progress none -o - \"$2\" >\"$1/out\"", PawlBinary.path,
                bench.folder.path, url,
            ])
        #expect(stream.exit == .code(17) && stream.errors.contains("standard output: this process may write no"))
        #expect(
            stream.errors.contains("RLIMIT_FSIZE") && stream.errors.contains("raise that limit"), "\(stream.errors)")
    }

    @Test(.enabled(if: MountedFolder.isAvailable)) func `A9 a read-only folder is reported with its path`() throws {
        let bench = try Bench()
        let disk = try MountedFolder(bytes: 1 << 20)
        try disk.remount("ro")
        defer { try? disk.remount("rw") }
        let url = bench.origin.serve("/f", Self.payload)
        let outcome = try bench.get(url, "-d", disk.path)
        let code = try #require(outcome.code)
        #expect([15, 16].contains(code), "\(outcome)")
        #expect(outcome.message.contains(disk.path), "\(outcome)")
        let below = try bench.get(url, "-d", disk.path + "/new/folder")
        #expect(below.code == 18, "\(below)")
    }

    @Test func `A9 a folder that vanishes ends in an error, not in a crash or a false success`() throws {
        let bench = try Bench()
        let url = bench.origin.serve("/f", Self.payload) { $0.cut = .stall(at: 3_000_000) }
        let inner = bench.folder.path("inner")
        let process = try bench.start(url, "-d", inner, "-x", "1")
        #expect(process.progress(reaches: 3_000_000))
        FileSystem.remove(inner)
        bench.origin.release("/f")
        let outcome = Outcome(of: process)
        let code = try #require(outcome.code)
        #expect((14...18).contains(code), "\(outcome)")
        #expect(!outcome.message.isEmpty)
    }

    @Test func `a file where the folder should be is code 18`() throws {
        let bench = try Bench()
        try FileSystem.write([1], to: bench.folder.path("taken"))
        let url = bench.origin.serve("/f", Self.payload)
        let outcome = try bench.get(url, "-d", bench.folder.path("taken"))
        #expect(outcome.code == 18, "\(outcome)")
        #expect(FileSystem.contents(bench.folder.path("taken")) == [1])
    }

    /// The possible damage to a journal, or to the data beside it.
    enum Damage: Hashable, CaseIterable {
        case emptied
        case halved
        case oneByteShort
        case firstByteFlipped
        case everyHundredthByteFlipped
        case lastByteFlipped
        case zeros
        case text
        case longer
        case gone
        case dataGone
        case dataEmptied
        case dataShort
    }

    @Test(arguments: Damage.allCases) func `G1 a damaged journal never makes a wrong file`(damage: Damage) throws {
        let bench = try Bench()
        let url = bench.origin.serve("/f", Self.payload)
        try bench.leavePartial(of: "/f", bytes: 3_000_000)
        #expect(bench.folder.names == ["f.part", "f.pawl"])
        try apply(damage, to: bench.folder.path("f.pawl"), data: bench.folder.path("f.part"))
        let outcome = try bench.get(url, "-x", "1")
        #expect(outcome.code == 0, "\(outcome)")
        if damage == .text {
            #expect(bench.folder.names == ["f", "f.pawl.bad"], "what is no journal is set aside")
            #expect(outcome.events("notice").contains { $0.line.contains("f.pawl") }, "\(outcome)")
        }
        let whole = bench.folder.names.filter { bench.folder.difference($0, from: Self.payload) == nil }
        #expect(whole.count == 1, "\(bench.folder.names) \(outcome)")
        let complete = bench.folder.names.filter {
            !$0.hasSuffix(".part") && !$0.hasSuffix(".pawl") && !$0.contains(".bad")
        }
        #expect(complete == whole, "\(bench.folder.names)")
    }

    @Test(arguments: [Behaviour.Validators.strong, .weakTagOnly, .lastModifiedOnly, .none])
    func `A7 A9 the journal and data of another file are never used`(validators: Behaviour.Validators) throws {
        let bench = try Bench()
        let other = Payload(seed: 82, length: 6_000_000)
        bench.origin.serve("/other/f", other) { $0.validators = validators }
        let url = bench.origin.serve("/f", Self.payload) { $0.validators = validators }
        try bench.leavePartial(of: "/other/f", bytes: 3_000_000)
        let before = FileSystem.contents(bench.folder.path("f.part"))
        let outcome = try bench.get(url, "-x", "1")
        #expect(outcome.code == 0, "\(outcome)")
        let whole = bench.folder.names.filter { bench.folder.difference($0, from: Self.payload) == nil }
        #expect(whole.count == 1, "\(bench.folder.names)")
        let isKept = FileSystem.contents(bench.folder.path("f.part")) == before
        #expect(isKept, "the other download's bytes are untouched: \(bench.folder.names)")
        let second = try bench.get(bench.origin.url("/other/f"), "-x", "1")
        #expect(second.code == 0, "\(second)")
        #expect(
            bench.folder.names.contains { bench.folder.difference($0, from: other) == nil }, "\(bench.folder.names)")
    }

    @Test func `A9 a journal of a newer version is refused with code 34 and stays as it is`() throws {
        let bench = try Bench()
        let url = bench.origin.serve("/f", Self.payload)
        try bench.leavePartial(of: "/f", bytes: 3_000_000)
        var journal = try #require(FileSystem.contents(bench.folder.path("f.pawl")))
        journal[8] += 1
        let check = CRC64.value(of: journal.prefix(24))
        for index in 0..<8 { journal[24 + index] = UInt8((check >> UInt64(index * 8)) & 0xFF) }
        try FileSystem.write(journal, to: bench.folder.path("f.pawl"))
        let outcome = try bench.get(url, "-x", "1")
        #expect(outcome.code == 34, "\(outcome)")
        let isKept = FileSystem.contents(bench.folder.path("f.pawl")) == journal
        #expect(isKept)
        #expect(FileSystem.agreement(of: bench.folder.path("f.part"), with: Self.payload) ?? 0 >= 3_000_000)
    }

    private func apply(_ damage: Damage, to journal: String, data: String) throws {
        var bytes = try #require(FileSystem.contents(journal))
        let part = try #require(FileSystem.contents(data))
        switch damage {
        case .emptied: bytes = []
        case .halved: bytes.removeLast(bytes.count / 2)
        case .oneByteShort: bytes.removeLast()
        case .firstByteFlipped: bytes[0] ^= 0x20
        case .everyHundredthByteFlipped:
            for index in stride(from: 50, to: bytes.count, by: 100) { bytes[index] ^= 0xFF }
        case .lastByteFlipped: bytes[bytes.count - 1] ^= 1
        case .zeros: bytes = [UInt8](repeating: 0, count: bytes.count)
        case .text: bytes = Array(String(repeating: "this is no journal\n", count: 500).utf8)
        case .longer: bytes += Payload(seed: 5, length: 100_000).bytes
        case .gone: FileSystem.remove(journal)
        case .dataGone: FileSystem.remove(data)
        case .dataEmptied: try FileSystem.write([], to: data)
        case .dataShort: try FileSystem.write(Array(part[..<1_000_000]), to: data)
        }
        switch damage {
        case .gone, .dataGone, .dataEmptied, .dataShort: break
        default: try FileSystem.write(bytes, to: journal)
        }
    }
}

extension String {
    /// How often it has that part.
    fileprivate func components(of part: String) -> Int { ranges(of: part).count }
}
