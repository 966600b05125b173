import PawlIntegrity
import PawlTestKit
import Testing

/// Sums files beside the content, by honest and hostile origins.
@Suite(.ownThreads) struct OriginSumsTests {
    typealias Case = OriginFieldTests.Case

    private static func sums(
        _ name: String, _ outcome: String, at path: String = "/d/SHA256SUMS",
        _ text: @escaping @Sendable (OriginStage) -> String
    ) -> Case {
        Case(name, outcome, "--verify", "sidecar") {
            $0.serve()
            $0.put(path, text($0))
        }
    }

    private static let texts: [Case] = [
        sums("own, bare", "sidecar", at: "/d/f.iso.sha256") { $0.right.hex + "\n" },
        sums("own, named", "sidecar", at: "/d/f.iso.sha256sum") { "\($0.right.hex)  f.iso\n" },
        sums("own, of another file", "none", at: "/d/f.iso.sha256") { "\($0.wrong.hex)  g.iso\n" },
        sums("own, SHA-512", "sidecar", at: "/d/f.iso.sha512") { $0.right.hex5 },
        sums("own, MD5", "sidecar", at: "/d/f.iso.md5") { "MD5 (f.iso) = \($0.right.hexMD5)\n" },
        sums("own, wrong", "32", at: "/d/f.iso.sha256") { $0.wrong.hex },
        sums("GNU, text", "sidecar") { "\($0.wrong.hex)  g.iso\n\($0.right.hex)  f.iso\n" },
        sums("GNU, binary, CRLF, BOM", "sidecar") { "\u{FEFF}\($0.right.hex) *./f.iso\r\n" },
        sums("GNU, upper case", "sidecar") { "\($0.right.hex.uppercased())  f.iso\n" },
        sums("BSD", "sidecar", at: "/d/CHECKSUM") { "# f.iso: 300000 bytes\nSHA256 (f.iso) = \($0.right.hex)\n" },
        sums("SHA512SUMS", "sidecar", at: "/d/SHA512SUMS") { "\($0.right.hex5)  f.iso\n" },
        sums("MD5SUMS, wrong", "32", at: "/d/MD5SUMS") { "\($0.wrong.hexMD5)  f.iso\n" },
        sums("wrong", "32") { "\($0.wrong.hex)  f.iso\n" },
        sums("of another file", "none") { "\($0.wrong.hex)  g.iso\n\($0.wrong.hex)  f.iso.sig\n" },
        sums("parent folder", "none") { "\($0.wrong.hex)  ../f.iso\n" },
        sums("absolute", "none") { "\($0.wrong.hex)  /d/f.iso\n" },
        sums("upwards inside", "none") { "\($0.wrong.hex)  d/../f.iso\n" },
        sums("another case", "none") { "\($0.wrong.hex)  F.ISO\n\($0.wrong.hex)  f.ISO\n" },
        sums("percent-encoded", "none") { "\($0.wrong.hex)  f%2Eiso\n" },
        sums("in a folder", "sidecar") { "\($0.right.hex)  images/f.iso\n" },
        sums("in two folders", "none") { "\($0.right.hex)  a/f.iso\n\($0.wrong.hex)  b/f.iso\n" },
        sums("own folder and another", "sidecar") { "\($0.wrong.hex)  b/f.iso\n\($0.right.hex)  f.iso\n" },
        sums("twice, contradicting", "none") { "\($0.wrong.hex)  f.iso\n\($0.right.hex)  f.iso\n" },
        sums("clear-signed, no key", "sidecar") {
            "-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\n\($0.right.hex)  f.iso\n"
                + "-----BEGIN PGP SIGNATURE-----\n\nAA==\n-----END PGP SIGNATURE-----\n"
        },
        sums("outside of the signed text", "none") {
            "\($0.wrong.hex)  f.iso\n-----BEGIN PGP SIGNED MESSAGE-----\n\n\($0.wrong.hex)  g.iso\n"
                + "-----BEGIN PGP SIGNATURE-----\n\nAA==\n-----END PGP SIGNATURE-----\n\($0.wrong.hex)  f.iso\n"
        }, sums("HTML as text", "none") { "\n<html><pre>\n\($0.wrong.hex)  f.iso\n</pre></html>" },
        sums("too long", "none") { "\($0.wrong.hex)  f.iso\n" + String(repeating: "#", count: SumsFile.longest) },
    ]

    private static func broken(
        _ name: String, _ outcome: String = "none", _ arguments: String...,
        adjust: @escaping @Sendable (OriginStage, inout Behaviour) -> Void
    ) -> Case {
        Case(name, outcome, "--verify", "sidecar", "--timeout", "2") { stage in
            stage.serve()
            stage.put("/d/SHA256SUMS", "\(stage.wrong.hex)  f.iso\n") { adjust(stage, &$0) }
        }
    }

