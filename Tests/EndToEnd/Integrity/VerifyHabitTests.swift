import PawlBase
import PawlTestKit
import Testing

/// `pawl verify` and `pawl repair` without an option that says by what.
@Suite(.ownThreads) struct VerifyHabitTests {
    private static let content = Payload(seed: 4906, length: 300_000).bytes(in: ByteRange(0, 300_000))

    @Test func `a sums file stands for the files that it lists, in its folder`() throws {
        let bench = try IntegrityBench()
        #expect(try bench.run("/bin/mkdir", ["sub"]).code == 0)
        try bench.write("sub/a", Self.content)
        try bench.write("sub/b", [1])
        let sums = try bench.run(
            "/bin/sh", ["-c", "cd sub && sha256sum a b && echo \"$(sha256sum <b | cut -c1-64)  gone\""])
        try bench.write("sub/SHA256SUMS", Array((sums.lines.joined(separator: "\n") + "\n").utf8))
        let run = try bench.pawl("verify", "sub/SHA256SUMS")
        #expect(run.lines.prefix(2) == ["sub/a: OK, sha-256 (sub/SHA256SUMS)", "sub/b: OK, sha-256 (sub/SHA256SUMS)"])
        #expect(run.lines.count == 3 && run.lines[2].hasPrefix("sub/gone: FAILED, No such file"), "\(run)")
        try bench.write("sub/b", [2])
        #expect(try bench.pawl("verify", "sub/SHA256SUMS").code == 32)
        // Its own digest, under the name of one file.
        try bench.write("c.iso", Self.content)
        try bench.write("c.iso.sha256", Array("\(try bench.sum("sha256sum", of: "c.iso"))\n".utf8))
        let own = try bench.pawl("verify", "c.iso.sha256")
        #expect(own.lines == ["c.iso: OK, sha-256 (c.iso.sha256)"] && own.code == 0, "\(own)")
    }

