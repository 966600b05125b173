/// Receives the cookies of an origin, as lines of the Netscape format: those that it started with, and those that it has.
package typealias CookieReceiver = @Sendable (_ loaded: [String], _ current: [String]) -> Void

/// The cookies of one user agent (RFC 6265 §5.3-5.4): those of a file, and what responses made of them.
package struct CookieJar: Hashable, Sendable {
    package enum Limit {
        /// Name, value, domain and path together.
        package static let cookie = 4_096
        package static let cookiesOfResponse = 50
        package static let cookiesOfDomain = 180
        package static let cookies = 3_000
        package static let sentCookies = 150
        package static let field = 8_190
        /// A file of so many bytes is read.
        package static let file = 4 << 20
        /// The longest lifetime, in seconds: 400 days.
        package static let lifetime: Int64 = 400 * 86_400
    }

    private typealias Domain = Bytewise<String>

    private var domains: [Domain: [Cookie.Key: Cookie]] = [:]
    /// How many there were ever, which is their order.
    private var created = 0
    /// How many of those that there are come from responses: only these are limited.
    private var received = 0

    package init() {}

    /// Reads a file in the Netscape format; what is no cookie in it is left out.
    package init(netscape file: [UInt8]) {
        for line in file.split(separator: .lineFeed) {
            if let cookie = Cookie(netscape: line.trimmed(\.isWhiteSpace)) { insert(cookie) }
        }
    }

    package var isEmpty: Bool { domains.isEmpty }

    /// The lines of a file in the Netscape format, the oldest cookie first.
    package var lines: [String] { domains.values.joined().map(\.value).sorted { $0.number < $1.number }.map(\.line) }

    /// The value of the Cookie field for a request.
    package func field(for address: WebAddress, now: UnixTime) -> String? {
        guard !domains.isEmpty else { return nil }
        let (host, isProtected) = (address.host, Self.isProtected(address))
        let found = Self.domains(of: host).flatMap { domain in
            (domains[domain] ?? [:]).values.filter { cookie in
                (!cookie.key.isHostOnly || domain.wrappedValue.hasSameBytes(as: host))
                    && (!cookie.isSecure || isProtected) && !cookie.isExpired(now)
                    && Self.path(address.path, matches: cookie.key.path)
            }
        }
        let sorted = found.sorted { left, right in
            let lengths = (left.key.path.utf8.count, right.key.path.utf8.count)
            return lengths.0 == lengths.1 ? left.number < right.number : lengths.0 > lengths.1
        }
        var field = ""
        for cookie in sorted.prefix(Limit.sentCookies) {
            let pair = (field.isEmpty ? "" : "; ") + "\(cookie.key.name)=\(cookie.value)"
            guard field.utf8.count + pair.utf8.count <= Limit.field else { break }
            field += pair
        }
        return field.isEmpty ? nil : field
    }

    /// Does what the Set-Cookie fields of a response say, as far as its origin may.
    package mutating func store(_ fields: [String], from address: WebAddress, now: UnixTime) {
        for field in fields.prefix(Limit.cookiesOfResponse) {
            guard let cookie = SetCookie(parsing: field).flatMap({ Cookie($0, from: address, now: now) }),
                cookie.size <= Limit.cookie, mayStore(cookie, from: address)
            else { continue }
            guard !cookie.isExpired(now) else {
                remove(cookie)
                continue
            }
            insert(cookie)
            shrink(cookie.domain, now)
        }
    }

    // MARK: changes

    /// What was sent over TLS is not replaced without it (RFC 6265bis §5.7), nor is there a cookie that seems to come from
    /// there; the prefixes of names state more (§4.1.3).
    private func mayStore(_ cookie: Cookie, from address: WebAddress) -> Bool {
        let name = cookie.key.name.utf8
        if name.prefix(9).isCaseInsensitively("__secure-"), !cookie.isSecure { return false }
        if name.prefix(7).isCaseInsensitively("__host-"),
            !cookie.isSecure || !cookie.key.isHostOnly || !cookie.key.path.hasSameBytes(as: "/")
        {
            return false
        }
        guard !Self.isProtected(address) else { return true }
        return !cookie.isSecure
            && !Self.domains(of: address.host).contains { domain in
                (domains[domain] ?? [:]).values.contains { known in
                    known.isSecure && known.key.name.hasSameBytes(as: cookie.key.name)
                        && Self.path(cookie.key.path, matches: known.key.path)
                }
            }
    }

    private mutating func insert(_ cookie: Cookie) {
        var cookie = cookie
        let former = remove(cookie)
        created += 1
        cookie.number = former?.number ?? created
        if cookie.isReceived { received += 1 }
        domains[Domain(cookie.domain), default: [:]][cookie.key] = cookie
    }

    @discardableResult private mutating func remove(_ cookie: Cookie) -> Cookie? {
        let domain = Domain(cookie.domain)
        guard let former = domains[domain]?.removeValue(forKey: cookie.key) else { return nil }
        if domains[domain]?.isEmpty == true { domains[domain] = nil }
        if former.isReceived { received -= 1 }
        return former
    }

    /// Forgets cookies of responses beyond the limits: first those that have expired, then the oldest.
    private mutating func shrink(_ domain: String, _ now: UnixTime) {
        func victim(_ cookies: some Sequence<Cookie>) -> Cookie? {
            cookies.lazy.filter(\.isReceived).min {
                ($0.isExpired(now) ? 0 : 1, $0.number) < ($1.isExpired(now) ? 0 : 1, $1.number)
            }
        }
        let here = domains[Domain(domain)] ?? [:]
        if here.values.lazy.filter(\.isReceived).count > Limit.cookiesOfDomain {
            victim(here.values).map { _ = remove($0) }
        }
        if received > Limit.cookies { victim(domains.values.lazy.flatMap(\.values)).map { _ = remove($0) } }
    }

    // MARK: matching

    /// Whether what is sent is read by nobody on the way.
    private static func isProtected(_ address: WebAddress) -> Bool {
        address.scheme == .https || ["localhost", "127.0.0.1", "::1"].contains(address.host)
    }

    /// The host and the domains above it, whose cookies it gets; a numeric host has none above.
    private static func domains(of host: String) -> [Domain] {
        guard !NumericAddress.isOne(host) else { return [Domain(host)] }
        let bytes = Array(host.utf8)
        return [Domain(host)]
            + bytes.indices.filter { bytes[$0] == .dot }.map {
                Domain(String(decoding: bytes[($0 + 1)...], as: UTF8.self))
            }
    }

    /// RFC 6265 §5.1.4.
    private static func path(_ path: String, matches cookies: String) -> Bool {
        guard path.beginsWithBytes(of: cookies) else { return false }
        let rest = path.utf8.dropFirst(cookies.utf8.count)
        return rest.isEmpty || cookies.utf8.last == .slash || rest.first == .slash
    }
}
