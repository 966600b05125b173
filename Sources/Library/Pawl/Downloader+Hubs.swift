#if Features
package import PawlBase
package import PawlHub

extension HubClient {
    /// The hub that these options mean; throws code 28 for invalid ones.
    package init(_ options: DownloadOptions, deniesPrivateAddresses: Bool = false) throws(Failure) {
        let cache = TransferSettingsCache(deniesPrivateAddresses: deniesPrivateAddresses)
        self.init(
            try HubAccess(HubOptions(options)), try cache.settings(of: options), patience: options.timeout.seconds,
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
#endif
