import PawlBase
import PawlIntegrity
import PawlTestKit
import Testing

/// `pawl verify`, beside coreutils.
@Suite(.ownThreads) struct VerifyTests {
    private static let content = Payload(seed: 184, length: 1_000_000).bytes(in: ByteRange(0, 1_000_000))

    @Test func `sums files: right, wrong, unnamed and missing files`() throws {
        let bench = try IntegrityBench()
        try bench.write("a", Self.content)
        try bench.write("b", [1, 2, 3])
        let sums = try bench.run("/usr/bin/sha256sum", ["a", "b"])
        try bench.write("SHA256SUMS", Array((sums.lines.joined(separator: "\n") + "\n").utf8))
        let right = try bench.pawl("verify", "a", "b", "--sums", "SHA256SUMS")
        #expect(right.code == 0, "\(right)")
        #expect(right.lines == ["a: OK, sha-256 (SHA256SUMS)", "b: OK, sha-256 (SHA256SUMS)"])
        try bench.write("b", [1, 2, 4])
        let wrong = try bench.pawl("verify", "a", "b", "--sums", "SHA256SUMS")
        #expect(wrong.code == 32 && wrong.lines.count == 2, "\(wrong)")
        let digest = try bench.sum("sha256sum", of: "b")
        #expect(wrong.lines[1].hasPrefix("b: FAILED, expected sha-256 "), "\(wrong)")
        #expect(wrong.lines[1].hasSuffix("got \(digest)"), "\(wrong)")
        try bench.write("c", [])
        let unnamed = try bench.pawl("verify", "a", "c", "--sums", "SHA256SUMS")
        #expect(unnamed.code == 3, "\(unnamed)")
        let both = try bench.pawl("verify", "b", "c", "none", "--sums", "SHA256SUMS")
        #expect(both.code == 32 && both.lines.count == 3, "wrong outranks the rest: \(both)")
        let missing = try bench.pawl("verify", "c", "none", "--sums", "SHA256SUMS")
        try bench.write("SUMS", Array("\(digest)  none\n".utf8))
        let order = try bench.pawl("verify", "c", "none", "--sums", "SUMS")
        #expect(missing.code == 3 && order.code == 3, "unnamed outranks missing: \(order)")
        #expect(try bench.pawl("verify", "none", "--sums", "SHA256SUMS").code != 0)
    }

