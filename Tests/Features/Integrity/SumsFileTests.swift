import Testing

@testable import PawlBase
@testable import PawlIntegrity

@Suite struct `Sums files` {
    private static let a = String(repeating: "a1", count: 32)
    private static let b = String(repeating: "B2", count: 32)

    /// The digests of `name` as `TYPE=HEX`, joined by spaces.
    private static func found(_ text: String, _ name: String, isOwn: Bool = false) -> String? {
        SumsFile(Array(text.utf8))?.checksums(of: name.utf8, isOwn: isOwn).map(\.text).joined(separator: " ")
    }

    @Test(arguments: [
        "\(a)  f.iso\n", "\(a) *f.iso", "\(a) f.iso", "\(a)\tf.iso", "\(a)  ./f.iso\r\n", "\(b)  g\n\(a)  f.iso\n",
        "SHA256 (f.iso) = \(a)\n", "SHA256(f.iso)= \(a)", "SHA2-256(./f.iso)= \(a)", "\u{FEFF}\(a)  f.iso",
        "# comment\n\(a)  f.iso", "\(a)  images/f.iso\n", "\(b)  other/f.iso\n\(a)  f.iso\n",
        "\(b)  ../f.iso\n\(a)  d/f.iso\n", "\(b)  /f.iso\n\(a)  f.iso\n", "\(b)  F.ISO\n\(a)  f.iso",
        "\(a)  f.iso\n\(a)  ./f.iso\n",
        "-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\n\(a)  f.iso\n-----BEGIN PGP SIGNATURE-----\n\niQ\n-----END PGP SIGNATURE-----\n",
        "-----BEGIN PGP SIGNED MESSAGE-----\r\n\r\n# x\r\n- \(a)  f.iso\r\n-----BEGIN PGP SIGNATURE-----\r\nx\r\n-----END PGP SIGNATURE-----\r\n\(b)  f.iso",
    ]) func `the entry that names the file counts`(text: String) {
        #expect(Self.found(text, "f.iso") == "sha-256=\(Self.a)")
    }

