import Glibc
import PawlBase
import PawlIntegrity
import PawlJournal
import PawlTestKit
import Testing

/// `pawl repair` by pieces and by comparison.
@Suite(.ownThreads) struct RepairTests {
    private static let content = Payload(seed: 182, length: 4_000_000).bytes(in: ByteRange(0, 4_000_000))
    private static let pieceLength = 256 << 10

    private static let damage: [@Sendable (inout [UInt8]) -> Void] = [
        { $0[1_500_000] ^= 1 }, { $0.replaceSubrange(0..<100_000, with: repeatElement(0, count: 100_000)) },
        { $0.removeLast(700_000) }, { $0 += [1, 2, 3] }, { $0 = [] },
    ]

    @Test(arguments: damage.indices) func `pieces: only what is wrong is fetched, and the mode stays`(index: Int) throws
    {
        let bench = try IntegrityBench()
        var bytes = Self.content
        Self.damage[index](&bytes)
        try bench.write("f", bytes)
        unsafe chmod(bench.folder.path("f"), 0o600)
        let url = bench.origin.serve("/x", Payload(Self.content))
        let text = try bench.metalink("f", Self.content, piece: Self.pieceLength, sources: [url], hasWhole: true)
        try bench.write("m", Array(text.utf8))
        // One connection: what a server has sent beyond a part's end, when another connection took it over, is counted.
        let run = try bench.pawl("repair", "f", "--metalink", "m", "-x", "1")
        #expect(run.code == 0, "\(run)")
        #expect(bench.contents("f") == Self.content)
        #expect(bench.folder.names == ["f", "m"])
        #expect(FileSystem.mode(bench.folder.path("f")) == 0o600)
        let most = [1, 1, 4, 0, 16][index] * Self.pieceLength
        #expect(bench.sent(of: "/x") <= Int64(most), "\(run)")
        let again = try bench.pawl("repair", "f", "--metalink", "m")
        #expect(again.code == 0 && again.lines == ["f: nothing to repair"], "\(again)")
    }

    @Test func `a Metalink without a URL repairs from another source, and nothing without one`() throws {
        let bench = try IntegrityBench()
        var bytes = Self.content
        bytes[1_500_000] ^= 1
        try bench.write("f", bytes)
        let url = bench.origin.serve("/x", Payload(Self.content))
        let text = try bench.metalink("f", Self.content, piece: Self.pieceLength, sources: [])
        try bench.write("m", Array(text.utf8))
        let refused = try bench.pawl("repair", "f", "--metalink", "m")
        #expect(refused.code == 28 && bench.contents("f") == bytes, "\(refused)")
        let run = try bench.pawl("repair", "f", "--metalink", "m", "--from", url)
        #expect(run.code == 0 && bench.contents("f") == Self.content, "\(run)")
    }

    /// `true`: the source does not state the length either.
    @Test(arguments: [false, true]) func `pieces: without a size they decide as well`(isChunked: Bool) throws {
        let bench = try IntegrityBench()
        var bytes = Self.content
        try bench.write("f", bytes)
        bytes[1_500_000] ^= 1
        let url = bench.origin.serve("/x", Payload(bytes)) { if isChunked { $0.framing = .chunked } }
        let text = try bench.metalink("f", Self.content, piece: Self.pieceLength, sources: [url]).replacing(
            try Regex("<size>.*</size>"), with: "")
        try bench.write("m", Array(text.utf8))
        let verified = try bench.pawl("verify", "f", "--metalink", "m")
        #expect(verified.code == 0, "\(verified)")
        let kept = try bench.pawl("repair", "f", "--metalink", "m")
        #expect(kept.code == 0 && kept.lines == ["f: nothing to repair"], "\(kept)")
        // The source has another version.
        bytes[2_500_000] ^= 1
        try bench.write("f", bytes)
        let wrong = try bench.pawl("repair", "f", "--metalink", "m")
        #expect(wrong.code == 32 && bench.contents("f") == bytes, "\(wrong)")
        bench.origin.serve("/x", Payload(Self.content)) { if isChunked { $0.framing = .chunked } }
        let run = try bench.pawl("repair", "f", "--metalink", "m")
        #expect(run.code == 0 && bench.contents("f") == Self.content, "\(run)")
    }

