package import PawlBase

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
