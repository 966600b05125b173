/// How an object store keeps an object, as far as its fields say.
struct StoredForm: Hashable, Sendable {
    /// x-goog-stored-content-encoding, `nil` for identity.
    var coding: String?
    /// x-goog-stored-content-length.
    var length: Int64?
    /// x-amz-checksum-type: digests of digests of parts.
    var isComposite = false
}

extension ResponseHead {
    /// The most digests of one response that count.
    private static let mostDigests = 64

    private static let contentDigest = "\(DigestField.contentDigest.name)"

    package var hasDigests: Bool { !self.digests.isEmpty }

    /// What the response states of its content.
    ///
    /// The digest of an object that the server decoded on the way is of the stored form, and says nothing of
    /// this one; checksums of parts, combined, are no digest.
    package var applicableDigests: [StatedDigest] {
        let isDecoded =
            storedForm.coding != nil && contentEncoding == nil
            || storedForm.length.map { length in resourceLength.map { $0 != length } ?? false } ?? false
        return digests.filter { digest in
            if isDecoded, digest.scope == .stored { return false }
            // Of a part, only Content-Digest is defined to be the part's own (RFC 9530 §2); object stores send the rest
            // of the whole too.
            if self.status == 206, digest.scope == .content, digest.field != Self.contentDigest { return false }
            return !(self.storedForm.isComposite && digest.field.hasPrefix("x-amz-"))
        }
    }

    /// X-Linked-ETag, which counts with a redirect too.
    package var linkedDigest: Checksum? { digests.first { $0.field == "\(DigestField.linkedTag.name)" }?.checksum }

    /// Stores a field if it states a digest, or something of one.
    mutating func takeDigest(_ name: ArraySlice<UInt8>, _ value: ArraySlice<UInt8>) {
        if let field = DigestField(name) {
            guard digests.count < Self.mostDigests else { return }
            digests += field.parse(value).filter { !digests.contains($0) }
        } else if name.isCaseInsensitively("x-goog-stored-content-encoding") {
            storedForm.coding = value.isCaseInsensitively("identity") ? nil : String(field: value)
        } else if name.isCaseInsensitively("x-goog-stored-content-length") {
            storedForm.length = value.decimalNumber
        } else if name.isCaseInsensitively("x-amz-checksum-type") {
            storedForm.isComposite = value.isCaseInsensitively("composite")
        }
    }
}
