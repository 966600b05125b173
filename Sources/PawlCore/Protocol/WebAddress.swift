/// A parsed absolute URL of a supported scheme (RFC 3986), without its user info and fragment.
///
/// The parts are stored in the form in which they are sent, so no second parser can find another host in
/// them.
package struct WebAddress: Hashable, Sendable {
    package enum Scheme: String, Hashable, Sendable, CaseIterable {
        case http
        case https
        case ftp
        case ftps
        case sftp
        /// An object store; see `S3Access`.
        case s3
    }

    package var scheme: Scheme
    /// ASCII in lower case (`xn--…` for other scripts); an IPv6 literal without its brackets.
    package var host: String
    /// Never absent: the scheme's default when the URL has none.
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

/// Scheme, host and port (RFC 6454 §4): the boundary that no secret crosses.
package struct Origin: Hashable, Sendable {
    package var scheme: WebAddress.Scheme
    package var host: String
    package var port: UInt16

    /// Without the scheme, whose hash is that of its name: few origins differ in nothing else.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(host)
        hasher.combine(port)
    }
}

extension WebAddress {
    package var origin: Origin { Origin(scheme: scheme, host: host, port: port) }
}

/// The user name and password of a URL or an option, for one origin.
package struct Credentials: Hashable, Sendable {
    package var user: String
    package var password: String

    package init(user: String, password: String) {
        self.user = user
        self.password = password
    }
}
