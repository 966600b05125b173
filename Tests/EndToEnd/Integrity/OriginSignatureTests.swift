import PawlIntegrity
import PawlTestKit
import Testing

/// Signed sums files, beside gpg and minisign.
@Suite(.ownThreads) struct OriginSignatureTests {
    private static func serve(_ stage: OriginStage, _ path: String, _ bytes: [UInt8]) {
        _ = stage.bench.origin.serve(path, Payload(bytes)) { $0.contentType = nil }
    }

    enum OpenPGP: CaseIterable {
        case binary, armored, sign, clear, named
        case bad, expired, expiredKey, revoked, unnamed, otherText, otherFile, page, endless, none
        case unknownFirst, unsignedAround, clearForged

        var isGood: Bool {
            switch self {
            case .binary, .armored, .sign, .clear, .named, .unknownFirst: true
            case .bad, .expired, .expiredKey, .revoked, .unnamed, .otherText, .otherFile, .page, .endless, .none,
                .unsignedAround, .clearForged:
                false
            }
        }
    }

    @Test(arguments: OpenPGP.allCases) func `only a good signature by a named key over the right sums counts`(
        kind: OpenPGP
    ) throws {
        let stage = try OriginStage()
        let tools = try SigningTools(stage.bench)
        stage.serve()
        let sums = "\(stage.right.hex)  f.iso\n"
        try tools.makeKey("a", expired: kind == .expiredKey || kind == .expired)
        if [.unnamed, .unknownFirst].contains(kind) { try tools.makeKey("b") }
        var text = sums
        var signature: [UInt8]? = nil
        var ending = ".gpg"
        switch kind {
        case .binary: signature = try tools.sign(sums, by: "a")
        case .armored: (signature, ending) = (try tools.sign(sums, by: "a", armored: true), ".asc")
        case .sign: (signature, ending) = (try tools.sign(sums, by: "a", armored: true), ".sign")
        case .named: (signature, ending) = (try tools.sign(sums, by: "a"), ".sig")
        case .clear: text = String(decoding: try tools.sign(sums, by: "a", as: "--clear-sign"), as: UTF8.self)
        case .bad:
            var bytes = try tools.sign(sums, by: "a")
            bytes[bytes.count - 5] ^= 1
            signature = bytes
        case .expired, .expiredKey: signature = try tools.sign(sums, by: "a", expired: true)
        case .revoked:
            signature = try tools.sign(sums, by: "a")
            try tools.revoke("a")
        case .unnamed: signature = try tools.sign(sums, by: "b")
        case .otherText: signature = try tools.sign("\(stage.wrong.hex)  f.iso\n", by: "a")
        case .otherFile:
            text = "\(stage.right.hex)  g.iso\n"
            signature = try tools.sign(text, by: "a")
            stage.put("/d/f.iso.sha256", stage.right.hex)
        case .page: signature = Array("<html>no such signature</html>".utf8)
        case .endless:
            for ending in SidecarNames.signatures {
                stage.bench.origin.serve(
                    "/d/SHA256SUMS" + ending, Payload(repeating: "-----BEGIN PGP SIGNATURE-----\n", length: 1 << 50)
                ) { $0.framing = .chunked }
            }
        case .none: break
        case .unknownFirst: signature = try tools.sign(sums, by: "b", "a")
        case .unsignedAround:
            let signed = try tools.sign("\(stage.right.hex)  g.iso\n", by: "a", as: "--clear-sign")
            text = sums + String(decoding: signed, as: UTF8.self) + sums
        case .clearForged:
            let signed = try tools.sign("\(stage.right.hex)  g.iso\n", by: "a", as: "--clear-sign")
            text = String(decoding: signed, as: UTF8.self).replacing("g.iso", with: "f.iso")
        }
        stage.put("/d/SHA256SUMS", text)
        if let signature { Self.serve(stage, "/d/SHA256SUMS" + ending, signature) }
        let keyring = try tools.keyring("a", armored: kind == .armored)
        let outcome = try stage.get(["--verify", "signed", "--keyring", keyring])
        #expect(outcome == (kind.isGood ? "signed" : "32"))
        for ending in SidecarNames.signatures { #expect(stage.sent(of: "/d/SHA256SUMS" + ending) <= OriginStage.most) }
    }

    @Test func `a signed sums file with another digest is never published`() throws {
        let stage = try OriginStage()
        let tools = try SigningTools(stage.bench)
        stage.serve("Repr-Digest: sha-256=:\(stage.right.sha):")
        let sums = "\(stage.wrong.hex)  f.iso\n"
        try tools.makeKey("a")
        stage.put("/d/SHA256SUMS", sums)
        Self.serve(stage, "/d/SHA256SUMS.gpg", try tools.sign(sums, by: "a"))
        #expect(try stage.get(["--verify", "signed", "--keyring", try tools.keyring("a")]) == "32")
    }

    @Test(arguments: ["", "<html>no such key</html>", "-----BEGIN PGP PUBLIC KEY BLOCK-----\n"])
    func `a keyring without a key is refused before anything is requested`(text: String) throws {
        let stage = try OriginStage()
        stage.serve()
        try stage.bench.write("ring", Array(text.utf8))
        let keyring = stage.bench.folder.path("ring")
        #expect(try stage.get(["--verify", "signed", "--keyring", keyring]) == "28")
        #expect(stage.bench.origin.log.records.isEmpty)
    }

    @Test(arguments: ["right", "other key", "other text", "damaged", "endless", "in a file"])
    func `minisign's signatures count likewise`(kind: String) throws {
        let stage = try OriginStage()
        let tools = try SigningTools(stage.bench)
        stage.serve()
        let sums = "\(stage.right.hex)  f.iso\n"
        stage.put("/d/SHA256SUMS", sums)
        var key = try tools.makeMinisignKey("a")
        let text = kind == "other text" ? "\(stage.wrong.hex)  f.iso\n" : sums
        var signature = try tools.minisign(text, by: "a")
        if kind == "other key" { key = try tools.makeMinisignKey("b") }
        if kind == "damaged" { signature[80] ^= 1 }
        if kind == "in a file" {
            try stage.bench.write("key", Array("untrusted comment: x\n\(key)\n".utf8))
            key = stage.bench.folder.path("key")
        }
        if kind == "endless" {
            stage.bench.origin.serve("/d/SHA256SUMS.minisig", Payload(repeating: "R", length: 1 << 50)) {
                $0.framing = .chunked
            }
        } else {
            Self.serve(stage, "/d/SHA256SUMS.minisig", signature)
        }
        let outcome = try stage.get(["--verify", "signed", "--minisign-key", key])
        #expect(outcome == (kind == "right" || kind == "in a file" ? "signed" : "32"))
    }
}
