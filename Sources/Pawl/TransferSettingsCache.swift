import PawlCore
import PawlEngine
import Synchronization

/// Interns settings: the transport keeps prepared handles for each instance.
///
/// It remembers the last valid options, because most downloads of a list have the same.
final class TransferSettingsCache: Sendable {
    /// A class, so that it is compared without a copy.
    private final class Known: Sendable {
        private let options: DownloadOptions
        let settings: TransferSettings

        func has(_ others: DownloadOptions) -> Bool { options.hasSameBytes(as: others) }

        init(_ options: DownloadOptions, _ settings: TransferSettings) {
            self.options = options
            self.settings = settings
        }
    }

    private let known = Mutex<Known?>(nil)
    private let last = Mutex<TransferSettings?>(nil)
    let deniesPrivateAddresses: Bool
    let stores = S3AccessCache()

    private let allowsPrivateEndpoint: Bool
    private let usesManyHosts: Bool

    init(deniesPrivateAddresses: Bool, allowsPrivateEndpoint: Bool = false, usesManyHosts: Bool = false) {
        self.deniesPrivateAddresses = deniesPrivateAddresses
        self.allowsPrivateEndpoint = allowsPrivateEndpoint
        self.usesManyHosts = usesManyHosts
    }

    /// The settings of a URL without credentials.
    ///
    /// Throws code 28 for the first option with an invalid value.
    func settings(of options: DownloadOptions) throws(Failure) -> TransferSettings {
        if let known = known.withLock({ $0 }), known.has(options) { return known.settings }
        try DownloadOption.check(options)
        let settings = settings(TransferSettings.Values(options))
        known.withLock { $0 = Known(options, settings) }
        return settings
    }

    /// The same settings with the credentials of a URL, which those of the options override.
    ///
    /// `access` is that to the object stores of its URLs.
    func settings(_ common: TransferSettings, for credentials: Credentials?, access: S3Access?) -> TransferSettings {
        let own = common.values.credentials == nil ? credentials : nil
        guard own != nil || access != nil else { return common }
        var values = common.values
        values.credentials = own ?? values.credentials
        values.s3 = access
        values.authorityFile = values.authorityFile ?? access?.authorityFile
        return settings(values)
    }

    private func settings(_ values: TransferSettings.Values) -> TransferSettings {
        var values = values
        values.deniesPrivateAddresses = deniesPrivateAddresses && !(allowsPrivateEndpoint && values.s3?.endpoint != nil)
        values.usesManyHosts = usesManyHosts
        return last.withLock { last in
            if let last, last.values == values { return last }
            let fresh = TransferSettings(values)
            last = fresh
            return fresh
        }
    }
}
