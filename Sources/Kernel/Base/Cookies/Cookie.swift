/// A cookie as it is stored.
struct Cookie: Hashable, Sendable {
    /// What identifies it within its domain.
    struct Key: Hashable, Sendable {
        @Bytewise var name: String
        @Bytewise var path: String
        /// Whether it is not sent to the hosts below its domain.
        var isHostOnly: Bool
    }

    var key: Key
    @Bytewise var value: String
    /// In lower case, without a dot before it.
    @Bytewise var domain: String
    var isSecure: Bool
    var isOnlyOverHTTP: Bool
    /// In seconds since 1970, never 0 there; 0 for a session cookie.
    var end: Int64
    /// Whether a response set it.
    let isReceived: Bool
    /// Its place in the order of creation.
    var number = 0

    var size: Int { key.name.utf8.count + key.path.utf8.count + value.utf8.count + domain.utf8.count }

    func isExpired(_ now: UnixTime) -> Bool { end != 0 && end <= now.seconds }
}

// Set by a response.
extension Cookie {
    /// `nil` when the host may not set it.
    init?(_ field: SetCookie, from address: WebAddress, now: UnixTime) {
        guard field.maySet(from: address.host) else { return nil }
        let domain = field.domain.map { Array($0.utf8).drop { $0 == .dot }.map(\.lowercased) }
        // RFC 6265 §5.1.4.
        let slash = address.path.utf8.lastIndex(of: .slash) ?? address.path.startIndex
        let folder = slash == address.path.startIndex ? "/" : String(address.path[..<slash])
        key = Key(
            name: field.name, path: field.path ?? folder,
            isHostOnly: domain == nil || NumericAddress.isOne(address.host))
        value = field.value
        self.domain = domain.map { String(decoding: $0, as: UTF8.self) } ?? address.host
        isSecure = field.isSecure
        isOnlyOverHTTP = field.isOnlyOverHTTP
        end = Self.end(of: field, now)
        isReceived = true
    }

    private static func end(of field: SetCookie, _ now: UnixTime) -> Int64 {
        if let age = field.maximumAge {
            return age > 0 ? max(1, now.seconds) + min(age, CookieJar.Limit.lifetime) : 1
        }
        return field.expires.flatMap { UnixTime(cookieDate: $0) }.map { max(1, $0.seconds) } ?? 0
    }
}

// A line of a file in the Netscape format: domain, whether it is sent to subdomains, path, whether only over TLS, end in
// seconds since 1970, name, value.
extension Cookie {
    /// What curl writes before the domain of a cookie with HttpOnly; without it the line would be a comment.
    private static let onlyOverHTTP = "#HttpOnly_"

    /// The line is one without white space around it.
    init?(netscape line: ArraySlice<UInt8>) {
        let isOnlyOverHTTP = line.starts(with: Self.onlyOverHTTP.utf8)
        let columns = line.dropFirst(isOnlyOverHTTP ? Self.onlyOverHTTP.utf8.count : 0).pieces(between: .tab)
        // An empty value was trimmed away, with the tab before it.
        guard 6...7 ~= columns.count, line.first != .hash || isOnlyOverHTTP else { return nil }
        let domain = columns[0].drop { $0 == .dot }.map(\.lowercased)
        let name = columns[5].trimmed(\.isBlank)
        let value = columns.count == 7 ? columns[6] : []
        guard !domain.isEmpty, domain.allSatisfy({ $0 > .space && $0 != .hash }), !name.isEmpty,
            !line.contains(where: { $0.isControl && $0 != .tab }),
            !name.contains(.semicolon), !value.contains(.semicolon), let end = Self.end(columns[4])
        else { return nil }
        let path = columns[2].first == .slash ? columns[2] : [.slash]
        key = Key(
            name: String(decoding: name, as: UTF8.self), path: String(decoding: path, as: UTF8.self),
            isHostOnly: !columns[1].isCaseInsensitively("true"))
        self.value = String(decoding: value, as: UTF8.self)
        self.domain = String(decoding: domain, as: UTF8.self)
        isSecure = columns[3].isCaseInsensitively("true")
        self.isOnlyOverHTTP = isOnlyOverHTTP
        self.end = end
        isReceived = false
    }

    var line: String {
        let columns = [
            (isOnlyOverHTTP ? Self.onlyOverHTTP : "") + (key.isHostOnly ? "" : ".") + domain,
            key.isHostOnly ? "FALSE" : "TRUE", key.path, isSecure ? "TRUE" : "FALSE", "\(end)", key.name, value,
        ]
        return columns.joined(separator: "\t")
    }

    /// Some programs write nothing for a session cookie, or fractions of a second.
    private static func end(_ column: ArraySlice<UInt8>) -> Int64? {
        if column.isEmpty { return 0 }
        if column.first == .dash { return 1 }
        let digits = column.prefix(while: \.isDigit)
        return digits.isEmpty ? nil : digits.decimalNumber ?? .max
    }
}
