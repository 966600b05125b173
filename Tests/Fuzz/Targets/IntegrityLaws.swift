import PawlSystem

@testable import PawlBase
@testable import PawlIntegrity

/// Digests in response fields: none of another length, and every written one is read again.
enum DigestFieldLaws {
    static func check(_ input: inout FuzzInput) throws(BrokenLaw) {
        let field = DigestField.allCases[Int(input.byte()) % DigestField.allCases.count]
        let bytes = input.rest()
        let found = field.parse(bytes)
        try hold(found.count <= DigestField.most, "\(found.count) digests in one field")
        for digest in found {
            try hold(digest.checksum.digest.count == digest.checksum.algorithm.length, "another length")
        }
        // Any bytes as a digest.
        let content = (bytes + [UInt8](repeating: 7, count: 32)).prefix(32)
        let coded = Base64.encode(Array(content))
        let wanted = [Checksum(algorithm: .sha256, digest: Array(content))]
        let written = DigestField.reprDigest.parse("md4=:AA==:, sha-256=:\(coded):;x=1".utf8)
        try hold(written.map(\.checksum) == wanted, "Repr-Digest is read as \(written)")
        let listed = DigestField.digest.parse("UNIXsum=30637, SHA-256=\(coded)".utf8)
        try hold(listed.map(\.checksum) == wanted, "Digest is read as \(listed)")
    }
}

/// Sums files: bounded, no path out of the folder, and every name is found again.
enum SumsFileLaws {
    static func check(_ input: inout FuzzInput) throws(BrokenLaw) {
        guard input.flag() else {
            let bytes = input.rest()
            for name in ["", "SHA256SUMS", "B2SUMS", "f.sfv", "SHA3SUMS"] {
                guard let sums = SumsFile(bytes, named: name.utf8) else { continue }
                try check(sums)
            }
            return
        }
        try checkLines(of: input.part().filter { $0 != .slash })
    }

    private static func check(_ sums: SumsFile) throws(BrokenLaw) {
        try hold(!(sums.entries + sums.outside).isEmpty || sums.bare != nil, "a file without digests")
        for entry in sums.entries + sums.outside {
            try hold(!entry.path.isEmpty && !entry.path.contains([]), "an empty name")
            try hold(!entry.path.contains { $0.contains(.slash) || $0.contains(0) }, "a name with a slash")
            try hold(entry.checksum.digest.count == entry.checksum.algorithm.length, "another length")
        }
        for entry in sums.entries {
            try hold(!entry.path.contains([.dot, .dot]), "a path out of its folder")
            for checksum in sums.checksums(of: entry.path[entry.path.count - 1], isOwn: false) {
                try hold(sums.entries.contains { $0.checksum == checksum }, "a digest of no entry")
            }
        }
    }

    private static func checkLines(of name: [UInt8]) throws(BrokenLaw) {
        guard !name.isEmpty, name != [.dash], name != [.dot], name != [.dot, .dot] else { return }
        let digest = [UInt8](repeating: UInt8(name.count & 0xFF), count: 32)
        let hex = Hexadecimal.text(digest)
        let isEscaped = name.contains { $0 == .backslash || $0 == .lineFeed || $0 == .carriageReturn }
        var escaped: [UInt8] = []
        for byte in name {
            switch byte {
            case .backslash: escaped += Array("\\\\".utf8)
            case .lineFeed: escaped += Array("\\n".utf8)
            case .carriageReturn: escaped += Array("\\r".utf8)
            case _: escaped.append(byte)
            }
        }
        let mark: [UInt8] = isEscaped ? [.backslash] : []
        let lines = [
            mark + Array("\(hex)  ".utf8) + escaped, mark + Array("\(hex) *./".utf8) + escaped,
            mark + Array("SHA256 (".utf8) + escaped + Array(") = \(hex)".utf8),
        ]
        for line in lines {
            let found = SumsFile(line + [.lineFeed])?.checksums(of: name, isOwn: false)
            try hold(
                found == [Checksum(algorithm: .sha256, digest: digest)],
                "\(String(decoding: line, as: UTF8.self)) is read as \(found ?? [])")
        }
    }
}

/// Envelopes of signatures and keys: bounded, and what is read has the sizes that the cipher needs.
enum SignatureLaws {
    static func check(_ input: inout FuzzInput) throws(BrokenLaw) {
        let bytes = input.rest()
        if let signature = MinisignSignature(bytes) {
            try hold(signature.signature.count == 64 && signature.globalSignature.count == 64, "sizes")
            try hold(signature.number.count == 8, "a key number of \(signature.number.count) bytes")
        }
        if let key = MinisignKey(bytes) { try hold(key.key.count == 32 && key.number.count == 8, "sizes of the key") }
        for key in GnuPGStatus.goodKeys(bytes) {
            try hold(key.utf8.allSatisfy { $0.hexValue != nil }, "the fingerprint \(key)")
        }
        _ = OpenPGPArmor.keys(bytes)
        if let text = ClearSignedText(bytes) {
            try hold(text.text.count <= bytes.count, "more text than there was")
            try hold(ClearSignedText(text.message)?.text == text.text, "the message alone is read differently")
        }
        _ = try? DigestFragment.parse(String(decoding: bytes, as: UTF8.self))
    }
}

/// Compressed content: decoding ends within its limit, and how the input is cut changes nothing.
enum InflateLaws {
    static func check(_ input: inout FuzzInput) throws(BrokenLaw) {
        let coding = input.flag() ? "deflate" : "gzip"
        let bytes = input.rest()
        let whole = decode(bytes, coding, piece: bytes.count)
        try hold(whole.content.count <= longest, "the limit is exceeded")
        try hold(
            whole.fault != nil || coding == "deflate" || ContentDecoder.isGzip(bytes), "other bytes are taken as gzip")
        let cut = decode(bytes, coding, piece: 1)
        try hold(cut.fault == whole.fault, "the fault depends on how the input is cut")
        try hold(cut.content == whole.content || cut.fault != nil, "the content depends on how the input is cut")
    }

    private static let longest = 1 << 20

    private static func decode(
        _ bytes: [UInt8], _ coding: String, piece: Int
    ) -> (content: [UInt8], fault: ContentDecoder.Fault?) {
        var rest = bytes[...]
        var content: [UInt8] = []
        var decoder = ContentDecoder(ZlibInflater(), limit: Int64(longest)) {
            guard !rest.isEmpty else { return nil }
            defer { rest = rest.dropFirst(piece) }
            return Array(rest.prefix(piece))
        } emit: {
            content += $0
        }
        do throws(ContentDecoder.Fault) { try decoder.decode(coding) } catch { return (content, error) }
        return (content, nil)
    }
}
