#if Features
package import PawlBase
package import PawlRegistry

extension RegistryClient {
    /// The registries that these options mean; throws code 28 for invalid ones.
    package init(_ options: DownloadOptions, deniesPrivateAddresses: Bool = false) throws(Failure) {
        let cache = TransferSettingsCache(deniesPrivateAddresses: deniesPrivateAddresses)
        self.init(
            try RegistryAccess(RegistryOptions(options)), try cache.settings(of: options),
            patience: options.timeout.seconds,
            policy: RetryPolicy(options))
    }
}

extension RegistryOptions {
    package init(_ options: DownloadOptions) {
        self.init()
        endpoint = options.endpoint
        isAnonymous = !options.signsRequests
        usesOwnersSecrets = options.usesOwnersSecrets
        runsHelpers = options.runsCredentialHelpers
    }
}
#endif
