/// The value of a Set-Cookie field (RFC 6265 §5.2): the scope and the lifetime of a cookie.
package struct SetCookie: Hashable, Sendable {
    package var name: String
    package var value: String
    /// `nil` when the field has none that begins with a slash: then the request's folder is used.
    package var path: String?
    /// `nil` for a host-only cookie.
    package var domain: String?
    package var isSecure = false
    /// Whether scripts of a page may not read it (HttpOnly).
    package var isOnlyOverHTTP = false
    /// The lifetime in seconds, 0 to delete it; `nil` when the field has none.
    package var maximumAge: Int64?
    /// The unparsed date of Expires.
    package var expires: String?

    /// `nil` when there is no name, or a byte that is not allowed in a cookie.
    package init?(parsing field: String) {
        guard !field.utf8.contains(where: \.isControl) else { return nil }
        let parts = Array(field.utf8).pieces(between: .semicolon)
        guard let first = parts.first, let equals = first.firstIndex(of: .equals) else { return nil }
        let name = first[..<equals].trimmed(\.isBlank)
        guard !name.isEmpty else { return nil }
        self.name = String(decoding: name, as: UTF8.self)
        value = String(decoding: first[(equals + 1)...].trimmed(\.isBlank), as: UTF8.self)
        for part in parts.dropFirst() {
            let name = part.prefix { $0 != .equals }
            take(name.trimmed(\.isBlank), part[name.endIndex...].dropFirst().trimmed(\.isBlank))
        }
    }

    /// Whether a response from `host` may set it (RFC 6265 §5.3, step 6): for that host, or for a domain above it.
    ///
    /// A name of one label is no domain of anybody's. (Public suffixes such as `co.uk` are not known here.)
    package func maySet(from host: String) -> Bool {
        guard let domain else { return true }
        let name = Array(domain.utf8).drop { $0 == .dot }.map(\.lowercased)
        let own = Array(host.utf8).map(\.lowercased)
        if name == own { return true }
        return !NumericAddress.isOne(host) && name.contains(.dot) && own.suffix(name.count + 1) == [.dot] + name
    }

    /// Of two equal attributes the last one counts.
    private mutating func take(_ name: ArraySlice<UInt8>, _ value: ArraySlice<UInt8>) {
        let text = String(decoding: value, as: UTF8.self)
        if name.isCaseInsensitively("path") {
            path = value.first == .slash ? text : nil
        } else if name.isCaseInsensitively("domain") {
            domain = value.isEmpty ? nil : text
        } else if name.isCaseInsensitively("secure") {
            isSecure = true
        } else if name.isCaseInsensitively("httponly") {
            isOnlyOverHTTP = true
        } else if name.isCaseInsensitively("expires") {
            expires = text
        } else if name.isCaseInsensitively("max-age") {
            let digits = value.first == .dash ? value.dropFirst() : value
            guard !digits.isEmpty, digits.allSatisfy(\.isDigit) else { return }
            maximumAge = value.first == .dash ? 0 : digits.decimalNumber ?? .max
        }
    }
}
