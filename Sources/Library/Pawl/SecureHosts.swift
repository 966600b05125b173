package import PawlBase

/// Hosts that require TLS (RFC 6797), stored between runs in the format of curl's `--hsts`.
///
/// Any process that can write to the state folder may have written it: malformed lines are ignored.
package struct SecureHosts: Hashable, Sendable {
    private struct Entry: Hashable, Sendable {
        var includesSubdomains: Bool
        /// The time of expiry, in seconds since 1970.
        var until: Int64
    }

    /// The maximum number of hosts; beyond it those that expire first are removed.
    package static let mostHosts = 1000
    /// A longer text was not written by Pawl.
    package static let mostBytes = 512 * 1024
    /// The maximum age: two years, as the preload lists require.
    private static let longestAge: Int64 = 2 * 366 * 86_400
    private static let longestName = 253
    /// The last second of the year 9999, the last that the format can express.
    private static let lastTime: Int64 = 253_402_300_799

    private var entries: [String: Entry] = [:]

    package init() {}

    /// The entries valid at `now` of lines `NAME "YYYYMMDD HH:MM:SS"`; a dot before the name includes its
    /// subdomains.
    package init(parsing bytes: [UInt8], now: UnixTime) {
        guard bytes.count <= Self.mostBytes else { return }
        for line in bytes.split(separator: .lineFeed) where line.first != .hash {
            let parts = line.split(separator: .space, maxSplits: 1)
            guard parts.count == 2, let until = Self.time(parts[1].trimmed(\.isWhiteSpace)) else { continue }
            let isBroad = parts[0].first == .dot
            let name = String(decoding: isBroad ? parts[0].dropFirst() : parts[0], as: UTF8.self).lowercased()
            let last = now.seconds.addingReportingOverflow(Self.longestAge)
            guard Self.isName(name), !last.overflow else { continue }
            let kept = min(until, last.partialValue, Self.lastTime)
            guard kept > now.seconds else { continue }
            entries[name] = Entry(includesSubdomains: isBroad, until: kept)
        }
        trim()
    }

    package var isEmpty: Bool { entries.isEmpty }

    package var text: String {
        entries.sorted { $0.key < $1.key }.reduce(into: "") { text, entry in
            let dot = entry.value.includesSubdomains ? "." : ""
            text += "\(dot)\(entry.key) \"\(Self.text(of: entry.value.until))\"\n"
        }
    }

    /// Notes a field received over an authenticated connection to the host; `false` when it changed nothing.
    package mutating func note(_ field: String, of host: String, now: UnixTime) -> Bool {
        let name = host.lowercased()
        guard Self.isName(name), let (age, includesSubdomains) = Self.parse(field) else { return false }
        guard age > 0 else { return entries.removeValue(forKey: name) != nil }
        let (until, overflows) = now.seconds.addingReportingOverflow(min(age, Self.longestAge))
        guard !overflows, until <= Self.lastTime else { return false }
        let before = entries[name]
        // The same policy within an hour is not worth a write.
        if let before, before.includesSubdomains == includesSubdomains, before.until / 86_400 == until / 86_400 {
            return false
        }
        entries[name] = Entry(includesSubdomains: includesSubdomains, until: until)
        trim()
        return true
    }

    /// The address with the scheme to use: over TLS where its host, or one above it, requires that (RFC 6797
    /// §8.3).
    package func secured(_ address: WebAddress, now: UnixTime) -> WebAddress {
        guard address.scheme == .http, demands(address.host.lowercased(), now: now) else { return address }
        let port =
            address.port == WebAddress.Scheme.http.defaultPort ? WebAddress.Scheme.https.defaultPort : address.port
        return WebAddress(scheme: .https, host: address.host, port: port, path: address.path, query: address.query)
    }

    private func demands(_ host: String, now: UnixTime) -> Bool {
        guard !entries.isEmpty, Self.isName(host) else { return false }
        if let entry = entries[host], entry.until > now.seconds { return true }
        var rest = host[...]
        while let dot = rest.firstIndex(of: ".") {
            rest = rest[rest.index(after: dot)...]
            if let entry = entries[String(rest)], entry.includesSubdomains, entry.until > now.seconds { return true }
        }
        return false
    }

    private mutating func trim() {
        guard entries.count > Self.mostHosts else { return }
        let kept = entries.sorted { ($1.value.until, $0.key) < ($0.value.until, $1.key) }
        entries = Dictionary(uniqueKeysWithValues: kept.prefix(Self.mostHosts).map { ($0.key, $0.value) })
    }

    /// A name of letters, digits, dots and dashes; the policy does not apply to IP addresses (RFC 6797
    /// §8.1.1).
    private static func isName(_ name: String) -> Bool {
        let bytes = Array(name.utf8)
        guard 1...longestName ~= bytes.count, bytes.first != .dot, let last = bytes.split(separator: .dot).last else {
            return false
        }
        let isPlain = bytes.allSatisfy { $0.isDigit || (0x61...0x7A).contains($0) || $0 == .dot || $0 == .dash }
        return isPlain && !last.allSatisfy(\.isDigit) && name != "localhost"
    }
}

