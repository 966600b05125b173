/// A digest in a field of a response.
package struct StatedDigest: Hashable, Sendable {
    /// The bytes that it covers.
    package enum Scope: Hashable, Sendable {
        /// The whole representation, whatever part of it the response has.
        case representation
        /// The bytes that this response brings.
        case content
        /// The stored object, which the server may have decoded on the way.
        case stored
    }

    /// The field, and the key inside it, in lower case.
    package var field: String
    package var checksum: Checksum
    package var scope: Scope

    package init(field: String, _ checksum: Checksum, scope: Scope) {
        self.field = field
        self.checksum = checksum
        self.scope = scope
    }
}

/// The fields that state digests; what cannot be read is left out, as if it was not sent.
package enum DigestField: Hashable, Sendable, CaseIterable {
    /// Repr-Digest (RFC 9530 §3).
    case reprDigest
    /// Content-Digest (RFC 9530 §2).
    case contentDigest
    /// Digest (RFC 3230).
    case digest
    /// Content-MD5 (RFC 1864).
    case contentMD5
    case googHash
    case amazonSHA256
    case amazonSHA1
    case amazonCRC32C
    case amazonCRC32
    case amazonCRC64
    case azureMD5
    case artifactorySHA512
    case artifactorySHA256
    case artifactorySHA1
    case artifactoryMD5
    /// X-Linked-ETag, the SHA-256 of a large file, which hubs also send with the redirect.
    case linkedTag

    /// In lower case.
    package var name: StaticString {
        switch self {
        case .reprDigest: "repr-digest"
        case .contentDigest: "content-digest"
        case .digest: "digest"
        case .contentMD5: "content-md5"
        case .googHash: "x-goog-hash"
        case .amazonSHA256: "x-amz-checksum-sha256"
        case .amazonSHA1: "x-amz-checksum-sha1"
        case .amazonCRC32C: "x-amz-checksum-crc32c"
        case .amazonCRC32: "x-amz-checksum-crc32"
        case .amazonCRC64: "x-amz-checksum-crc64nvme"
        case .azureMD5: "x-ms-blob-content-md5"
        case .artifactorySHA512: "x-checksum-sha512"
        case .artifactorySHA256: "x-checksum-sha256"
        case .artifactorySHA1: "x-checksum-sha1"
        case .artifactoryMD5: "x-checksum-md5"
        case .linkedTag: "x-linked-etag"
        }
    }

    /// The most digests that one field may state; further ones do not count.
    package static let most = 16

    /// Whether a field of that name may state a digest, or something of one: a cheap look at most fields.
    static func mayBe(_ name: ArraySlice<UInt8>) -> Bool {
        guard let first = name.first?.lowercased else { return false }
        switch first {
        case UInt8(ascii: "x"): return name.count >= 11
        case UInt8(ascii: "r"): return name.count == 11
        // No Content-Length, which every response has.
        case UInt8(ascii: "c"):
            return name.count == 11 || name.count == 14 && !name.isCaseInsensitively("content-length")
        case UInt8(ascii: "d"): return name.count == 6
        case _: return false
        }
    }

    /// The field of that name, in any case.
    package init?(_ name: some Collection<UInt8>) {
        // Most fields of a response are none of these.
        guard let first = name.first?.lowercased, Self.initials.contains(first),
            let field = Self.allCases.first(where: { name.isCaseInsensitively($0.name) })
        else { return nil }
        self = field
    }

    private static let initials: [UInt8] = Array("rcdx".utf8)

    /// The digests that the field states; two of one algorithm may differ.
    package func parse(_ value: some Collection<UInt8>) -> [StatedDigest] {
        let text = Array(value)[...].trimmed(\.isWhiteSpace)
        switch self {
        case .reprDigest: return structured(text, .representation)
        case .contentDigest: return structured(text, .content)
        case .digest: return list(text, .representation)
        case .googHash: return list(text, .stored)
        case .contentMD5: return one(Checksum(.md5, base64: text), .content)
        case .azureMD5: return one(Checksum(.md5, base64: text), .representation)
        // The composite form ends in `-N` and is no base64.
        case .amazonSHA256: return one(Checksum(.sha256, base64: text), .content)
        case .amazonSHA1: return one(Checksum(.sha1, base64: text), .content)
        case .amazonCRC32C: return one(Checksum(.crc32c, base64: text), .content)
        case .amazonCRC32: return one(Checksum(.crc32, base64: text), .content)
        case .amazonCRC64: return one(Checksum(.crc64nvme, base64: text), .content)
        case .artifactorySHA512: return one(Checksum(.sha512, hex: text), .representation)
        case .artifactorySHA256: return one(Checksum(.sha256, hex: text), .representation)
        case .artifactorySHA1: return one(Checksum(.sha1, hex: text), .representation)
        case .artifactoryMD5: return one(Checksum(.md5, hex: text), .representation)
        case .linkedTag: return one(Self.linked(text), .representation)
        }
    }

    private func one(_ checksum: Checksum?, _ scope: StatedDigest.Scope) -> [StatedDigest] {
        checksum.map { [StatedDigest(field: "\(name)", $0, scope: scope)] } ?? []
    }

    private static func linked(_ text: ArraySlice<UInt8>) -> Checksum? {
        guard text.count == 66, text.first == .quote, text.last == .quote else { return Checksum(.sha256, hex: text) }
        return Checksum(.sha256, hex: text.dropFirst().dropLast())
    }

    /// A dictionary of byte sequences (RFC 8941 §3.2): `sha-256=:BASE64:;parameter, …`.
    private func structured(_ text: ArraySlice<UInt8>, _ scope: StatedDigest.Scope) -> [StatedDigest] {
        text.pieces(between: .comma).prefix(Self.most).compactMap { member in
            let member = member.trimmed(\.isBlank)
            guard let equals = member.firstIndex(of: .equals) else { return nil }
            let key = member[..<equals]
            var value = member[(equals + 1)...]
            // Keys are in lower case (RFC 8941 §3.1.2).
            guard let algorithm = Self.structuredKeys[Array(key)], value.first == .colon else { return nil }
            value = value.dropFirst()
            guard let end = value.firstIndex(of: .colon) else { return nil }
            let rest = value[(end + 1)...]
            guard rest.isEmpty || rest.first == .semicolon, let checksum = Checksum(algorithm, base64: value[..<end])
            else { return nil }
            return StatedDigest(field: label(key), checksum, scope: scope)
        }
    }

    private static let structuredKeys: [[UInt8]: HashAlgorithm] = [
        Array("sha-256".utf8): .sha256, Array("sha-512".utf8): .sha512, Array("sha".utf8): .sha1,
        Array("md5".utf8): .md5, Array("crc32c".utf8): .crc32c,
    ]

    /// `ALGORITHM=BASE64, …` (RFC 3230 §4.3.2); CRC-32C is also written in hexadecimal digits.
    private func list(_ text: ArraySlice<UInt8>, _ scope: StatedDigest.Scope) -> [StatedDigest] {
        text.pieces(between: .comma).prefix(Self.most).compactMap { member in
            let member = member.trimmed(\.isBlank)
            guard let equals = member.firstIndex(of: .equals) else { return nil }
            let key = member[..<equals]
            let value = member[(equals + 1)...]
            let isOfIdentity = key.prefix(3).isCaseInsensitively("id-")
            guard let algorithm = HashAlgorithm(spelled: isOfIdentity ? key.dropFirst(3) : key) else { return nil }
            let hex = algorithm == .crc32c ? Checksum(algorithm, hex: value) : nil
            guard let checksum = Checksum(algorithm, base64: value) ?? hex else { return nil }
            return StatedDigest(field: label(key), checksum, scope: scope)
        }
    }

    private func label(_ key: ArraySlice<UInt8>) -> String {
        "\(name) \(String(decoding: key.map(\.lowercased), as: UTF8.self))"
    }
}
