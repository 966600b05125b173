/// What is remembered of the content that the bytes on disk belong to: the length and the validators of the answer
/// that began the download (RFC 9110 §8.8).
package struct ContentIdentity: Hashable, Sendable {
    /// The whole length in bytes, `nil` while unknown.
    package var total: Int64?
    package var entityTag: EntityTag?
    package var lastModified: UnixTime?

    package init(total: Int64? = nil, entityTag: EntityTag? = nil, lastModified: UnixTime? = nil) {
        self.total = total
        self.entityTag = entityTag
        self.lastModified = lastModified
    }

    package var hasValidator: Bool { entityTag != nil || lastModified != nil }
}
