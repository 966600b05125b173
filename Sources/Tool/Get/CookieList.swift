import Glibc
package import Pawl
package import PawlBase
import PawlSystem
import Synchronization

/// Cookies as lines of the Netscape format: domain, whether subdomains match, path, whether only TLS, expiry in seconds
/// since 1970 (0 for a session cookie), name and value, separated by tabs.
///
/// The cookies of different origins are kept apart while they are in use, and each origin starts with those of the loaded
/// file. A list is what they become together: what one origin changed counts, not what the others still have from the file.
package struct CookieList: Hashable, Sendable {
    /// What identifies a cookie (RFC 6265 §5.3, step 11).
    private struct Key: Hashable {
        @Bytewise private var columns: [String]

        /// `nil` for a line that is no cookie.
        init?(_ line: String) {
            let columns = line.unicodeScalars.split(separator: "\t", maxSplits: 6, omittingEmptySubsequences: false).map
            { Substring($0) }
            guard columns.count == 7 else { return nil }
            let domain = columns[0].afterBytes(of: Self.onlyOverHTTP) ?? String(columns[0])
            _columns = Bytewise([domain, String(columns[2]), String(columns[5])])
        }

        /// What curl writes before the domain of a cookie with the attribute HttpOnly.
        private static let onlyOverHTTP = "#HttpOnly_"
    }

    private var lines: [Key: String] = [:]
    private var changed: Set<Key> = []
    /// Whether the cookies of any origin were added.
    package private(set) var isKnown = false

    package init() {}

    /// Adds the cookies of an origin: those that it started with, and those that it has now.
    package mutating func add(loaded: [String], current: [String]) {
        isKnown = true
        let present = Set(current.compactMap(Key.init))
        for line in loaded {
            guard let key = Key(line), !changed.contains(key) else { continue }
            lines[key] = present.contains(key) ? line : nil
            if !present.contains(key) { changed.insert(key) }
        }
        let former = Set(loaded.map { Bytewise($0) })
        for line in current where !former.contains(Bytewise(line)) {
            guard let key = Key(line) else { continue }
            lines[key] = line
            changed.insert(key)
        }
    }

    /// The content of a cookie file, without the cookies that have expired.
    package func text(now: UnixTime) -> String {
        let valid = lines.values.filter { line in
            let end = Int64(line.split(separator: "\t", omittingEmptySubsequences: false)[4]) ?? 0
            return end <= 0 || end > now.seconds
        }
        return "# Netscape HTTP Cookie File\n\n" + valid.sorted().map { $0 + "\n" }.joined()
    }
}

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