    @Test func `names are bytes, as for sha256sum`() throws {
        let bench = try IntegrityBench()
        let script = #"""
            set -e
            one=$(printf 'a\377b') two='c\d' three='e
            f' four=$(printf '\342\202')
            mkdir "$four"
            echo 1 >"$one"; echo 2 >"$two"; echo 3 >"$three"; echo 4 >"$four/x"; echo 5 >"$(printf 'a\376b')"
            sha256sum "$one" "$two" "$three" "$four/x" >"$one.sums"
            sha256sum --tag "$one" "$two" "$three" "$four/x" >tagged
            sha256sum -c --quiet "$one.sums"
            for sums in "$one.sums" tagged; do
                "$0" verify "$one" "$two" "$three" "$four/x" --sums "$sums" >"out $sums"
                "$0" verify -q "$(printf 'a\376b')" --sums "$sums" && exit 1
            done
            printf 'a\377b: OK, sha-256 (tagged)\nc\\d: OK, sha-256 (tagged)\ne\357\277\275f: OK, sha-256 (tagged)\n' >wanted
            printf '\342\202/x: OK, sha-256 (tagged)\n' >>wanted
            cmp wanted "out tagged"
            "$0" verify "$one" --checksum "sha-256=$(sha256sum <"$one" | cut -c1-64)" --json
            "$0" verify "no $one" --checksum "sha-256=$(sha256sum <"$one" | cut -c1-64)"
            """#
        let run = try bench.run("/bin/sh", ["-c", script, PawlBinary.path])
        #expect(run.code == 15, "\(run)")
        #expect(
            run.lines.first { $0.contains("verified") }?.contains("\"path\":\"a\u{FFFD}b\",\"pathEncoded\":\"a%FFb\"")
                == true, "\(run)")
        #expect(run.lines.last?.hasPrefix("no a\u{FFFD}b: FAILED, No such file") == true, "\(run)")
    }

    @Test func `a name that is not UTF-8 is refused by what would write to another`() throws {
        let bench = try IntegrityBench()
        let script = #"""
            name=$(printf 'a\377b')
            echo 1 >"$name"
            for command in "get -o" "repair --from http://127.0.0.1:1/x" "add -d" "aria2c -o"; do
                "$0" $command "$name" http://127.0.0.1:1/x
                test $? = 28 || exit 1
            done
            test "$(ls)" = "$name"
            """#
        let run = try bench.run("/bin/sh", ["-c", script, PawlBinary.path])
        #expect(run.code == 0 && run.lines.isEmpty, "\(run)")
    }

    @Test func `a file of procfs, whose length is 0, is not verified as an empty one`() throws {
        let bench = try IntegrityBench()
        let empty = "md5=d41d8cd98f00b204e9800998ecf8427e"
        let run = try bench.pawl("verify", "/proc/self/status", "--checksum", empty)
        #expect(run.code == 15 && "\(run)".contains("it is not a file"), "\(run)")
    }

    @Test func `digests that contradict each other verify nothing, and the line says so`() throws {
        let bench = try IntegrityBench()
        try bench.write("a", Self.content)
        let (right, md5) = (try bench.sum("sha256sum", of: "a"), try bench.sum("md5sum", of: "a"))
        let other = String(repeating: "0", count: 64)
        try bench.write("SUMS", Array("\(right)  a\n\(other)  a\n\(md5)  a\n".utf8))
        let sums = try bench.pawl("verify", "a", "--sums", "SUMS")
        #expect(sums.code == 3, "\(sums)")
        #expect(sums.lines == ["a: FAILED, SUMS has different digests of the same algorithm for it"])
        func metalink(_ hashes: String) -> [UInt8] {
            Array(
                """
                <metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="a">\(hashes)
                <url>http://x.example/a</url></file></metalink>
                """.utf8)
        }
        try bench.write("m", metalink("<hash type='sha-256'>\(right)</hash><hash type='sha-256'>\(other)</hash>"))
        let twice = try bench.pawl("verify", "a", "--metalink", "m")
        #expect(twice.code == 28 && twice.errors.contains("different digests of the same algorithm"), "\(twice)")
        try bench.write(
            "m", metalink("<hash type='md5'>\(other.prefix(32))</hash><hash type='sha-256'>\(right)</hash>"))
        let all = try bench.pawl("verify", "a", "--metalink", "m")
        #expect(all.code == 32 && all.lines[0].contains("expected md5"), "\(all)")
        try bench.write("m", metalink("<hash type='sha3-256'>00</hash>"))
        let malformed = try bench.pawl("verify", "a", "--metalink", "m")
        #expect(malformed.code == 28 && malformed.errors.contains("its digests of a are malformed"), "\(malformed)")
        try bench.write("m", metalink("<hash type='sha-999'>00</hash>"))
        let none = try bench.pawl("verify", "a", "--metalink", "m")
        #expect(none.code == 3 && none.lines[0].contains("m has neither a usable digest"), "\(none)")
        try bench.write("MIXED", Array("\(md5)  a\n".utf8))
        try bench.write("SHA256SUMS", Array("\(right)  a\n".utf8))
        let best = try bench.pawl("verify", "a", "--sums", "MIXED", "--sums", "SHA256SUMS")
        #expect(best.lines == ["a: OK, sha-256 (SHA256SUMS)"], "\(best)")
    }

    @Test func `sums of other algorithms are read as what they are, or not at all`() throws {
        let bench = try IntegrityBench()
        try bench.write("a", Self.content)
        let blake = try bench.sum("b2sum", of: "a")
        let long = try bench.sum("sha512sum", of: "a")
        for (name, digest, algorithm) in [
            ("B2SUMS", blake, "blake2b"), ("a.b2", blake, "blake2b"), ("sums.txt", blake, "blake2b"),
            ("sums.txt", long, "sha-512"), ("SHA512SUMS", long, "sha-512"),
        ] {
            try bench.write(name, Array("\(digest)  a\n".utf8))
            let run = try bench.pawl("verify", "a", "--sums", name)
            #expect(run.lines == ["a: OK, \(algorithm) (\(name))"], "\(run)")
        }
        try bench.write("SHA512SUMS", Array("\(blake)  a\n".utf8))
        #expect(try bench.pawl("verify", "a", "--sums", "SHA512SUMS").code == 32)
        try bench.write("SHA3-512SUMS", Array("\(blake)  a\n".utf8))
        #expect(try bench.pawl("verify", "a", "--sums", "SHA3-512SUMS").code == 32)
        try bench.write("B3SUMS", Array("\(blake)  a\n".utf8))
        let unknown = try bench.pawl("verify", "a", "--sums", "B3SUMS")
        #expect(unknown.code == 28 && unknown.errors.contains("not of a supported algorithm"), "\(unknown)")
        try bench.write("sums.txt", Array("\(String(repeating: "0", count: 64))  a\n".utf8))
        let wrong = try bench.pawl("verify", "a", "--sums", "sums.txt")
        #expect(wrong.code == 32 && wrong.lines[0].contains("read as sha-256 by its length"), "\(wrong)")
        #expect(try bench.pawl("verify", "a", "--checksum", "blake2b=\(blake)").code == 0)
    }

    @Test func `an entry outside the folder counts if it is the only one of that name`() throws {
        let bench = try IntegrityBench()
        try bench.write("a", Self.content)
        let digest = try bench.sum("sha256sum", of: "a")
        let other = String(repeating: "0", count: 64)
        for path in ["/srv/x/a", "../x/a", "./a"] {
            try bench.write("SUMS", Array("\(digest)  \(path)\n\(other)  /srv/b\n".utf8))
            #expect(try bench.pawl("verify", "a", "--sums", "SUMS").lines == ["a: OK, sha-256 (SUMS)"])
        }
        try bench.write("SUMS", Array("\(digest)  /srv/x/a\n\(other)  /srv/y/a\n".utf8))
        let two = try bench.pawl("verify", "a", "--sums", "SUMS")
        #expect(two.code == 3 && two.lines[0].contains("names several files of that name"), "\(two)")
        try bench.write("SUMS", Array("\(digest)  a\n\(other)  /srv/y/a\n".utf8))
        #expect(try bench.pawl("verify", "a", "--sums", "SUMS").code == 0)
    }

    @Test func `a checksum, a Metalink with pieces, and sums from a URL`() throws {
        let bench = try IntegrityBench()
        try bench.write("a", Self.content)
        for (program, type) in [("sha256sum", "sha-256"), ("sha512sum", "sha-512"), ("sha1sum", "sha-1")] {
            let digest = try bench.sum(program, of: "a")
            #expect(try bench.pawl("verify", "a", "--checksum", "\(type)=\(digest)").code == 0)
        }
        let other = String(repeating: "0", count: 64)
        let wrong = try bench.pawl("verify", "--json", "a", "--checksum", "sha-256=\(other)")
        #expect(wrong.code == 32 && wrong.lines.count == 1 && wrong.lines[0].contains("\"code\":32"), "\(wrong)")
        let metalink = try bench.metalink("a", Self.content, piece: 100_000, sources: ["http://x.example/a"])
        try bench.write("m", Array(metalink.utf8))
        let pieces = try bench.pawl("verify", "a", "--metalink", "m")
        #expect(pieces.code == 0 && pieces.lines == ["a: OK, pieces (m)"], "\(pieces)")
        let described = try bench.metalink("a", Self.content, piece: 100_000, sources: [])
        try bench.write("described", Array(described.utf8))
        #expect(try bench.pawl("verify", "a", "--metalink", "described").code == 0, "it needs no URL")
        var bytes = Self.content
        bytes[250_000] ^= 1
        try bench.write("a", bytes)
        let bad = try bench.pawl("verify", "a", "--metalink", "m")
        #expect(bad.code == 32 && bad.lines[0].contains("the piece at 200000"), "\(bad)")
        let sums = try bench.run("/usr/bin/sha256sum", ["--tag", "a"])
        let url = bench.origin.serve("/SUMS", Payload(Array((sums.lines[0] + "\n").utf8)))
        #expect(try bench.pawl("verify", "a", "--sums", url).code == 0)
    }

    @Test func `secrets in the URL of what files are compared with are not shown`() throws {
        let bench = try IntegrityBench()
        try bench.write("a", Self.content)
        let digest = try bench.sum("sha256sum", of: "a")
        bench.origin.serve("/m", Payload(text: "\(digest)  a\n"))
        let url = bench.origin.url("/m").replacing("://", with: "://user:hidden@") + "?key=hidden"
        for (arguments, code) in [
            (["verify", "a", "--sums", url], Int32(0)), (["verify", "--json", "a", "--sums", url], 0),
            (["verify", "b", "--sums", url], 3), (["verify", "a", "--metalink", url], 28),
            (["repair", "a", "--metalink", url], 28), (["repair", "a", "--zsync", url], 28),
            (["get", "--zsync", url], 28), (["get", "--metalink", url], 15), (["get", "-i", url], 15),
            (["verify", "a", "a", "--from", url], 28),
        ] {
            let run = try bench.run(PawlBinary.path, arguments)
            #expect(run.code == code, "\(arguments): \(run)")
            #expect(!run.description.contains("hidden"), "\(arguments): \(run)")
        }
    }

    @Test func `what the origin's sums files say, with pages for every other name`() throws {
        let bench = try IntegrityBench()
        try bench.write("a", Self.content)
        let digest = try bench.sum("sha256sum", of: "a")
        bench.origin.serve("/d/a", Payload(Self.content))
        bench.origin.serve("/d/b", Payload(Self.content))
        bench.origin.serve("/d/SHA256SUMS", Payload(text: "\(digest)  ./a\n\(digest)  ../b\n"))
        bench.origin.serve("/d/a.sha512", Payload(text: "<html>no such file</html>"))
        let right = try bench.pawl("verify", "a", "--from", bench.origin.url("/d/a"))
        #expect(right.code == 0, "\(right)")
        #expect(right.lines[0].hasPrefix("a: OK, sha-256 (http://") && right.lines[0].hasSuffix("/d/SHA256SUMS)"))
        try bench.write("b", Self.content)
        let both = try bench.pawl("verify", "a", "b", "--from", bench.origin.url("/d/"))
        #expect(both.code == 3, "a path out of the folder names nothing: \(both)")
        bench.origin.serve("/d/a.sha256", Payload(text: String(repeating: "0", count: 64)))
        #expect(try bench.pawl("verify", "a", "--from", bench.origin.url("/d/a")).code == 32)
    }

    @Test func `a file that the origin does not have says nothing of the others`() throws {
        let bench = try IntegrityBench()
        for name in ["a", "b", "c"] { try bench.write(name, Self.content) }
        let digest = try bench.sum("sha256sum", of: "a")
        for name in ["a", "c"] { bench.origin.serve("/d/" + name, Payload(Self.content)) }
        bench.origin.serve("/d/SHA256SUMS", Payload(text: "\(digest)  a\n\(digest)  b\n\(digest)  c\n"))
        try bench.write("a", [1])
        let run = try bench.pawl("verify", "a", "b", "c", "--from", bench.origin.url("/d/"))
        #expect(run.code == 32 && run.lines.count == 3, "\(run)")
        #expect(run.lines[0].hasPrefix("a: FAILED, expected sha-256"), "\(run)")
        #expect(run.lines[1].hasPrefix("b: FAILED, cannot fetch") && run.lines[1].contains("404"), "\(run)")
        #expect(run.lines[2].hasPrefix("c: OK"), "\(run)")
        let missing = try bench.pawl("verify", "b", "c", "--from", bench.origin.url("/d/"))
        #expect(missing.code == 3, "\(missing)")
        let unstated = bench.origin.serve("/e/b", Payload(Self.content))
        let plain = try bench.pawl("verify", "b", "--from", unstated)
        #expect(plain.code == 3 && plain.lines[0].contains("states a digest of it"), "\(plain)")
    }

    @Test func `what the fields of the origin's response state`() throws {
        let bench = try IntegrityBench()
        try bench.write("a", Self.content)
        let digest = try bench.sum("md5sum", of: "a")
        let url = bench.origin.serve("/a", Payload(Self.content)) { $0.add(header: "X-Checksum-Md5: \(digest)") }
        let right = try bench.pawl("verify", "a", "--from", url)
        #expect(right.code == 0 && right.lines[0].contains("x-checksum-md5"), "\(right)")
        let again = try bench.pawl("verify", "a", "--from", url + "?id=1")
        #expect(again.code == 0 && bench.origin.log.records.last?.request.target.hasSuffix("/a?id=1") == true)
        try bench.write("a", [1])
        #expect(try bench.pawl("verify", "a", "--from", url).code == 32)
    }
}
