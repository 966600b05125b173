package import Pawl
package import PawlBase
import PawlEngine
import PawlHTTP

// Downloads of samples for `pawl pipe`.
extension Downloader {
    /// Adds a download to a spool, which has the content when the download has ended.
    ///
    /// `takesEverySuccess`: with status 203 as with 200. Throws code 28 like ``add(_:options:)``.
    package func add(
        _ source: String, options: DownloadOptions, hooks: DownloadHooks?, takesEverySuccess: Bool = false,
        to spool: SampleSpool
    ) throws(PawlError) -> Download {
        var options = options
        options.verification = .off
        return try add(source, options: options, hooks: hooks, takesEverySuccess: takesEverySuccess) { _ in
            spool.destination
        }
    }

    /// Whether this machine has a network, as its routes say: proxies, names and endpoints on it need none.
    package var isOnline: Bool { reachability.isOnline }

    /// Stops a download; it ends without an event.
    package func abandon(_ download: Download) { scheduler.remove(DownloadID(rawValue: download.id.rawValue)) }
}

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
