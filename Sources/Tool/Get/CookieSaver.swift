import Glibc
package import Pawl
package import PawlBase
import PawlSystem
import Synchronization

/// Collects the cookies of a run, and saves them at its end.
package final class CookieSaver: Sendable {
    private let path: String
    private let list = Mutex(CookieList())

    /// `nil` without a path.
    package init?(_ path: String?, _ configuration: inout Downloader.Configuration) {
        guard let path, !path.isEmpty else { return nil }
        self.path = path
        configuration.onCookies = { [self] loaded, current in list.withLock { $0.add(loaded: loaded, current: current) }
        }
    }

    /// Replaces the file; only its owner can read it.
    ///
    /// A file stays as it is when no cookie was used: it may be the one from which cookies are sent.
    package func save() throws(Failure) {
        let list = list.withLock { $0 }
        guard list.isKnown || !nameExists(path) else { return }
        try AtomicFile.replace(path, with: Array(list.text(now: UnixTime(seconds: Int64(time(nil)))).utf8))
    }
}
