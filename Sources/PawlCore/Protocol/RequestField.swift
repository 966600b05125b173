/// Which fields of a caller's own go along to an origin that the caller did not name.
///
/// Any field may hold a secret (`X-Api-Key`, `PRIVATE-TOKEN`): only those cross that say nothing of who asks.
package enum RequestField {
    /// `name` is in lower case.
    package static func mayCross(_ name: String) -> Bool {
        name == "accept" || name.hasPrefix("accept-") || name == "user-agent"
    }

    /// A Referer without path and query, and nothing of a secure one over an open connection (the policy
    /// `strict-origin` of W3C's Referrer Policy).
    package static func referer(_ text: String, acrossTo scheme: WebAddress.Scheme) -> String? {
        guard let address = try? WebAddress.parse(text).address,
            address.scheme == .http || address.scheme == .https && scheme.isSecure
        else { return nil }
        return "\(address.origin.text)/"
    }
}
