import Testing

@testable import PawlIntegrity

@Suite struct `Signatures` {
    /// Made by minisign 0.10.
    static let key = "RWStqpM1qfnG1QCur0kH5eZl0KSPD7kmHT7XWQzlbthKvYOVtRux+mqs"
    static let hashed = """
        untrusted comment: signature from minisign secret key
        RUStqpM1qfnG1d44mykrMGYCWh4OuZQ8Lvttgfy+c5OtlWaVkQf+PRYLGBO8iGFJwxLSVsyNxKDTrYnRVwRWEHmm+X09I/h/FwU=
        trusted comment: file:SUMS
        3M5L/X2oqs2kpX9aelbqNsY6Xax6ZPTDyRkhldd8roLuzktHkuJ8Sr/IHoDCVhJPBXhE4KsV4sMTabaHC2AwAQ==
        """
    static let legacy = """
        untrusted comment: signature from minisign secret key
        RWStqpM1qfnG1XY6vp2HsNICXA3RE9lozPkWwvNk4Tu14lxjmxPs/W/QxM5SXkyigCXKuULxYcWoL/JDHriGBir7Bq/itsO/4gM=
        trusted comment: timestamp:1795403220	file:SUMS
        Z7vrw6N9nQhnkLxiY1Vh7d+X9oawWq4xhWmIo3qFPD+2PZwIzHnnINSPVbra1ft4DlYj39xf9qDGu7bOPh60BA==
        """

    @Test func `a minisign envelope is read in both forms`() throws {
        let key = try #require(MinisignKey(Self.key.utf8))
        let file = try #require(MinisignKey("untrusted comment: x\r\n\(Self.key)\r\n".utf8))
        #expect(key == file)
        let hashed = try #require(MinisignSignature(Self.hashed.utf8))
        let legacy = try #require(MinisignSignature((Self.legacy + "\n").utf8))
        #expect(hashed.isPrehashed && !legacy.isPrehashed)
        #expect(hashed.number == key.number && legacy.number == key.number)
        #expect(String(decoding: hashed.trustedComment, as: UTF8.self) == "file:SUMS")
    }

    @Test(arguments: 0..<4) func `an envelope without one of its lines is none`(line: Int) {
        var lines = Self.hashed.split(separator: "\n").map(String.init)
        lines.remove(at: line)
        #expect(MinisignSignature(lines.joined(separator: "\n").utf8) == nil)
        #expect(MinisignKey(Self.hashed.utf8) == nil)
    }

    private static let print = String(repeating: "0A", count: 20)

    @Test(arguments: [
        ("GOODSIG 01 A\n[GNUPG:] VALIDSIG \(print) 2026", 1),
        (
            "NEWSIG\n[GNUPG:] ERRSIG 1\n[GNUPG:] NO_PUBKEY 1\n[GNUPG:] NEWSIG\n[GNUPG:] GOODSIG 1 A\n[GNUPG:] VALIDSIG \(print) 2",
            1
        ), ("EXPKEYSIG 01 A\n[GNUPG:] VALIDSIG \(print) 2026", 0),
        ("REVKEYSIG 01 A\n[GNUPG:] VALIDSIG \(print) 2026", 0), ("EXPSIG 01 A\n[GNUPG:] VALIDSIG \(print) 2026", 0),
        ("BADSIG 01 A", 0), ("GOODSIG 01 A", 0), ("GOODSIG 01 A\n[GNUPG:] NEWSIG\n[GNUPG:] VALIDSIG \(print) 2026", 0),
        ("GOODSIG 01 A\n[GNUPG:] VALIDSIG 0A 2026", 0), ("GOODSIG 01 A\nVALIDSIG \(print) 2026", 0),
    ]) func `only a good and valid signature by a live key counts`(status: String, count: Int) {
        #expect(GnuPGStatus.goodKeys("[GNUPG:] \(status)\n".utf8).count == count)
    }

    @Test func `an armored key is read, a damaged one is not`() {
        let armor =
            "x\n-----BEGIN PGP PUBLIC KEY BLOCK-----\nVersion: 1\n\nAAEC\n=AAAA\n-----END PGP PUBLIC KEY BLOCK-----\n"
        #expect(OpenPGPArmor.keys(Array((armor + armor).utf8)) == [0, 1, 2, 0, 1, 2])
        #expect(OpenPGPArmor.keys(Array(armor.dropLast(20).utf8)) == nil)
        #expect(OpenPGPArmor.keys([1, 2, 3]) == nil)
    }
}
