import Testing

@testable import PawlCore

@Suite struct `Sums files` {
    private static let a = String(repeating: "a1", count: 32)
    private static let b = String(repeating: "B2", count: 32)

    /// The digests of `name` as `TYPE=HEX`, joined by spaces.
    private static func found(_ text: String, _ name: String, isOwn: Bool = false) -> String? {
        SumsFile(Array(text.utf8))?.checksums(of: name.utf8, isOwn: isOwn).map(\.text).joined(separator: " ")
    }

    @Test(arguments: [
        "\(a)  f.iso\n", "\(a) *f.iso", "\(a) f.iso", "\(a)\tf.iso", "\(a)  ./f.iso\r\n",
        "\(b)  g\n\(a)  f.iso\n",
        "SHA256 (f.iso) = \(a)\n", "SHA256(f.iso)= \(a)", "SHA2-256(./f.iso)= \(a)", "\u{FEFF}\(a)  f.iso",
        "# comment\n\(a)  f.iso", "\(a)  images/f.iso\n", "\(b)  other/f.iso\n\(a)  f.iso\n",
        "\(b)  ../f.iso\n\(a)  d/f.iso\n", "\(b)  /f.iso\n\(a)  f.iso\n", "\(b)  F.ISO\n\(a)  f.iso",
        "\(a)  f.iso\n\(a)  ./f.iso\n",
        "-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\n\(a)  f.iso\n-----BEGIN PGP SIGNATURE-----\n\niQ\n-----END PGP SIGNATURE-----\n",
        "-----BEGIN PGP SIGNED MESSAGE-----\r\n\r\n# x\r\n- \(a)  f.iso\r\n-----BEGIN PGP SIGNATURE-----\r\nx\r\n-----END PGP SIGNATURE-----\r\n\(b)  f.iso",
    ])
    func `the entry that names the file counts`(text: String) {
        #expect(Self.found(text, "f.iso") == "sha-256=\(Self.a)")
    }

    @Test(arguments: [
        "", "\(a)", "\(a)  g.iso", "\(a)  ../f.iso", "\(a)  /f.iso", "\(a)  d/../f.iso", "\(a)  F.ISO",
        "\(a)  f.iso ",
        "\(a)  f.iso\n\(b)  f.iso\n0123456789abcdef0123456789abcdef  f.iso",
        "\(a)  d/f.iso\n\(b)  e/f.iso", "\(a)  f.iso\n\(b)  ./f.iso", "<html>\n\(a)  f.iso\n",
        "\n <!doctype html>\n\(a)  f.iso",
        "\(a)x  f.iso", "\(a.dropLast())  f.iso", "SHA1 (f.iso) = \(a)", "SHA3-256 (f.iso) = \(a)",
        "\(a)  d//f.iso",
        "-----BEGIN PGP SIGNED MESSAGE-----\n\n-----BEGIN PGP SIGNATURE-----\nx\n-----END PGP SIGNATURE-----\n\(a)  f.iso",
        "-----BEGIN PGP SIGNED MESSAGE-----\n\n\(a)  f.iso",
    ])
    func `what names another file does not count`(text: String) {
        #expect((Self.found(text, "f.iso") ?? "") == "")
    }

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
