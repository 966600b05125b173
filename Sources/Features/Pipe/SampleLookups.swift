package import Pawl
package import PawlBase
import PawlCurl

/// Lookups of the hosts of samples, before the samples start.
package struct SampleLookups: Sendable {
    private let lookups: HostLookups

    fileprivate init(_ lookups: HostLookups) { self.lookups = lookups }

    /// The lookup that a sample needs; `nil` where it needs none.
    package func query(for address: WebAddress) -> HostQuery? { lookups.query(for: address) }

    /// The result; `nil` when the name has to be looked up first, and `receiver` is called on another thread.
    package func lookUp(_ query: HostQuery, _ receiver: @escaping @Sendable (HostResult) -> Void) -> HostResult? {
        lookups.lookUp(query, receiver)
    }
}

extension Downloader {
    /// Throws code 28 for the first option with an invalid value.
    package func lookups(_ options: DownloadOptions) throws(Failure) -> SampleLookups {
        SampleLookups(HostLookups(try settingsCache.settings(of: options).values))
    }
}
