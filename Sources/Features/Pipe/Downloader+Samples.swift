package import Pawl
import PawlBase
import PawlEngine

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
        options.connections = 1
        options.existingFile = .rename
        options.verification = .off
        return try add(source, options: options, hooks: hooks, takesEverySuccess: takesEverySuccess) { _ in spool }
    }

    /// Whether this machine has a network, as its routes say: proxies, names and endpoints on it need none.
    package var isOnline: Bool { reachability.isOnline }

    /// Stops a download; it ends without an event.
    package func abandon(_ download: Download) { scheduler.remove(DownloadID(rawValue: download.id.rawValue)) }
}
