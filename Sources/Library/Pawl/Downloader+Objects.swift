#if Features
package import PawlBase
import PawlCore
package import PawlS3

extension Downloader {
    /// Adds a download whose bytes become an object, in order and over one connection.
    ///
    /// Blocks the calling thread while the store is looked at.
    package func add(
        _ source: String, options: DownloadOptions, to target: WebAddress, of store: ObjectStore
    ) throws(PawlError) -> Download {
        var own = options
        // Only for messages: a key is not limited like the name of a file.
        let name = target.lastPathComponent
        own.fileName = name.utf8.count > 255 ? FileName.safe(name) : name
        let policy = IfExists(options.existingFile)
        return try add(source, options: own, hooks: nil) { (plan) throws(Failure) in
            try ObjectTarget(
                store, target: target, source: plan.sources[0].text, policy: policy, algorithms: plan.streamAlgorithms,
                needsDigest: plan.hasDigest
            ).destination
        }
    }
}

extension ObjectStore {
    /// The store that these options mean; throws code 28 for invalid ones.
    package convenience init(_ options: DownloadOptions, deniesPrivateAddresses: Bool = false) throws(Failure) {
        let cache = TransferSettingsCache(deniesPrivateAddresses: deniesPrivateAddresses)
        let access = try S3AccessCache().access(S3Options(options))
        let settings = cache.settings(
            try cache.settings(of: options), for: nil, accesses: [.s3: ObjectAccess(access)])
        self.init(access, settings, patience: options.timeout.seconds, policy: RetryPolicy(options))
    }
}

extension S3Options {
    init(_ options: DownloadOptions) {
        self.init()
        profile = options.profile
        region = options.region
        endpoint = options.endpoint
        isAnonymous = !options.signsRequests
        hasAuthorityFile = options.authorityFile != nil
        usesOwnersSecrets = options.usesOwnersSecrets
    }
}
#endif
