import PawlIntegrity
import PawlTestKit
import Testing

/// What a response links to (RFC 6249): the Metalink that describes it, and duplicates.
@Suite(.ownThreads) struct OriginLinkTests {
    private static func metalink(_ name: String, _ hex: String, _ url: String) -> String {
        """
        <?xml version="1.0"?><metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="\(name)">
        <hash type="sha-256">\(hex)</hash><url>\(url)</url></file></metalink>
        """
    }

    private static let type = "type=\"application/metalink4+xml\""

    typealias Case = OriginFieldTests.Case

    private static func linked(
        _ name: String, _ outcome: String, _ arguments: String..., link: String = "</d/m>; rel=describedby; \(type)",
        file: String = "f.iso", isRight: Bool = true, adjust: @escaping @Sendable (inout Behaviour) -> Void = { _ in }
    ) -> Case {
        Case(name, outcome, arguments) { stage in
            stage.serve("Link: \(link)")
            let digest = isRight ? stage.right : stage.wrong
            let text = metalink(file, digest.hex, stage.url)
            stage.put("/d/m", text, adjust)
            stage.put("/d/f.iso.meta4", text, adjust)
        }
    }

    private static let cases = [
        linked("right", "origin"), linked("right, required", "origin", "--verify", "required"),
        linked("relative, by its name", "origin", link: "<f.iso.meta4>; rel=\"describedby\""),
        linked("among others", "origin", link: "</x>; rel=next, </d/m>;rel=\"describedby license\";\(type);pri=1"),
        linked("wrong", "32", isRight: false),
        Case("wrong, in a Metalink that has torrents only", "32") { stage in
            stage.serve("Link: </d/m>; rel=describedby; \(type)")
            stage.put("/d/m", metalink("f.iso", stage.wrong.hex, "magnet:?xt=1"))
        }, linked("wrong, off", "none", "--verify", "off", isRight: false),
        linked("of another file", "none", file: "g.iso", isRight: false),
        linked("of the name in another case", "none", file: "F.ISO", isRight: false),
        linked("a path upwards", "none", file: "../f.iso", isRight: false),
        linked("a page", "none", link: "</d/m>; rel=describedby; type=\"text/html\"", isRight: false),
        linked("another relation", "none", link: "</d/m>; rel=item; \(type)", isRight: false),
        linked("missing", "none", isRight: false) { $0.instead = .status(404) },
        linked("a page for it", "none", isRight: false) { $0.instead = .loginPage },
        linked("silent", "none", "--timeout", "1", isRight: false) { $0.delay = .untilReleased },
        linked("coded", "origin") { $0.coding = .gzip },
        Case("endless", "none") { stage in
            stage.serve("Link: </d/m>; rel=describedby; \(type)")
            let line = "<metalink><file name=\"f.iso\"><hash type=\"sha-256\">\(stage.wrong.hex)</hash>"
            stage.bench.origin.serve("/d/m", Payload(repeating: line, length: 1 << 50)) { $0.framing = .chunked }
        },
    ]

    @Test(arguments: cases) func `the Metalink that a response links to counts as the origin's word`(next: Case) throws
    {
        let stage = try OriginStage()
        next.set(stage)
        #expect(try stage.get(next.arguments) == next.outcome)
        #expect(stage.sent(of: "/d/m") <= OriginStage.most)
    }

    @Test func `a description on another host is not requested`() throws {
        let stage = try OriginStage()
        let other = try OriginServer()
        defer { other.stop() }
        let url = other.serve("/m", Payload(text: Self.metalink("f.iso", stage.wrong.hex, stage.url))).replacing(
            "127.0.0.1", with: "localhost")
        stage.serve("Link: <\(url)>; rel=describedby; \(Self.type)")
        #expect(try stage.get([]) == "none")
        #expect(other.log.of("/m").isEmpty)
    }

    /// How the content's own address fails, and what its digest is.
    @Test(arguments: ["wrong bytes", "gone", "wrong bytes, described", "without a digest", "with a weak digest"])
    func `a duplicate is used when the content's address fails`(kind: String) throws {
        let stage = try OriginStage(length: 3_000_000)
        var bad = stage.content
        bad[2_000_000] ^= 1
        let duplicate = stage.serve(at: "/copy/f.iso")
        let isGone = !kind.hasPrefix("wrong")
        _ = stage.bench.origin.serve("/d/f.iso", isGone ? stage.payload : Payload(bad)) { behaviour in
            switch kind {
            case "without a digest": break
            case "with a weak digest": behaviour.add(header: "Content-MD5: \(stage.right.md)")
            case "wrong bytes, described": behaviour.add(header: "Link: <m>; rel=describedby; \(Self.type)")
            default: behaviour.add(header: "Repr-Digest: sha-256=:\(stage.right.sha):")
            }
            if kind != "wrong bytes, described" {
                behaviour.add(
                    header: "Link: <ftp://127.0.0.1:1/x>; rel=duplicate; pri=2, <\(duplicate)>; rel=duplicate; pri=1")
            }
            if isGone { behaviour.cut = .close(after: 1_000_000) }
        }
        stage.put("/d/m", Self.metalink("f.iso", stage.right.hex, duplicate))
        if isGone {
            stage.bench.origin.vary("/d/f.iso") { facts, behaviour in
                if facts.ordinal > 0 { behaviour.instead = .status(404) }
            }
        }
        let isUsed = !kind.contains("digest")
        #expect(try stage.get(["-x", "1"]) == (isUsed ? "origin" : "3"))
        #expect(stage.bench.origin.log.of("/copy/f.iso").isEmpty != isUsed)
    }
}
