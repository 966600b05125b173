import PawlBase
import Synchronization

/// Interns settings: the transport keeps prepared handles for each instance.
///
/// It remembers the last valid options, because most downloads of a list have the same.
package final class TransferSettingsCache: Sendable {
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
    private let accessMakers = Features.accessMakers()

    private let allowsPrivateEndpoint: Bool
    private let usesManyHosts: Bool
    private let usesHTTP1Only: Bool

    init(
        deniesPrivateAddresses: Bool, allowsPrivateEndpoint: Bool = false, usesManyHosts: Bool = false,
        usesHTTP1Only: Bool = false
    ) {
        self.deniesPrivateAddresses = deniesPrivateAddresses
        self.allowsPrivateEndpoint = allowsPrivateEndpoint
        self.usesManyHosts = usesManyHosts
        self.usesHTTP1Only = usesHTTP1Only
    }

    /// The settings of a URL without credentials.
    ///
    /// Throws code 28 for the first option with an invalid value.
    package func settings(of options: DownloadOptions) throws(Failure) -> TransferSettings {
        if let known = known.withLock({ $0 }), known.has(options) { return known.settings }
        try DownloadOption.check(options)
        let settings = settings(TransferSettings.Values(options))
        known.withLock { $0 = Known(options, settings) }
        return settings
    }

    /// The same settings with the credentials of a URL, which those of the options override.
    ///
    /// `accesses` are those that its URLs need.
    func settings(
        _ common: TransferSettings, for credentials: Credentials?, accesses: [LocatedScheme: ObjectAccess]
    ) -> TransferSettings {
        let own = common.values.credentials == nil ? credentials : nil
        guard own != nil || !accesses.isEmpty else { return common }
        var values = common.values
        values.credentials = own ?? values.credentials
        values.accesses.merge(accesses) { $1 }
        values.authorityFile =
            values.authorityFile
            ?? LocatedScheme.allCases.lazy.compactMap { accesses[$0]?.locating.authorityFile }.first
        return settings(values)
    }

    /// The accesses for the located ones of these addresses, as the options say.
    func accesses(
        of addresses: [WebAddress], _ options: borrowing DownloadOptions
    ) throws(Failure) -> [LocatedScheme: ObjectAccess] {
        var accesses: [LocatedScheme: ObjectAccess] = [:]
        for address in addresses {
            guard case .located(let scheme) = address.scheme, accesses[scheme] == nil else { continue }
            accesses[scheme] = try accessMakers[scheme]?(copy options)
        }
        return accesses
    }

    private func settings(_ values: TransferSettings.Values) -> TransferSettings {
        var values = values
        let isChosen = allowsPrivateEndpoint && values.accesses.values.contains(where: \.locating.hasChosenHost)
        values.deniesPrivateAddresses = (deniesPrivateAddresses || values.deniesPrivateAddresses) && !isChosen
        values.usesManyHosts = usesManyHosts
        values.usesHTTP1Only = usesHTTP1Only
        return last.withLock { last in
            if let last, last.values == values { return last }
            let fresh = TransferSettings(values)
            last = fresh
            return fresh
        }
    }
}
