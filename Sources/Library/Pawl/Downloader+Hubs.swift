package import PawlBase
package import PawlHub

extension HubClient {
    /// The hub that these options mean; throws code 28 for invalid ones.
    package init(_ options: DownloadOptions, deniesPrivateAddresses: Bool = false) throws(Failure) {
        let cache = TransferSettingsCache(deniesPrivateAddresses: deniesPrivateAddresses)
        self.init(
            try HubAccess(HubOptions(options)), try cache.settings(of: options), patience: options.timeout,
            policy: RetryPolicy(options))
    }
}

extension HubOptions {
    package init(_ options: DownloadOptions) {
        self.init()
        endpoint = options.endpoint
        isAnonymous = !options.signsRequests
        usesOwnersSecrets = options.usesOwnersSecrets
    }
}

/// A file that may be what is to be downloaded.
package enum PresentFile {
    /// Whether it is there with this length and digest; reads all of it if the length is right.
    package static func has(_ checksum: Checksum, length: Int64, at path: String) -> Bool {
        guard let file = try? FileDigests(path), file.length == length else { return false }
        return (try? file.digests([checksum.algorithm]))?.first == checksum.digest
    }
}