// MARK: - Parsing and writing

extension SecureHosts {
    /// Strict-Transport-Security (RFC 6797 §6.1); `nil` for a field to ignore.
    package static func parse(_ field: String) -> (age: Int64, includesSubdomains: Bool)? {
        var age: Int64?
        var includesSubdomains = false
        for directive in Array(field.utf8).pieces(between: .semicolon) {
            let parts = directive.split(separator: .equals, maxSplits: 1).map { $0.trimmed(\.isBlank) }
            guard let name = parts.first, !name.isEmpty else { continue }
            if name.isCaseInsensitively("max-age") {
                // A repeated directive makes the field void.
                guard age == nil, parts.count == 2 else { return nil }
                var digits = parts[1]
                if digits.count >= 2, digits.first == .quote, digits.last == .quote {
                    digits = digits.dropFirst().dropLast()
                }
                guard !digits.isEmpty, digits.allSatisfy(\.isDigit) else { return nil }
                age = digits.decimalNumber ?? .max
            } else if name.isCaseInsensitively("includesubdomains") {
                guard !includesSubdomains, parts.count == 1 else { return nil }
                includesSubdomains = true
            }
        }
        return age.map { ($0, includesSubdomains) }
    }

    /// Parses `"20270101 12:00:00"`, and `"unlimited"`, which curl writes too.
    private static func time(_ text: ArraySlice<UInt8>) -> Int64? {
        guard text.count >= 2, text.first == .quote, text.last == .quote else { return nil }
        let value = Array(text.dropFirst().dropLast())
        if value[...].isCaseInsensitively("unlimited") { return .max }
        guard value.count == 17, value[8] == .space, value[11] == .colon, value[14] == .colon,
            let year = value[0..<4].decimalNumber, let month = value[4..<6].decimalNumber,
            let day = value[6..<8].decimalNumber, let hour = value[9..<11].decimalNumber,
            let minute = value[12..<14].decimalNumber, let second = value[15..<17].decimalNumber, 1...12 ~= month,
            1...31 ~= day, hour < 24, minute < 60, second < 61
        else { return nil }
        return UnixTime.days(year: year, month: month, day: day) * 86_400 + hour * 3600 + minute * 60 + second
    }

    private static func text(of seconds: Int64) -> String {
        let (year, month, day) = UnixTime.civil(seconds / 86_400)
        func two(_ number: Int64) -> String { (number < 10 ? "0" : "") + "\(number)" }
        let rest = seconds % 86_400
        return "\(year)\(two(month))\(two(day)) \(two(rest / 3600)):\(two(rest / 60 % 60)):\(two(rest % 60))"
    }
}