    @Test(arguments: [
        "", "\(a)", "\(a)  g.iso", "\(a)  ../f.iso", "\(a)  /f.iso", "\(a)  d/../f.iso", "\(a)  F.ISO", "\(a)  f.iso ",
        "\(a)  f.iso\n\(b)  f.iso\n0123456789abcdef0123456789abcdef  f.iso", "\(a)  d/f.iso\n\(b)  e/f.iso",
        "\(a)  f.iso\n\(b)  ./f.iso", "<html>\n\(a)  f.iso\n", "\n <!doctype html>\n\(a)  f.iso", "\(a)x  f.iso",
        "\(a.dropLast())  f.iso", "SHA1 (f.iso) = \(a)", "BLAKE3 (f.iso) = \(a)", "\(a)  d//f.iso",
        "-----BEGIN PGP SIGNED MESSAGE-----\n\n-----BEGIN PGP SIGNATURE-----\nx\n-----END PGP SIGNATURE-----\n\(a)  f.iso",
        "-----BEGIN PGP SIGNED MESSAGE-----\n\n\(a)  f.iso",
    ]) func `what names another file does not count`(text: String) { #expect((Self.found(text, "f.iso") ?? "") == "") }

    @Test func `escaped names are read as coreutils writes them`() {
        #expect(Self.found("\\\(Self.a)  a\\\\b\\nc\n", "a\\b\nc") == "sha-256=\(Self.a)")
        #expect(Self.found("\\SHA256 (a\\\\b) = \(Self.a)\n", "a\\b") == "sha-256=\(Self.a)")
        #expect(Self.found("\(Self.a)  a\\\\b", "a\\b") == "")
    }

    @Test func `a digest without a name is that of the file whose own sums file it is`() {
        #expect(Self.found("\(Self.a)\n", "f", isOwn: true) == "sha-256=\(Self.a)")
        #expect(Self.found("\(Self.a)  -\n", "f", isOwn: true) == "sha-256=\(Self.a)")
        #expect(Self.found("\(Self.a)\n\(Self.b)\n", "f", isOwn: true) == nil)
        #expect(Self.found("\(Self.a)  g\n", "f", isOwn: true) == "")
        #expect(Self.found("\(Self.a)\n", "f", isOwn: false) == "")
    }

    @Test(arguments: [
        ("SHA512SUMS", "sha-512"), ("sha512sum.txt", "sha-512"), ("f.b2.sha512", "sha-512"),
        ("blake3-1.5.tar.gz.sha512sum", "sha-512"), ("B2SUMS", "blake2b"), ("b2sums.txt", "blake2b"),
        ("f.iso.b2", "blake2b"), ("f.blake2b", "blake2b"), ("f.sha512.B2SUM", "blake2b"), ("B3SUMS", nil),
        ("SHA3-512SUMS", "sha3-512"), ("f.sha3512", "sha3-512"), ("WHIRLPOOL.txt", nil),
    ]) func `the sums file's name decides which algorithm untagged digits are of`(name: String, algorithm: String?) {
        let hex = String(repeating: "a1", count: 64)
        let sums = SumsFile(Array("\(hex)  f\n".utf8), named: name.utf8)
        #expect(sums?.checksums(of: "f".utf8, isOwn: false).map(\.text) == algorithm.map { ["\($0)=\(hex)"] })
        let tagged = SumsFile(Array("SHA512 (f) = \(hex)\n".utf8), named: name.utf8)
        #expect(tagged?.checksums(of: "f".utf8, isOwn: false).map(\.text) == ["sha-512=\(hex)"])
    }

    @Test(arguments: ["SHA512-224SUMS", "b3sums", "f.blake3", "B2SUMS"])
    func `64 digits of another algorithm than SHA-256 do not count`(name: String) {
        #expect(SumsFile(Array("\(Self.a)  f\n".utf8), named: name.utf8) == nil)
    }

    @Test func `digits may be of any algorithm of that length where nothing tells which`() throws {
        let hex = String(repeating: "a1", count: 64)
        func others(_ line: String, in name: String) throws -> String {
            let sums = try #require(SumsFile(Array(line.utf8), named: name.utf8))
            let found = sums.alternatives(to: sums.checksums(of: "f".utf8, isOwn: true)[0])
            return found.map(\.algorithm.rawValue).joined(separator: " ")
        }
        #expect(try others("\(hex)  f", in: "CHECKSUM") == "blake2b sha3-512")
        #expect(try others(hex, in: "f.txt") == "blake2b sha3-512")
        #expect(try others("SHA512 (f) = \(hex)", in: "CHECKSUM") == "")
        #expect(try others("\(hex)  f", in: "SHA512SUMS") == "")
        #expect(try others("\(Self.a)  f", in: "CHECKSUM") == "sha3-256 sha-512-256 blake2s sm3")
        #expect(try others("\(Self.a)  f", in: "SHA256SUMS") == "")
        #expect(try others(String(repeating: "a", count: 32) + "  f", in: "CHECKSUM") == "")
    }

    /// As `cksum -a sha256 --base64` of coreutils 9.2 and later writes them.
    @Test(arguments: [
        "SHA256 (f.iso) = oaGhoaGhoaGhoaGhoaGhoaGhoaGhoaGhoaGhoaGhoaE=\n",
        "oaGhoaGhoaGhoaGhoaGhoaGhoaGhoaGhoaGhoaGhoaE=  f.iso\n",
        "\\SHA256 (f.iso) = oaGhoaGhoaGhoaGhoaGhoaGhoaGhoaGhoaGhoaGhoaE=",
    ]) func `digests in Base64 are read`(text: String) { #expect(Self.found(text, "f.iso") == "sha-256=\(Self.a)") }

    @Test(arguments: [
        "oaGhoaE=  f.iso", "SHA256 (f.iso) = oaGhoaE=", "oaGhoaGhoaGhoaGhoaGhoaGhoaGhoaGhoaGhoaGhoaE= f.isx",
    ]) func `other text in Base64 is no digest`(text: String) { #expect((Self.found(text, "f.iso") ?? "") == "") }

    @Test func `lines of POSIX cksum are recognized`() {
        #expect(SumsFile.hasPOSIXChecksums(Array("3015617425 6 f\n".utf8)))
        #expect(SumsFile.hasPOSIXChecksums(Array("x\n4294967295 0 a b\n".utf8)))
        #expect(!SumsFile.hasPOSIXChecksums(Array("\(Self.a)  f\n1 2\n".utf8)))
    }

    @Test(arguments: ["f.iso A1A1A1A1", "; made by a1a1a1a1\r\nf.iso\ta1a1a1a1\r\n", "g a1a1a1a2\nf.iso a1a1a1a1  "])
    func `an SFV file has the name first`(text: String) {
        let sums = SumsFile(Array(text.utf8), named: "x.sfv".utf8)
        #expect(sums?.checksums(of: "f.iso".utf8, isOwn: false).map(\.text) == ["crc32=a1a1a1a1"])
        #expect(SumsFile(Array(text.utf8), named: "x.txt".utf8) == nil)
    }

    @Test(arguments: ["/srv/x/f.iso", "../f.iso", "a/../f.iso", "x//f.iso"])
    func `an entry that leads out of the folder is kept apart`(name: String) {
        let sums = SumsFile(Array("\(Self.a)  \(name)\n".utf8))
        #expect(sums?.outside.count == 1 && sums?.entries.isEmpty == true)
        #expect(sums?.checksums(of: "f.iso".utf8, isOwn: true) == [])
    }

    @Test func `one of each algorithm counts`() {
        let md5 = String(repeating: "0f", count: 16)
        #expect(Self.found("\(Self.a)  f\n\(md5)  f\n", "f") == "sha-256=\(Self.a) md5=\(md5)")
    }

    @Test func `of a file above the limit nothing counts`() {
        let line = "\(Self.a)  f\n"
        let rest = String(repeating: "#", count: SumsFile.longest - line.utf8.count)
        #expect(Self.found(line + rest, "f") == "sha-256=\(Self.a)")
        #expect(Self.found(line + rest + "#", "f") == nil)
    }
}
