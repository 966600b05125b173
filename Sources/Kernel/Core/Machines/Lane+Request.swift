package import PawlBase
package import PawlJournal

/// A check whether a host repeats this entity tag, which differs from the one before.
package struct TagQuestion: Hashable, Sendable {
    package var source: Int
    package var host: String
    package var tag: EntityTag?
}

extension Lane {
    /// What was requested.
    package struct Request: Hashable, Sendable {
        /// Refused logins for the origin and for the proxy.
        struct Logins: Hashable, Sendable {
            var origin = 0
            var proxy = 0
        }

        package let range: RequestedRange
        /// The host of the request: another lane's redirect may lead the source elsewhere in the meantime.
        package let host: String
        /// How many bytes before the others are compared with the disk.
        var compares: Int64 = 0
        package var redirects = 0
        /// How many logins of the program its requests were refused with.
        var logins = Logins()
        /// Whether the content is wanted only if it has changed.
        var isConditional = false
        /// Whether its refusal was reported already.
        var hasReportedRefusal = false
    }

    /// What is known of the response.
    package struct Response: Hashable, Sendable {
        package var identity: ContentIdentity?
        /// The digests that it states of the content.
        package var stated: [LearntDigest] = []
        /// Where the body ends according to its head.
        package var end = ByteRange.open
        /// The program has decided about it.
        var isValidated = false
    }

    /// What the writer of its body needs to know of it.
    package struct Extent: Hashable, Sendable {
        package let cursor: Int64
        package let end: Int64
        package let responseEnd: Int64
        package let overlap: Int64
        package let slot: Int
        /// It writes nothing.
        package let onlyCompares: Bool
    }
}