    @Test(arguments: ["repair f --metalink m", "verify f --metalink m", "aria2c -V -M m"])
    func `a Metalink whose pieces contradict its size repairs nothing`(line: String) throws {
        let bench = try IntegrityBench()
        try bench.write("f", Self.content)
        let url = bench.origin.serve("/x", Payload(Self.content))
        let text = try bench.metalink("f", Self.content, piece: Self.pieceLength, sources: [url]).replacing(
            try Regex("<size>.*</size>"), with: "<size>100</size>")
        try bench.write("m", Array(text.utf8))
        let run = try bench.run(PawlBinary.path, line.split(separator: " ").map(String.init))
        #expect(run.code == 32 || run.code == 22, "\(run)")
        #expect(bench.contents("f") == Self.content)
    }

    @Test func `killed while it repairs, the old file is whole, and the next run ends it`() throws {
        let bench = try IntegrityBench()
        let wrong = stride(from: 0, to: 15, by: 2).map { $0 * Self.pieceLength + 7 }
        let process = try waiting(bench, wrongAt: wrong)
        let bytes = bench.contents("f")
        process.send(SIGKILL)
        process.wait()
        #expect(bench.contents("f") == bytes)
        bench.origin.adjust("/x") { $0.cut = nil }
        let run = try bench.pawl("repair", "f", "--metalink", "m")
        #expect(run.code == 0, "\(run)")
        #expect(bench.contents("f") == Self.content)
        #expect(bench.folder.names == ["f", "m"])
    }

    /// As after a power cut between the last two steps of a repair.
    @Test(arguments: [["repair", "f", "--metalink", "m"], ["aria2c", "-V", "-M", "m"]])
    func `a journal that is left beside a file that was repaired goes with the next run`(arguments: [String]) throws {
        let bench = try IntegrityBench()
        let process = try waiting(bench)
        let (journal, kept) = (bench.folder.path("f.pawl"), bench.folder.path("kept"))
        #expect(unsafe link(journal, kept) == 0)
        bench.origin.release("/x")
        #expect(process.wait(atMost: .patience) == .code(0), "\(process.errors)")
        #expect(bench.folder.names == ["f", "kept", "m"])
        #expect(unsafe rename(kept, journal) == 0)
        let sent = bench.sent(of: "/x")
        let run = try bench.run(PawlBinary.path, arguments)
        #expect(run.code == 0 && bench.contents("f") == Self.content, "\(run)")
        #expect(bench.folder.names == ["f", "m"] && bench.sent(of: "/x") == sent)
    }

