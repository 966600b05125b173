/// A parsed absolute URL of a scheme that Pawl fetches (RFC 3986), without its user info and fragment.
///
/// The parts are kept in the form in which they go on the wire, so no second parser can read another host out
/// of them.
package struct WebAddress: Hashable, Sendable {
    package enum Scheme: String, Hashable, Sendable, CaseIterable {
        case http
        case https
        case ftp
        case ftps
        case sftp
    }

    package var scheme: Scheme
    /// ASCII in lower case (`xn--…` for other scripts); an IPv6 literal without its brackets.
    package var host: String
    /// Always there: the scheme's default when the URL names none.
    package var port: UInt16
    /// Percent-encoded, begins with `/`.
    package var path: String
    /// Percent-encoded, without the `?`; `nil` when there is none.
    package var query: String?

    package init(scheme: Scheme, host: String, port: UInt16, path: String, query: String?) {
        self.scheme = scheme
        self.host = host
        self.port = port
        self.path = path
        self.query = query
    }
}

/// Scheme, host and port (RFC 6454 §4): the border that no secret crosses.
package struct Origin: Hashable, Sendable {
    package var scheme: WebAddress.Scheme
    package var host: String
    package var port: UInt16
}

extension WebAddress {
    package var origin: Origin { Origin(scheme: scheme, host: host, port: port) }
}

/// The user name and password that a URL or an option carries for one origin.
package struct Credentials: Hashable, Sendable {
    package var user: String
    package var password: String

    package init(user: String, password: String) {
        self.user = user
        self.password = password
    }
}
