import PawlBase
import PawlIntegrity
package import PawlJournal
import PawlS3

/// What each feature has on the ports of the kernel: one row a port.
package enum Features {
    typealias AccessMaker = @Sendable (DownloadOptions) throws(Failure) -> ObjectAccess

    /// Who says where the addresses of a scheme are, as options and this machine's files have it; each remembers what it read.
    static func accessMakers() -> [LocatedScheme: AccessMaker] {
        let stores = S3AccessCache()
        return [.s3: { (options) throws(Failure) in ObjectAccess(try stores.access(S3Options(options))) }]
    }

    /// Who prepares the requests for the addresses of a scheme.
    static let preparers: RequestPreparers = [.s3: { S3Preparer(clock: $0) }]

    /// For addresses that come up only while a download runs: no secret belongs to them.
    static let usualAccesses: [LocatedScheme: ObjectAccess] = [.s3: ObjectAccess(S3Access())]

    package static func digestFinder(_ fetcher: any ContentFetching) -> any DigestFinder {
        SidecarFinder(fetcher: fetcher, signatures: SystemSignatures())
    }
}