    @Test(arguments: [
        ("a.sfv", "; a comment\na %CRC\n", "crc32"), ("a.md5", "%MD5  a\n", "md5"), ("a.sha1", "%SHA1\n", "sha-1"),
        ("all.md5sum", "%MD5 *a\n", "md5"), ("bsd.txt", "SHA1 (a) = %SHA1\n", "sha-1"),
        ("list", "%SHA1  ./a\n", "sha-1"),
    ]) func `a sums file of another notation or name stands for its files, too`(
        name: String, text: String, algorithm: String
    ) throws {
        let bench = try IntegrityBench()
        try bench.write("a", Self.content)
        // The last bytes of a gzip file (RFC 1952 §2.3.1).
        let crc = "gzip -c a | tail -c 8 | head -c 4 | od -A n -t x4"
        let digests = [
            ("%CRC", try bench.run("/bin/sh", ["-c", crc]).lines[0].replacing(" ", with: "")),
            ("%MD5", try bench.sum("md5sum", of: "a")),
            ("%SHA1", try bench.sum("sha1sum", of: "a")),
        ]
        try bench.write(name, Array(digests.reduce(text) { $0.replacing($1.0, with: $1.1) }.utf8))
        let run = try bench.pawl("verify", name)
        #expect(run.code == 0 && run.lines == ["a: OK, \(algorithm) (\(name))"], "\(run)")
        // What has its file's name is found beside that, too.
        if name.hasPrefix("a.") { #expect(try bench.pawl("verify", "a").lines == run.lines) }
        try bench.write("a", [1])
        #expect(try bench.pawl("verify", name).code == 32)
    }

    @Test func `a text that is no sums file stands for itself`() throws {
        let bench = try IntegrityBench()
        try bench.write("a", Self.content)
        try bench.write("notes.txt", Array("the digests:\n\(try bench.sum("sha1sum", of: "a"))  a\n".utf8))
        let run = try bench.pawl("verify", "notes.txt")
        #expect(run.code == 28 && run.errors.contains("no sums file beside it names it"), "\(run)")
    }

    @Test func `what a sums file names in other folders is not read`() throws {
        let bench = try IntegrityBench()
        try bench.write("outside", [1])
        let digest = try bench.sum("sha256sum", of: "outside")
        #expect(try bench.run("/bin/mkdir", ["sub"]).code == 0)
        try bench.write("sub/SHA256SUMS", Array("\(digest)  ../outside\n".utf8))
        let run = try bench.pawl("verify", "sub/SHA256SUMS")
        #expect(run.code == 28 && run.lines.first?.contains("names it in another folder") == true, "\(run)")
    }

    @Test(arguments: ["SHA256SUMS", "a.sha256"]) func `a sums file that is none says which line is not understood`(
        name: String
    ) throws {
        let bench = try IntegrityBench()
        try bench.write(name, [])
        let empty = try bench.pawl("verify", name)
        #expect(empty.code == 28 && empty.lines.first?.contains("it is empty") == true, "\(empty)")
        try bench.write(name, Array("# a comment\n\nnot a digest  a\n".utf8))
        let garbage = try bench.pawl("verify", name)
        #expect(
            garbage.code == 28 && garbage.lines.first?.contains("line 3 is 'not a digest  a'") == true, "\(garbage)")
        try bench.write("a", Self.content)
        let given = try bench.pawl("verify", "--sums", name, "a")
        #expect(given.code == 28 && given.errors.contains("line 3 is 'not a digest  a'"), "\(given)")
        // Lines that are left out may name files that were to be checked.
        try bench.write(name, Array("\(try bench.sum("sha256sum", of: "a"))  a\n<<<<<<< HEAD\n12  b\n".utf8))
        let partly = try bench.pawl("verify", name)
        #expect(partly.code == 28 && partly.lines.contains("a: OK, sha-256 (\(name))"), "\(partly)")
        #expect(
            partly.lines.contains { $0.contains("line 2 is not understood: '<<<<<<< HEAD', and 1 more") }, "\(partly)")
        let named = try bench.pawl("verify", "--sums", name, "a")
        #expect(named.code == 0, "\(named)")
        #expect(named.errors.contains("\(name): line 2 is not understood and left out: '<<<<<<< HEAD', and 1 more"))
        // Two digests of one file say nothing of it.
        try bench.write(
            name, Array("\(try bench.sum("sha256sum", of: "a"))  a\n\(String(repeating: "0", count: 64))  a\n".utf8))
        let unclear = try bench.pawl("verify", name)
        #expect(unclear.code == 28 && unclear.lines.contains { $0.contains("different digests") }, "\(unclear)")
    }

    @Test func `a file is compared with the sums files beside it`() throws {
        let bench = try IntegrityBench()
        try bench.write("a", Self.content)
        let alone = try bench.pawl("verify", "a")
        #expect(alone.code == 28 && alone.errors.contains("no sums file beside it names it"), "\(alone)")
        try bench.write("SHA256SUMS", Array("\(try bench.sum("sha256sum", of: "a"))  a\n".utf8))
        #expect(try bench.pawl("verify", "a").lines == ["a: OK, sha-256 (SHA256SUMS)"])
        try bench.write("a.md5", Array("00000000000000000000000000000000  a\n".utf8))
        let wrong = try bench.pawl("verify", "a")
        #expect(wrong.code == 32 && wrong.lines.first?.contains("expected md5") == true, "\(wrong)")
        let missing = try bench.pawl("verify", "none")
        #expect(
            missing.code == 15 && missing.lines.first?.hasPrefix("none: FAILED, No such file") == true, "\(missing)")
    }

    @Test func `a file is repaired from the URL that was stored with it`() throws {
        let bench = try IntegrityBench()
        let payload = Payload(seed: 4907, length: 300_000)
        let url = bench.origin.serve("/a.bin", payload)
        #expect(try bench.pawl("get", "-q", "--xattr", url).code == 0)
        guard
            try bench.run("/usr/bin/python3", ["-c", "import os; os.getxattr('a.bin', 'user.xdg.origin.url')"]).code
                == 0
        else { return }
        #expect(try bench.pawl("verify", "a.bin").lines == ["a.bin: OK, sha-256 (user.pawl.sha256)"])
        let script = "f = open('a.bin', 'r+b'); f.seek(1000); f.write(b'damage')"
        #expect(try bench.run("/usr/bin/python3", ["-c", script]).code == 0)
        #expect(try bench.pawl("verify", "a.bin").code == 32)
        let repaired = try bench.pawl("repair", "a.bin")
        #expect(repaired.code == 0 && repaired.errors.contains("\na.bin: finished"), "\(repaired)")
        #expect(bench.folder.difference("a.bin", from: payload) == nil)
        // The next damage is found as well.
        #expect(try bench.pawl("verify", "a.bin").lines == ["a.bin: OK, sha-256 (user.pawl.sha256)"])
        try bench.write("b.bin", [1])
        let none = try bench.pawl("repair", "b.bin")
        #expect(none.code == 28 && none.errors.contains("no URL is stored with it"), "\(none)")
    }
}
