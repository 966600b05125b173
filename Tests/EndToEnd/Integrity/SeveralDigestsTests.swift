import Glibc
import PawlBase
import PawlIntegrity
import PawlTestKit
import Testing

/// Sources that state several digests of one content: all of them count.
@Suite(.ownThreads) struct SeveralDigestsTests {
    private static let content = Payload(seed: 186, length: 600_000).bytes(in: ByteRange(0, 600_000))
    private static let md5 = Hexadecimal.text(MessageDigest5.digest(content))
    private static let wrong = String(repeating: "0", count: 32)
    private static let wrongSHA1 = String(repeating: "0", count: 40)

    /// A file `f` with the content at the origin, and `m`, a Metalink with these digests and without pieces.
    private func bench(md5: String = md5, sha1: String) throws -> (IntegrityBench, String) {
        let bench = try IntegrityBench()
        let url = bench.origin.serve("/f", Payload(Self.content))
        let text = """
            <metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="f"><size>\(Self.content.count)</size>
            <hash type="md5">\(md5)</hash><hash type="sha-1">\(sha1)</hash><url>\(url)</url></file></metalink>
            """
        try bench.write("m", Array(text.utf8))
        return (bench, url)
    }

    private func rightSHA1() throws -> String {
        let bench = try IntegrityBench()
        try bench.write("f", Self.content)
        return try bench.sum("sha1sum", of: "f")
    }

    @Test(arguments: [["get", "--metalink", "m"], ["aria2c", "-M", "m"]])
    func `a Metalink's weaker digest that is wrong keeps the file from its name`(command: [String]) throws {
        let sha1 = try rightSHA1()
        let (bench, _) = try bench(md5: Self.wrong, sha1: sha1)
        let run = try bench.run(PawlBinary.path, command)
        #expect(run.code == 32, "\(run)")
        #expect(bench.contents("f") == nil)
        #expect(command[0] != "get" || run.errors.contains(Self.wrong), "\(run)")
        let (other, _) = try self.bench(sha1: sha1)
        let right = try other.run(PawlBinary.path, command)
        #expect(right.code == 0 && other.contents("f") == Self.content, "\(right)")
    }

    @Test func `aria2c compares an existing file with all digests of a Metalink`() throws {
        let sha1 = try rightSHA1()
        for (md5, code) in [(Self.md5, Int32(0)), (Self.wrong, 1)] {
            let (bench, _) = try bench(md5: md5, sha1: sha1)
            try bench.write("f", Self.content)
            let run = try bench.pawl("aria2c", "-V", "--hash-check-only=true", "-M", "m")
            #expect(run.code == code, "\(run)")
            #expect(bench.origin.log.of("/f").isEmpty)
        }
    }

    @Test func `each --checksum counts, on the command line and below a URL`() throws {
        let (bench, url) = try bench(sha1: Self.wrongSHA1)
        let (right, wrong) = ("md5=\(Self.md5)", "sha-1=\(Self.wrongSHA1)")
        for (first, second) in [(right, wrong), (wrong, right)] {
            let run = try bench.pawl("get", url, "--checksum", first, "--checksum", second, "--retry-corrupt")
            #expect(run.code == 32 && bench.contents("f") == nil, "\(run)")
            try bench.write("list", Array("\(url)\n checksum=\(first)\n checksum=\(second)\n".utf8))
            let list = try bench.pawl("get", "-i", "list", "--retry-corrupt")
            #expect(list.code == 32 && bench.contents("f") == nil, "\(list)")
        }
        let contradicting = try bench.pawl("get", url, "--checksum", right, "--checksum", "md5=\(Self.wrong)")
        #expect(contradicting.code == 28, "\(contradicting)")
        let sha1 = try rightSHA1()
        let run = try bench.pawl("get", url, "--checksum", right, "--checksum", "sha-1=\(sha1)", "--retry-corrupt")
        #expect(run.code == 0 && bench.contents("f") == Self.content, "\(run)")
        for (checksum, code) in [("sha-1=\(sha1)", Int32(0)), (wrong, 32)] {
            let verified = try bench.pawl("verify", "f", "--checksum", checksum, "--checksum", right)
            #expect(verified.code == code, "\(verified)")
        }
    }

    @Test func `a range has to have all given checksums`() throws {
        let (bench, url) = try bench(sha1: Self.wrongSHA1)
        let part = Hexadecimal.text(MessageDigest5.digest(Array(Self.content[1_000..<2_000])))
        let run = try bench.pawl(
            "get", url, "--range", "1000-1999", "--checksum", "md5=\(part)", "--checksum", "sha-1=\(Self.wrongSHA1)")
        #expect(run.code == 32 && bench.contents("f") == nil, "\(run)")
    }

    @Test func `a repair checks all digests of a Metalink, also those of a file whose pieces are right`() throws {
        let bench = try IntegrityBench()
        let url = bench.origin.serve("/x", Payload(Self.content))
        let text = try bench.metalink("f", Self.content, piece: 64 << 10, sources: [url], hasWhole: true)
        let whole = "<hash type=\"md5\">\(Self.md5)</hash>"
        let contradicting = text.replacing(whole, with: "\(whole)<hash type=\"sha-1\">\(Self.wrongSHA1)</hash>")
        try bench.write("m", Array(contradicting.utf8))
        try bench.write("f", Self.content)
        let right = try bench.pawl("repair", "f", "--metalink", "m")
        #expect(right.code == 32 && right.errors.contains("all of its pieces are right"), "\(right)")
        var damaged = Self.content
        damaged[300_000] ^= 1
        try bench.write("f", damaged)
        let run = try bench.pawl("repair", "f", "--metalink", "m")
        #expect(run.code == 32 && bench.contents("f") == damaged, "\(run)")
    }

    @Test func `every sums file beside the content counts for verify --from`() throws {
        let bench = try IntegrityBench()
        try bench.write("f", Self.content)
        let url = bench.origin.serve("/f", Payload(Self.content))
        let sha256 = try bench.sum("sha256sum", of: "f")
        _ = bench.origin.serve("/f.sha256", Payload(Array("\(sha256)  f\n".utf8)))
        _ = bench.origin.serve("/MD5SUMS", Payload(Array("\(Self.md5)  f\n".utf8)))
        let right = try bench.pawl("verify", "f", "--from", url)
        #expect(right.code == 0 && right.lines.first?.contains("sha-256") == true, "\(right)")
        _ = bench.origin.serve("/MD5SUMS", Payload(Array("\(Self.wrong)  f\n".utf8)))
        let wrong = try bench.pawl("verify", "f", "--from", url)
        #expect(wrong.code == 32 && wrong.lines.first?.contains("MD5SUMS") == true, "\(wrong)")
    }

    @Test func `what is stated of a coded response proves nothing of a file that may be decoded`() throws {
        let bench = try IntegrityBench()
        try bench.write("f", Self.content)
        let url = bench.origin.serve("/f", Payload([0x1F, 0x8B, 8])) {
            $0.add(header: "Content-Encoding: gzip")
            $0.add(header: "X-Checksum-Md5: \(Self.wrong)")
        }
        #expect(try bench.pawl("verify", "f", "--from", url).code == 3)
        _ = bench.origin.serve("/f.md5", Payload(Array("\(Self.md5)  f\n".utf8)))
        let run = try bench.pawl("verify", "f", "--from", url)
        #expect(run.code == 0, "\(run)")
    }
}