    /// A repair of `f`, bytes of which are wrong, that waits for the last of them.
    private func waiting(
        _ bench: IntegrityBench, wrongAt places: [Int] = [1_500_000], mode: mode_t = 0o644
    ) throws -> PawlProcess {
        var bytes = Self.content
        for place in places { bytes[place] ^= 1 }
        try bench.write("f", bytes)
        unsafe chmod(bench.folder.path("f"), mode)
        let last = Int64(try #require(places.last))
        let url = bench.origin.serve("/x", Payload(Self.content)) { $0.cut = .stall(from: last) }
        let text = try bench.metalink("f", Self.content, piece: Self.pieceLength, sources: [url])
        try bench.write("m", Array(text.utf8))
        let process = try PawlProcess(
            PawlBinary.path, ["repair", "f", "--metalink", "m", "-x", "1"], folder: bench.folder.path)
        #expect(bench.origin.wait(held: 1, of: "/x"))
        return process
    }

    @Test(arguments: [false, true]) func `a file that was changed meanwhile stays, and the next run replaces it`(
        isOther: Bool
    ) throws {
        let bench = try IntegrityBench()
        let process = try waiting(bench)
        let mine = Array("written meanwhile".utf8)
        try bench.write(isOther ? "g" : "f", mine)
        if isOther { unsafe rename(bench.folder.path("g"), bench.folder.path("f")) }
        bench.origin.release("/x")
        #expect(process.wait(atMost: .patience) == .code(13), "\(process.errors)")
        #expect(process.errors.contains("another program has changed it"), "\(process.errors)")
        #expect(bench.contents("f") == mine)
        let isComplete = bench.contents("f.part") == Self.content
        #expect(isComplete)
        let sent = bench.sent(of: "/x")
        let run = try bench.pawl("repair", "f", "--metalink", "m")
        #expect(run.code == 0, "\(run)")
        #expect(bench.contents("f") == Self.content)
        #expect(bench.folder.names == ["f", "m"])
        #expect(bench.sent(of: "/x") == sent, "nothing is fetched twice")
    }

    @Test func `a file that may only be read is repaired, and may only be read afterwards`() throws {
        let bench = try IntegrityBench()
        let process = try waiting(bench, mode: 0o444)
        // Its owner has to open the part file for writing.
        #expect(FileSystem.mode(bench.folder.path("f.part")) == 0o644)
        bench.origin.release("/x")
        #expect(process.wait(atMost: .patience) == .code(0), "\(process.errors)")
        #expect(bench.contents("f") == Self.content)
        #expect(FileSystem.mode(bench.folder.path("f")) == 0o444)
    }

    @Test func `attributes that a user gave the file stay, those of Pawl are new`() throws {
        let bench = try IntegrityBench()
        let process = try waiting(bench)
        bench.origin.release("/x")
        #expect(process.wait(atMost: .patience) == .code(0), "\(process.errors)")
        let script = """
            import os
            os.setxattr("f", "user.mine", b"kept")
            os.setxattr("f", "user.pawl.sha256", b"old")
            data = bytearray(open("f", "rb").read())
            data[7] ^= 1
            open("f", "r+b").write(data)
            """
        // A file system without such attributes has none to keep.
        guard try bench.run("/usr/bin/python3", ["-c", script]).code == 0 else { return }
        let run = try bench.pawl("repair", "f", "--metalink", "m")
        #expect(run.code == 0 && bench.contents("f") == Self.content, "\(run)")
        let names = try bench.run("/usr/bin/python3", ["-c", "import os; print(os.listxattr('f'))"])
        #expect(names.lines.first?.contains("user.mine") == true, "\(names)")
        #expect(names.lines.first?.contains("sha256") == false, "\(names)")
    }

    @Test func `little damage across two pieces costs no byte more than these`() throws {
        let bench = try IntegrityBench()
        let content = Payload(seed: 187, length: 6 << 20).bytes
        var bytes = content
        for place in stride(from: (1 << 20) + 5_000, to: (2 << 20) + 5_000, by: 1_000) { bytes[place] ^= 1 }
        try bench.write("f", bytes)
        let url = bench.origin.serve("/x", Payload(content))
        let text = try bench.metalink("f", content, piece: 1 << 20, sources: [url])
        try bench.write("m", Array(text.utf8))
        let run = try bench.pawl("repair", "f", "--metalink", "m")
        #expect(run.code == 0 && bench.contents("f") == content, "\(run)")
        #expect(bench.sent(of: "/x") == 2 << 20, "\(run)")
    }

    /// The disk has lost bits: size, time and the record of the download are those of the right file.
    @Test(arguments: ["--from", "--metalink"])
    func `a file that Pawl itself has made is repaired, whatever is recorded of it`(option: String) throws {
        let bench = try IntegrityBench()
        let url = bench.origin.serve("/x", Payload(Self.content))
        let text = try bench.metalink("f", Self.content, piece: Self.pieceLength, sources: [url])
        try bench.write("m", Array(text.utf8))
        #expect(try bench.pawl("get", "-q", "-o", "f", url).code == 0)
        let path = bench.folder.path("f")
        var before = stat()
        #expect(unsafe stat(path, &before) == 0)
        let file = unsafe open(path, O_WRONLY)
        #expect(unsafe pwrite(file, [Self.content[1_500_000] ^ 1], 1, 1_500_000) == 1)
        let times = [before.st_atim, before.st_mtim]
        #expect(unsafe futimens(file, times) == 0)
        close(file)
        let run = try bench.pawl("repair", "f", option, option == "--from" ? url : "m")
        #expect(run.code == 0 && bench.contents("f") == Self.content, "\(run)")
        #expect(bench.folder.names == ["f", "m"])
    }

    @Test(arguments: ["--from", "--metalink", "--zsync"])
    func `a folder or a pipe is refused before anything is requested`(option: String) throws {
        let bench = try IntegrityBench()
        let url = bench.origin.serve("/x", Payload(Self.content))
        unsafe mkdir(bench.folder.path("f"), 0o755)
        unsafe mkfifo(bench.folder.path("p"), 0o600)
        for name in ["f", "p"] {
            let run = try bench.pawl("repair", name, option, url)
            #expect(run.code == 15 && run.errors.contains("it is not a file"), "\(run)")
        }
        #expect(bench.origin.log.of("/x").isEmpty)
    }

    @Test(arguments: damage.indices.dropLast(), [Behaviour.Validators.strong, .lastModifiedOnly, .none])
    func `from a URL alone: the differing pieces are replaced`(index: Int, validators: Behaviour.Validators) throws {
        let bench = try IntegrityBench()
        var bytes = Self.content
        Self.damage[index](&bytes)
        try bench.write("f", bytes)
        let url = bench.origin.serve("/x", Payload(Self.content)) { $0.validators = validators }
        let run = try bench.pawl("repair", "f", "--from", url, "-x", "1")
        if index == 3, validators == .none {
            // Nothing shows that content that is shorter is not a part of the file.
            #expect(run.code == 8 && bench.contents("f") == bytes, "\(run)")
            return
        }
        #expect(run.code == 0, "\(run)")
        #expect(bench.contents("f") == Self.content)
        #expect(bench.folder.names == ["f"])
        // All of it once, to compare; then little more than what differs. Without validators only equal bytes before a
        // damaged part can show that the content is still the same: if there are none, all of it is fetched.
        let more = validators == .none ? Int64(Self.content.count) : 2_400_000
        #expect(bench.sent(of: "/x") <= Int64(Self.content.count) + more, "\(run)")
        let again = try bench.pawl("repair", "f", "--from", url)
        #expect(again.lines == ["f: nothing to repair"], "\(again)")
    }

    /// Responses with status 200 that are not the file: type, length, lines, validators.
    private static let others: [(String, Int64, [String], Behaviour.Validators)] = [
        ("text/html", 170, [], .none), ("text/html", 170, [], .strong), ("application/json", 11, [], .lastModifiedOnly),
        ("application/octet-stream", 4, [], .none), ("application/octet-stream", 0, [], .none),
        ("application/octet-stream", 400_000, [], .strong),
        ("application/octet-stream", 4_000_000, ["Content-Encoding: gzip"], .strong),
    ]

    @Test(arguments: others.indices) func `a response that is not the file leaves it as it is`(index: Int) throws {
        let bench = try IntegrityBench()
        var bytes = Self.content
        bytes[1_500_000] ^= 1
        try bench.write("f", bytes)
        let (type, length, lines, validators) = Self.others[index]
        let url = bench.origin.serve("/x", Payload(seed: 9, length: length)) {
            $0.contentType = type
            $0.lines = lines.map { Array($0.utf8) }
            $0.validators = validators
        }
        let run = try bench.pawl("repair", "f", "--from", url)
        #expect(run.code == 8, "\(run)")
        #expect(bench.contents("f") == bytes)
        #expect(bench.folder.names == ["f"])
    }

    @Test func `a small file that was cut short is repaired`() throws {
        let bench = try IntegrityBench()
        let content = Payload(seed: 10, length: 20_000)
        let bytes = content.bytes(in: ByteRange(0, 9_000))
        try bench.write("f", bytes)
        let url = bench.origin.serve("/x", content)
        let run = try bench.pawl("repair", "f", "--from", url)
        #expect(run.code == 0 && bench.contents("f") == content.bytes(in: ByteRange(0, 20_000)), "\(run)")
    }

    @Test func `content that changes between comparison and repair is never mixed`() throws {
        let bench = try IntegrityBench()
        var bytes = Self.content
        bytes[1_500_000] ^= 1
        try bench.write("f", bytes)
        let other = Payload(seed: 183, length: 4_000_000)
        let url = bench.origin.serve("/x", versions: [Payload(Self.content), other], changing: .afterRequests(1))
        let run = try bench.pawl("repair", "f", "--from", url)
        let found = try #require(bench.contents("f"))
        #expect(found == bytes || found == other.bytes(in: ByteRange(0, 4_000_000)), "\(run)")
    }

    @Test func `a wrong file stays when the source has no better one`() throws {
        let bench = try IntegrityBench()
        var bytes = Self.content
        bytes[9] ^= 1
        try bench.write("f", bytes)
        let url = bench.origin.serve("/x", Payload(bytes))
        let text = try bench.metalink("f", Self.content, piece: Self.pieceLength, sources: [url])
        try bench.write("m", Array(text.utf8))
        let run = try bench.pawl("repair", "f", "--metalink", "m")
        #expect(run.code == 32, "\(run)")
        #expect(bench.contents("f") == bytes)
        #expect(bench.folder.names == ["f", "f.part", "f.pawl", "m"])
        bench.origin.serve("/x", Payload(Self.content))
        let again = try bench.pawl("repair", "f", "--metalink", "m")
        #expect(again.code == 0 && bench.contents("f") == Self.content, "\(again)")
        #expect(bench.folder.names == ["f", "m"])
    }
}
