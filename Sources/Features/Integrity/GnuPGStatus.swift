import PawlBase

/// What gpgv's status lines (`--status-fd`) say; its exit status is not enough: it is 0 for a signature by an
/// expired key, and not 0 where a good signature stands beside one by an unknown key.
package enum GnuPGStatus {
    /// The fingerprints of the keys whose signatures are good; neither key nor signature is expired or revoked.
    package static func goodKeys(_ status: some Collection<UInt8>) -> [String] {
        var keys: [String] = []
        var isGood = false
        for line in Array(status)[...].pieces(between: .lineFeed) {
            let words = line.split(whereSeparator: \.isWhiteSpace)
            guard words.count >= 2, words[0].elementsEqual("[GNUPG:]".utf8) else { continue }
            switch String(decoding: words[1], as: UTF8.self) {
            case "GOODSIG": isGood = true
            case "NEWSIG", "EXPSIG", "EXPKEYSIG", "REVKEYSIG", "BADSIG", "ERRSIG", "NO_PUBKEY": isGood = false
            case "VALIDSIG":
                if isGood, words.count >= 3, words[2].count >= 40, words[2].allSatisfy({ $0.hexValue != nil }) {
                    keys.append(String(decoding: words[2], as: UTF8.self))
                }
                isGood = false
            case _: break
            }
        }
        return keys
    }
}

/// ASCII armor (RFC 9580 §6) of a public key: gpgv reads only binary keyrings.
package enum OpenPGPArmor {
    package static let longest = 4 << 20

    /// The bytes of the armored blocks of keys, one after another; `nil` when there is none, or one is damaged.
    package static func keys(_ text: [UInt8]) -> [UInt8]? {
        guard text.count <= longest else { return nil }
        var bytes: [UInt8] = []
        var state = State.outside
        var coded: [UInt8] = []
        for line in text.split(separator: .lineFeed, omittingEmptySubsequences: false) {
            let line = line.trimmed(\.isWhiteSpace)
            switch state {
            case .outside: if line.elementsEqual("-----BEGIN PGP PUBLIC KEY BLOCK-----".utf8) { state = .headers }
            case .headers: if line.isEmpty { state = .body }
            case .body where line.elementsEqual("-----END PGP PUBLIC KEY BLOCK-----".utf8):
                guard let block = Base64.decodePadded(coded[...]), !block.isEmpty else { return nil }
                bytes += block
                coded = []
                state = .outside
            // The checksum of the armor, which is optional.
            case .body where line.first == .equals: break
            case .body: coded += line
            }
        }
        return state == .outside && !bytes.isEmpty ? bytes : nil
    }

    private enum State { case outside, headers, body }
}