    private static let served: [Case] = [
        broken("HTML by its type") { $1.contentType = "text/html; charset=utf-8" },
        broken("cut") { $1.cut = .close(from: 70) }, broken("reset") { $1.cut = .reset(from: 70) },
        broken("garbage") { $1.garbage = Array("SSH-2.0-none\r\n".utf8) },
        broken("server error") { $1.instead = .status(500) }, broken("refused") { $1.instead = .status(403) },
        broken("silent") { $1.delay = .untilReleased }, broken("stalls") { $1.cut = .stall(from: 10) },
        broken("redirects to itself") { $1.instead = .redirect(to: $0.bench.origin.url("/d/SHA256SUMS")) },
        Case("redirect on the host", "sidecar", "--verify", "sidecar") { stage in
            stage.serve()
            stage.put("/sums", "\(stage.right.hex)  f.iso\n")
            _ = stage.bench.origin.redirect("/d/SHA256SUMS", to: "/sums")
        },
        Case("the content for each name", "none", "--verify", "sidecar") { stage in
            stage.serve()
            for path in OriginStage.sidecars { stage.serve(at: path) }
        },
        Case("a page for each name", "none", "--verify", "sidecar") { stage in
            stage.serve()
            for path in OriginStage.sidecars { stage.put(path, "") { $0.instead = .loginPage } }
        },
        Case("a page for each name, required", "32", "--verify", "required") { stage in
            stage.serve()
            for path in OriginStage.sidecars { stage.put(path, "") { $0.instead = .loginPage } }
        },
        Case("coded without a request for it", "sidecar", "--verify", "required") { stage in
            stage.serve()
            stage.put("/d/SHA256SUMS", "\(stage.right.hex)  f.iso\n") { $0.coding = .gzip }
        },
        Case("two GiB", "none", "--verify", "sidecar") { stage in
            stage.serve()
            let line = "\(stage.wrong.hex)  f.iso\n"
            stage.bench.origin.serve("/d/SHA256SUMS", Payload(repeating: line, length: 2 << 30))
        },
        Case("endless", "none", "--verify", "sidecar") { stage in
            stage.serve()
            for path in OriginStage.sidecars {
                let line = "\(stage.wrong.hex)  f.iso\n"
                stage.bench.origin.serve(path, Payload(repeating: line, length: 1 << 50)) { $0.framing = .chunked }
            }
        },
        Case("endless lines", "none", "--verify", "sidecar") { stage in
            stage.serve()
            for path in OriginStage.sidecars {
                stage.bench.origin.serve(path, Payload(repeating: "a", length: 1 << 50)) { $0.framing = .untilClose }
            }
        },
        Case("dripping", "none", "--verify", "sidecar", "--timeout", "2") { stage in
            stage.serve()
            for path in OriginStage.sidecars {
                let line = "\(stage.wrong.hex)  f.iso\n"
                stage.bench.origin.serve(path, Payload(repeating: line, length: 1 << 50)) {
                    $0.framing = .chunked
                    $0.pace = 200
                }
            }
        },
        Case("a byte for each connection", "none", "--verify", "sidecar", "--timeout", "2") { stage in
            stage.serve()
            for path in OriginStage.sidecars {
                let line = "\(stage.wrong.hex)  f.iso\n"
                stage.bench.origin.serve(path, Payload(repeating: line, length: 1 << 20)) { $0.cut = .close(after: 1) }
            }
        },
    ]

    @Test(arguments: texts + served) func `sums files decide as they must`(next: Case) throws {
        let stage = try OriginStage()
        next.set(stage)
        #expect(try stage.get(next.arguments) == next.outcome)
        for path in OriginStage.sidecars {
            #expect(stage.sent(of: path) <= OriginStage.most, "more than a sums file may have: \(path)")
        }
    }

    @Test func `a sums file on another host is none`() throws {
        let stage = try OriginStage()
        let other = try OriginServer()
        defer { other.stop() }
        stage.serve()
        let sums = other.serve("/s", Payload(text: "\(stage.wrong.hex)  f.iso\n"))
        _ = stage.bench.origin.redirect("/d/SHA256SUMS", to: sums.replacing("127.0.0.1", with: "localhost"))
        #expect(try stage.get(["--verify", "sidecar"]) == "none")
    }

    @Test func `the query that the content needs is tried for its sums file`() throws {
        let stage = try OriginStage()
        stage.serve()
        stage.put("/d/f.iso.sha256", stage.right.hex)
        stage.bench.origin.vary("/d/f.iso.sha256") { facts, behaviour in
            if facts.request.target.contains("token=1") { return }
            behaviour.instead = .status(403)
        }
        #expect(try stage.get(["--verify", "required"], of: stage.url + "?token=1") == "sidecar")
    }

    @Test func `the name in the URL is the one that counts`() throws {
        let stage = try OriginStage()
        let url = stage.serve(at: "/d/a%20b%2Bc.iso")
        stage.put("/d/SHA256SUMS", "\(stage.right.hex)  a b+c.iso\n\(stage.wrong.hex)  f.iso\n")
        #expect(try stage.get(["--verify", "required", "-o", "f.iso"], of: url) == "sidecar")
    }

    @Test func `the sums files of a folder are requested once for its files`() throws {
        let stage = try OriginStage()
        let urls = (0..<3).map { stage.serve(at: "/d/\($0)") }
        stage.put("/d/SHA256SUMS", (0..<3).map { "\(stage.right.hex)  \($0)\n" }.joined())
        let outcome = try stage.bench.bench.get(urls + ["--verify", "required"])
        #expect(outcome.code == 0, "\(outcome)")
        #expect(stage.bench.origin.log.of("/d/SHA256SUMS").count == 1)
    }
}
