/// A parsed absolute URL of a supported scheme (RFC 3986), without its user info and fragment.
///
/// The parts are stored in the form in which they are sent, so no second parser can find another host in
/// them.
package struct WebAddress: Hashable, Sendable {
    package enum Scheme: Hashable, Sendable {
        case http
        case https
        case ftp
        case ftps
        case sftp
        /// Without a host: a feature knows by which URL it is requested.
        case located(LocatedScheme)
    }

    /// By reference: an address is passed on some fifty times for one small file, and each copy of its parts would
    /// count three references.
    private final class Parts: Sendable {
        let scheme: Scheme
        let host: String
        let port: UInt16
        let path: String
        let query: String?
        let text: String

        init(_ scheme: Scheme, _ host: String, _ port: UInt16, _ path: String, _ query: String?, text: String? = nil) {
            self.scheme = scheme
            self.host = host
            self.port = port
            self.path = path
            self.query = query
            self.text = text ?? WebAddress.text(scheme, host, port, path, query)
        }
    }

    private var parts: Parts

    package var scheme: Scheme { parts.scheme }
    /// ASCII in lower case (`xn--…` for other scripts); an IPv6 literal without its brackets.
    package var host: String { parts.host }
    /// Never absent: the scheme's default when the URL has none.
    package var port: UInt16 { parts.port }
    /// Percent-encoded, begins with `/`.
    package var path: String {
        get { parts.path }
        set { parts = Parts(scheme, host, port, newValue, query) }
    }
    /// Percent-encoded, without the `?`; `nil` when there is none.
    package var query: String? {
        get { parts.query }
        set { parts = Parts(scheme, host, port, path, newValue) }
    }
    /// The URL for libcurl and for the journal: no user info, no fragment, the port only where it is not the
    /// default.
    package var text: String { parts.text }

    package init(scheme: Scheme, host: String, port: UInt16, path: String, query: String?) {
        parts = Parts(scheme, host, port, path, query)
    }

    /// Without a query; `text` is the address's own.
    init(scheme: Scheme, host: String, port: UInt16, path: String, text: String) {
        parts = Parts(scheme, host, port, path, nil, text: text)
    }

    /// Their texts differ where any part does; the keys of objects are not percent-encoded in theirs.
    package static func == (left: WebAddress, right: WebAddress) -> Bool {
        left.parts === right.parts || left.text.hasSameBytes(as: right.text)
    }

    package func hash(into hasher: inout Hasher) { text.hashBytes(into: &hasher) }
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

extension WebAddress { package var origin: Origin { Origin(scheme: scheme, host: host, port: port) } }

/// The user name and password of a URL or an option, for one origin.
package struct Credentials: Hashable, Sendable {
    @Bytewise package var user: String
    @Bytewise package var password: String

    package init(user: String, password: String) {
        self.user = user
        self.password = password
    }
}
