/// A response's head, parsed in one pass over its lines: only the fields that a decision uses.
///
/// The fields are kept by reference until one is changed: a head is passed on many times, and each copy costs
/// one retain.
@dynamicMemberLookup
package struct ResponseHead: Hashable, Sendable {
    /// What a head says, as members of the head.
    package struct Values: Hashable, Sendable {
        /// The status code; 0 for FTP and SFTP, which have none.
        package var status: Int
        /// The body's length in bytes: Content-Length, or the size that an FTP or SFTP server reported.
        ///
        /// `nil` when absent, malformed, or overruled by Transfer-Encoding (RFC 9112 §6.3).
        package var contentLength: Int64?
        /// Two different lengths were given: the end of the body is unknown (RFC 9112 §6.3).
        package var hasContradictoryLength = false
        package var contentRange: ContentRangeField = .absent
        package var acceptRanges: AcceptRanges = .unstated
        /// Content-Encoding as sent, `nil` when absent or `identity`.
        package var contentEncoding: String?
        package var contentType: String?
        package var contentDisposition: String?
        package var entityTag: EntityTag?
        /// Last-Modified as a time; `nil` when absent or not a date.
        package var lastModified: UnixTime?
        /// The server's own clock at the response (Date), for Retry-After dates and the age of Last-Modified.
        package var date: UnixTime?
        package var retryAfter: String?
        package var location: String?
        /// Two different Location values were given: the redirect's target is unknown.
        package var hasContradictoryLocation = false
        package var link: String?
        /// Strict-Transport-Security.
        package var transportSecurity: String?
        /// What digest fields state, in the order received; see ``ResponseHead/applicableDigests``.
        var digests: [StatedDigest] = []
        /// What fields state of the form in which the object is stored.
        var storedForm = StoredForm()
        /// What an object store said of a request that it refused; set by the transport.
        package var refusal: S3Refusal?
        /// The head as received, for API clients; empty for FTP and SFTP.
        ///
        /// No decision uses it.
        package var lines: [UInt8] = []

        fileprivate init(status: Int) { self.status = status }
    }

    @usableFromInline
    final class Storage: @unchecked Sendable {  // changed only while it has one reference
        @usableFromInline var values: Values
        @usableFromInline init(_ values: Values) { self.values = values }
    }

    @usableFromInline var storage: Storage

    // Inlined, so that the key path is gone in a release build.
    @inlinable
    package subscript<Value>(dynamicMember member: WritableKeyPath<Values, Value>) -> Value {
        _read { yield storage.values[keyPath: member] }
        _modify {
            if !isKnownUniquelyReferenced(&storage) { storage = Storage(storage.values) }
            yield &storage.values[keyPath: member]
        }
    }

    package init(status: Int) { storage = Storage(Values(status: status)) }

    /// A file's attributes from an FTP or SFTP server.
    package init(fileLength: Int64?, modified: UnixTime?) {
        self.init(status: 0)
        self.contentLength = fileLength.flatMap { $0 >= 0 ? $0 : nil }
        self.lastModified = modified
    }

    package static func == (left: ResponseHead, right: ResponseHead) -> Bool {
        left.storage === right.storage || left.storage.values == right.storage.values
    }

    package func hash(into hasher: inout Hasher) { storage.values.hash(into: &hasher) }

    /// Whether the body is in parts, each with a Content-Range of its own (RFC 9110 §14.6).
    package var isMultipart: Bool {
        guard let contentType = self.contentType else { return false }
        let type = contentType.utf8.prefix { $0 != .semicolon && $0 != .comma }
        return Array(type).trimmed(\.isWhiteSpace).isCaseInsensitively("multipart/byteranges")
    }
}

/// Content-Range (RFC 9110 §14.4).
package enum ContentRangeField: Hashable, Sendable {
    case absent
    /// `bytes first-last/total`, as a half-open range; `total` is `nil` for `*`.
    case range(ByteRange, total: Int64?)
    /// `bytes */total`, the form of a 416.
    case unsatisfied(total: Int64)
    /// Present and none of these, with the field's text.
    case malformed(String)
}

package enum AcceptRanges: Hashable, Sendable {
    case unstated
    case bytes
    case none
}

/// An entity tag (RFC 9110 §8.8.3); `opaque` is the text between the quotes.
package struct EntityTag: Hashable, Sendable {
    package var opaque: String
    package var isWeak: Bool

    package init(opaque: String, isWeak: Bool) {
        self.opaque = opaque
        self.isWeak = isWeak
    }
}
