import PawlBase
import PawlIntegrity
package import PawlJournal

#if Features
import PawlHub
import PawlRegistry
import PawlS3
import PawlTorrent
#endif

/// What each feature has on the ports of the kernel: one row a port.
package enum Features {
    typealias AccessMaker = @Sendable (DownloadOptions) throws(Failure) -> ObjectAccess

    #if Features
    /// Who says where the addresses of a scheme are, as options and this machine's files have it; each remembers what it read.
    static func accessMakers() -> [LocatedScheme: AccessMaker] {
        let stores = S3AccessCache()
        return [
            .s3: { (options) throws(Failure) in ObjectAccess(try stores.access(S3Options(options))) },
            .hf: { (options) throws(Failure) in ObjectAccess(try HubAccess(HubOptions(options))) },
            .oci: { (options) throws(Failure) in ObjectAccess(try RegistryAccess(RegistryOptions(options))) },
        ]
    }

    /// Who prepares the requests for the addresses of a scheme.
    static let preparers: RequestPreparers = [
        .s3: { S3Preparer(clock: $0) }, .hf: { _ in HubPreparer() }, .oci: { RegistryPreparer(clock: $0) },
        .httpseed: { _ in PiecePreparer() },
    ]

    /// For addresses that come up only while a download runs: no secret belongs to them.
    static let usualAccesses: [LocatedScheme: ObjectAccess] = [
        .s3: ObjectAccess(S3Access()), .hf: ObjectAccess(HubAccess()), .oci: ObjectAccess(RegistryAccess()),
        .httpseed: ObjectAccess(PieceAccess()),
    ]

    /// Why an address of a feature is none of one file, for what downloads one.
    static func refusal(of address: WebAddress) -> Failure? {
        if case .located(.httpseed) = address.scheme {
            guard PieceServer(address) == nil else { return nil }
            return Failure(
                .badOption, "cannot use the URL", at: address.redacted,
                because: "it is not the address of a server of pieces")
        }
        let why: LocalizableMessage
        switch address.scheme {
        case .located(.hf) where (try? HubAddress(address.text))?.path.isEmpty ?? true:
            why = .init("hub-repository-not-file", "it names a repository of a hub, not a file of one")
        case .located(.oci) where (try? RegistryReference(address.text))?.digest == nil:
            why = .init("registry-image-not-blob", "it names an image of a registry, not a blob of one")
        case _: return nil
        }
        return Failure(
            .badOption, "cannot fetch", at: address.redacted, because: why, remedy: "download all of it with 'pawl get'"
        )
    }
    #else
    static func accessMakers() -> [LocatedScheme: AccessMaker] { [:] }
    static let preparers: RequestPreparers = [:]
    static let usualAccesses: [LocatedScheme: ObjectAccess] = [:]

    /// A build without the trait has HTTP and nothing else.
    static func refusal(of address: WebAddress) -> Failure? {
        guard !address.isWeb else { return nil }
        return Failure(
            .badOption, "cannot fetch", at: address.redacted,
            because: "this program is built without the trait Features")
    }
    #endif

    package static func digestFinder(_ fetcher: any ContentFetching) -> any DigestFinder {
        SidecarFinder(fetcher: fetcher, signatures: SystemSignatures())
    }
}
