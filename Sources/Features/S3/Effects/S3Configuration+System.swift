import Glibc
package import PawlBase
import PawlSystem
import Synchronization

/// What a user sets of the access to object stores.
package struct S3Options: Hashable, Sendable {
    @Bytewise package var profile: String? = nil
    @Bytewise package var region: String? = nil
    @Bytewise package var endpoint: String? = nil
    /// Whether requests are not signed.
    package var isAnonymous = false
    /// Whether the certificate authorities of the store are given.
    package var hasAuthorityFile = false
    /// Whether the environment and the files of this process's user may be used.
    package var usesOwnersSecrets = true

    package init() {}
}

extension S3Configuration {
    /// The configuration of these options, with the environment and the files of this process's user if they may be used.
    init(_ options: S3Options) {
        let isOwner = options.usesOwnersSecrets
        self.init(
            environment: { isOwner ? Environment.value($0) : nil }, file: { isOwner ? Self.bytes(at: $0) : nil },
            home: isOwner ? Environment.home : nil)
        profile = options.profile
        region = options.region
        endpoint = options.endpoint
        hasAuthorityFile = options.hasAuthorityFile
        isAnonymous = options.isAnonymous
    }

    /// `nil` for what is no file that can be read.
    private static func bytes(at path: String) -> [UInt8]? {
        try? BoundedRead.file(path, atMost: AWSProfileFile.longest, followsLinks: true)
    }
}

/// The access that options mean, for a while: a list of objects needs no file to be read for each of them.
package final class S3AccessCache: Sendable {
    private struct Known {
        var options: S3Options
        var access: S3Access
        var until: Instant
    }

    private let known = Mutex<Known?>(nil)
    private static let lifetime = Interval.seconds(30)

    package init() {}

    package func access(_ options: S3Options) throws(Failure) -> S3Access {
        let now = SystemClock().now
        if let known = known.withLock({ $0 }), known.options == options, now < known.until { return known.access }
        let access = try S3Configuration(options).access()
        known.withLock { $0 = Known(options: options, access: access, until: now + Self.lifetime) }
        return access
    }
}
