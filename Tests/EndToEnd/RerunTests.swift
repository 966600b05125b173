import Glibc
import PawlBase
import PawlTestKit
import Testing

/// The same command again: finished files stay finished, and no other file is harmed.
@Suite(.ownThreads, .enabled(if: PawlBinary.isBuilt, "needs the built program")) struct RerunTests {
    private let payload = Payload(seed: 81, length: 1_300_000)

    private func sent(_ bench: Bench, _ path: String) -> Int64 {
        bench.origin.waitUntilQuiet(path)
        return bench.origin.ended(path).filter(\.isContent).reduce(0) { $0 + $1.bodySent }
    }

    @Test func `an interrupted list that is run again fetches the missing files and nothing else`() throws {
        let bench = try Bench()
        var list = ""
        for number in 0..<6 {
            let url = bench.origin.serve("/f\(number).bin", Payload(seed: UInt64(number), length: 90_000))
            list += url + "\n"
        }
        try FileSystem.write(Array(list.utf8), to: bench.folder.path("list.txt"))
        bench.origin.adjust("/f4.bin") { $0.instead = .status(500) }
        let first = try bench.get("-i", "list.txt", "--retries", "0")
        #expect(first.code != 0, "\(first)")
        bench.origin.adjust("/f4.bin") { $0.instead = nil }
        let second = try bench.get("-i", "list.txt")
        #expect(second.code == 0, "\(second)")
        let expected = ["list.txt"] + (0..<6).map { "f\($0).bin" }
        #expect(bench.folder.names == expected.sorted())
    }

    @Test func `a list from a server without validators is run again without a second copy of anything`() throws {
        let bench = try Bench()
        var list = ""
        for number in 0..<4 {
            let length: Int64 = number == 0 ? 1_300_000 : 90_000
            let url = bench.origin.serve("/f\(number).bin", Payload(seed: UInt64(number), length: length)) {
                $0.validators = .none
            }
            list += url + "\n"
        }
        try FileSystem.write(Array(list.utf8), to: bench.folder.path("list.txt"))
        try #expect(bench.get("-i", "list.txt").code == 0)
        try #expect(bench.get("-i", "list.txt").code == 0)
        #expect(bench.folder.names == ["f0.bin", "f1.bin", "f2.bin", "f3.bin", "list.txt"])
    }

    @Test(arguments: [[], ["-o", "mine.bin"], ["--naming", "hash"]])
    func `a finished file of the same URL is not fetched again`(options: [String]) throws {
        let bench = try Bench()
        let url = bench.origin.serve("/f.bin", payload)
        try #expect(bench.get([url] + options).code == 0)
        let names = bench.folder.names
        bench.origin.adjust("/f.bin") { $0.pace = 2_000_000 }
        let before = sent(bench, "/f.bin")
        let again = try bench.get([url] + options)
        #expect(again.code == 0, "\(again)")
        #expect(bench.folder.names == names)
        #expect(sent(bench, "/f.bin") - before < 1_000_000, "the response's head is enough")
        #expect(bench.folder.difference(names[0], from: payload) == nil)
    }

    @Test(arguments: ["/f.bin", "/g.bin"]) func `a part file is resumed when its source is a mirror now`(
        path: String
    ) throws {
        let bench = try Bench()
        bench.origin.serve("/m/f.bin", payload) { $0.validators = .none }
        let other = bench.origin.serve(path, payload) { $0.validators = .none }
        try bench.leavePartial(of: "/m/f.bin", bytes: 700_000)
        let before = sent(bench, path)
        let run = try bench.get(other, "--mirror", bench.origin.url("/m/f.bin"), "-x", "1")
        #expect(run.code == 0, "\(run)")
        #expect(bench.folder.names == ["f.bin"])
        #expect(bench.folder.difference("f.bin", from: payload) == nil)
        #expect(sent(bench, path) - before < 700_000, "the bytes on disk are kept")
    }

    @Test func `the part file of another URL is not continued because both have zeros there`() throws {
        let bench = try Bench()
        let zeros = [UInt8](repeating: 0, count: 800_000)
        let ends = (1...4).map { Payload(seed: $0, length: 300_000).bytes }
        bench.origin.serve("/f.bin", Payload(ends[0] + zeros + ends[1]))
        let other = Payload(ends[2] + zeros + ends[3])
        let url = bench.origin.serve("/g.bin", other)
        try bench.leavePartial(of: "/f.bin", bytes: 700_000)
        let run = try bench.get(url, "-o", "f.bin", "-x", "1")
        #expect(run.code == 0, "\(run)")
        #expect(bench.folder.difference("f.bin", from: other) == nil)
        #expect(bench.folder.names == ["f.bin"])
    }

    @Test func `a URL that is given twice is one download`() throws {
        let bench = try Bench()
        let url = bench.origin.serve("/f.bin", payload)
        let run = try bench.get(url, url)
        #expect(run.code == 0 && bench.folder.names == ["f.bin"], "\(run)")
        #expect(bench.folder.difference("f.bin", from: payload) == nil)
    }

    @Test func `an existing file of another length than the expected one is not skipped silently`() throws {
        let bench = try Bench()
        let url = bench.origin.serve("/f.bin", payload)
        try FileSystem.write([1, 2, 3], to: bench.folder.path("f.bin"))
        let right = try bench.get(url, "--if-exists", "skip", "--length", "3")
        #expect(right.code == 0, "\(right)")
        let wrong = try bench.get(url, "--if-exists", "skip", "--length", "1300000")
        #expect(wrong.code == 32, "\(wrong)")
        #expect(bench.folder.names == ["f.bin"])
    }

    @Test func `overwriting a link that was named replaces what it leads to, and one that a list names the link`()
        throws
    {
        let bench = try Bench()
        let url = bench.origin.serve("/f.bin", payload)
        let other = try TemporaryFolder()
        func link() throws {
            FileSystem.remove(bench.folder.path("link"))
            try FileSystem.write([1, 2, 3], to: other.path("target"))
            #expect(unsafe symlink(other.path("target"), bench.folder.path("link")) == 0)
        }
        try link()
        let named = try bench.get(url, "--if-exists", "overwrite", "-o", "link")
        #expect(named.code == 0, "\(named)")
        #expect(other.difference("target", from: payload) == nil && other.names == ["target"])
        #expect(bench.folder.names == ["link"] && FileSystem.link(bench.folder.path("link")) != nil)
        // Another run resumes what a killed one has left there.
        try link()
        bench.origin.adjust("/f.bin") { $0.cut = .close(after: 700_000) }
        let cut = try bench.get(url, "--if-exists", "overwrite", "-o", "link", "--retries", "0")
        #expect(cut.code != 0 && other.names.contains("target.part"), "\(cut)")
        bench.origin.adjust("/f.bin") { $0.cut = nil }
        #expect(try bench.get(url, "--if-exists", "overwrite", "-o", "link").code == 0)
        #expect(other.difference("target", from: payload) == nil && other.names == ["target"])
        // What others choose leads nowhere.
        try link()
        try FileSystem.write(Array("\(url)\n out=link\n".utf8), to: bench.folder.path("list"))
        let listed = try bench.get("-i", "list", "--if-exists", "overwrite")
        #expect(listed.code == 0, "\(listed)")
        #expect(FileSystem.contents(other.path("target")) == [1, 2, 3] && other.names == ["target"])
        #expect(bench.folder.difference("link", from: payload) == nil)
        #expect(FileSystem.link(bench.folder.path("link")) == nil)
    }

    @Test(arguments: [[], ["-o", "f.bin"]]) func `a file that has changed, here or there, is saved beside it`(
        options: [String]
    ) throws {
        let bench = try Bench()
        let url = bench.origin.serve("/f.bin", payload)
        try #expect(bench.get([url] + options).code == 0)
        let new = Payload(seed: 82, length: 1_300_000)
        bench.origin.serve("/f.bin", new)
        let other = try bench.get([url] + options)
        #expect(other.code == 0, "\(other)")
        #expect(bench.folder.names == ["f (1).bin", "f.bin"])
        #expect(bench.folder.difference("f.bin", from: payload) == nil)
        #expect(bench.folder.difference("f (1).bin", from: new) == nil)
        try FileSystem.write(Array("mine now".utf8), to: bench.folder.path("f (1).bin"))
        try #expect(bench.get([url] + options).code == 0)
        #expect(bench.folder.names == ["f (1).bin", "f (2).bin", "f.bin"])
        #expect(FileSystem.contents(bench.folder.path("f (1).bin")) == Array("mine now".utf8))
    }

    @Test func `skip with a checksum checks the existing file`() throws {
        let bench = try Bench()
        let url = bench.origin.serve("/f.bin", payload)
        try FileSystem.write(payload.bytes, to: bench.folder.path("f.bin"))
        let sum = try PawlProcess.run("/usr/bin/md5sum", [bench.folder.path("f.bin")])
        let digest = String(try #require(sum.lines.first).prefix(32))
        let right = try bench.get(url, "--if-exists", "skip", "--checksum", "md5=\(digest)")
        #expect(right.code == 0, "\(right)")
        let wrong = String(digest.reversed())
        for name in [[], ["-o", "f.bin"]] {
            let refused = try bench.get([url, "--if-exists", "skip", "--checksum", "md5=\(wrong)"] + name)
            #expect(refused.code == 32, "\(refused)")
            #expect(refused.message.contains(digest), "\(refused)")
        }
        #expect(bench.folder.names == ["f.bin"])
        #expect(bench.origin.ended("/f.bin").isEmpty, "nothing had to be requested")
    }

    @Test(arguments: [["--if-exists", "skip"], []])
    func `a file that is there already must be verified as a download must`(options: [String]) throws {
        let bench = try Bench()
        let url = bench.origin.serve("/f.bin", payload)
        try #expect(bench.get(url).code == 0)
        let refused = try bench.get([url, "--verify", "required"] + options)
        #expect(refused.code == 32, "\(refused)")
        let digest = Hexadecimal.text(MessageDigest5.digest(payload.bytes))
        bench.origin.serve("/f.bin.md5", Payload(Array("\(digest)  f.bin\n".utf8)))
        let run = try bench.get([url, "--verify", "required"] + options)
        #expect(run.code == 0, "\(run)")
        bench.origin.serve("/f.bin.md5", Payload(Array("\(String(digest.reversed()))  f.bin\n".utf8)))
        let wrong = try bench.get([url, "--verify", "required"] + options)
        #expect(wrong.code == 32, "\(wrong)")
        #expect(bench.folder.names == ["f.bin"])
    }

    @Test func `a part file that its user has renamed is not complete, and can be continued`() throws {
        let bench = try Bench()
        let url = bench.origin.serve("/f.bin", payload)
        try bench.leavePartial(of: "/f.bin", bytes: 700_000)
        func rename() throws {
            #expect(unsafe Glibc.rename(bench.folder.path("f.bin.part"), bench.folder.path("f.bin")) == 0)
        }
        try rename()
        let skipped = try bench.get(url, "--if-exists", "skip")
        #expect(skipped.code == 13, "\(skipped)")
        let run = try bench.get(url)
        #expect(run.code == 0, "\(run)")
        #expect(bench.folder.names == ["f (1).bin", "f.bin"])
        #expect(bench.folder.difference("f (1).bin", from: payload) == nil)
        let continued = try bench.get(url, "--if-exists", "resume")
        #expect(continued.code == 0, "\(continued)")
        #expect(bench.folder.difference("f.bin", from: payload) == nil)
    }

    @Test func `a resumed file with another checksum is kept, and fetched no further for the right one`() throws {
        let bench = try Bench()
        let payload = Payload(seed: 84, length: 5_000_000)
        let url = bench.origin.serve("/f.bin", payload) { $0.cut = .close(after: 3_000_000) }
        try #expect(bench.get(url, "-x", "1", "--retries", "0").code != 0)
        bench.origin.adjust("/f.bin") { $0.cut = nil }
        let wrong = "md5=" + String(repeating: "0", count: 32)
        for _ in 0..<2 {
            let refused = try bench.get(url, "-x", "1", "--checksum", wrong)
            #expect(refused.code == 32, "\(refused)")
            #expect(bench.folder.names == ["f.bin.part", "f.bin.pawl"])
        }
        let sum = try PawlProcess.run("/usr/bin/md5sum", [bench.folder.path("f.bin.part")])
        let before = sent(bench, "/f.bin")
        let digest = String(try #require(sum.lines.first).prefix(32))
        let right = try bench.get(url, "-x", "1", "--checksum", "md5=\(digest)")
        #expect(right.code == 0, "\(right)")
        #expect(bench.folder.difference("f.bin", from: payload) == nil)
        #expect(sent(bench, "/f.bin") == before, "all bytes were there")
    }

    @Test func `skip takes nothing but a file for a finished download`() throws {
        let bench = try Bench()
        let url = bench.origin.serve("/f.bin", payload)
        _ = try PawlProcess.run("/usr/bin/mkdir", [bench.folder.path("f.bin")])
        for policy in ["skip", "resume"] {
            for checksum in [[], ["--checksum", "md5=00000000000000000000000000000000"]] {
                let refused = try bench.get([url, "--if-exists", policy] + checksum)
                #expect(refused.code == 13, "\(refused)")
                #expect(refused.message.contains("a directory of that name exists"), "\(refused)")
            }
        }
        #expect(bench.folder.names == ["f.bin"])
    }

    @Test(arguments: ["foo.pawl", "foo.part"])
    func `A9 a finished file with a part file's name is not harmed by its neighbour`(name: String) throws {
        let bench = try Bench()
        let first = bench.origin.serve("/\(name)", payload)
        let content = Payload(seed: 83, length: 5_000_000)
        let second = bench.origin.serve("/foo", content)
        try #expect(bench.get(first, "-o", name).code == 0)
        let outcome = try bench.get(second, "-x", "2")
        #expect(outcome.code == 0, "\(outcome)")
        #expect(bench.folder.names == ["foo", name])
        #expect(bench.folder.difference(name, from: payload) == nil)
        #expect(bench.folder.difference("foo", from: content) == nil)
    }

    @Test func `A9 a user's own part file beside a user's own journal name stays`() throws {
        let bench = try Bench()
        let url = bench.origin.serve("/foo", payload)
        for own in ["foo.part", "foo.pawl"] {
            try FileSystem.write(Array("my \(own)".utf8), to: bench.folder.path(own))
        }
        let outcome = try bench.get(url)
        #expect(outcome.code == 0, "\(outcome)")
        #expect(bench.folder.names == ["foo", "foo.part", "foo.pawl"])
        for own in ["foo.part", "foo.pawl"] {
            #expect(FileSystem.contents(bench.folder.path(own)) == Array("my \(own)".utf8))
        }
    }

    @Test(arguments: [SIGINT, SIGKILL], [1, 100_000, 1 << 20, 3 << 20])
    func `bytes appended to a part file by another program are cut`(signal: Int32, count: Int) throws {
        let bench = try Bench()
        let content = Payload(seed: 84, length: 9_000_000)
        let url = bench.origin.serve("/f", content) { $0.cut = .stall(at: 3_000_000) }
        let process = try bench.start(url, "-x", "1")
        #expect(process.progress(reaches: 3_000_000))
        process.send(signal)
        process.wait()
        let part = bench.folder.path("f.part")
        let length = try #require(FileSystem.size(part))
        #expect(unsafe truncate(part, Int(length) + count) == 0)
        bench.origin.adjust("/f") { $0.cut = nil }
        let outcome = try bench.get(url, "-x", "1")
        #expect(outcome.code == 0, "\(outcome)")
        #expect(bench.folder.difference("f", from: content) == nil)
        #expect(outcome.events("started").first?.number("resumedAt") == 3_000_000)
    }
}
