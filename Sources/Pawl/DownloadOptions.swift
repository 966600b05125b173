/// How one download is fetched and where it goes.
///
/// Every field has the default that `pawl get` has.
public struct DownloadOptions: Sendable, Hashable {
    /// Folder for the file, made when missing; relative paths count from the working directory.
    ///
    /// Default `.`.
    public var folder = "."
    /// The file's name inside `folder`; `nil` (default) takes the server's or the URL's, see ``naming``.
    public var fileName: String?
    /// Where a name comes from when ``fileName`` is `nil`.
    ///
    /// Default ``Naming/server``.
    public var naming = Naming.server
    /// What happens when a finished file of the name is there.
    ///
    /// Default ``ExistingFile/rename``.
    public var existingFile = ExistingFile.rename
    /// Connections to one file: 1…64, or `nil` (default) for an automatic number up to 8.
    public var connections: Int?
    /// Further addresses of the same content, tried and used beside the first.
    public var mirrors: [String] = []
    /// Extra request header lines, `Name: value`.
    ///
    /// They stay with the given origins, but for `Accept`, those that begin with `Accept-`, and `User-Agent`; see
    /// ``trustsRedirects``.
    public var headers: [String] = []
    /// User name and password for the given origins; basic or digest, as the server asks.
    public var user: String?
    /// The password that goes with ``user``.
    public var password: String?
    /// A netrc file; `""` means the user's own.
    ///
    /// `nil` (default) reads none.
    public var netrc: String?
    /// The Referer field; another origin than the given ones gets no more of it than its origin.
    public var referer: String?
    /// The User-Agent field.
    ///
    /// Default `Pawl/VERSION`.
    public var userAgent: String?
    /// A Netscape cookie file to read (never written).
    public var cookieFile: String?
    /// `http`, `https`, `socks4`, `socks4a`, `socks5` or `socks5h` URL; `nil` (default) follows the environment as
    /// curl reads it, `""` uses none.
    public var proxy: String?
    /// Hosts that are reached without the proxy, as curl reads `NO_PROXY`.
    public var noProxy: String?
    /// The network interface, or the address of this machine, that connections go out by.
    ///
    /// One that is not there counts as a network that is down. Default `nil`, as the system chooses.
    public var interface: String?
    /// Whether servers must prove who they are (TLS certificates, SSH host keys).
    ///
    /// Default `true`.
    public var verifiesPeer = true
    /// A PEM file of certificate authorities instead of the system's.
    public var authorityFile: String?
    /// Client certificate, PEM file.
    public var certificate: String?
    /// Client key, PEM file.
    public var key: String?
    /// This download's own limit in bytes per second, `nil` (default) for none.
    public var rateLimit: Int64?
    /// Bytes per second: a connection that brings no more than this for ten seconds is closed and another one tried.
    ///
    /// It counts as an attempt, see ``retries``, which such progress does not begin anew; the last one fails with
    /// ``PawlError/Code/tooSlow``. Default `nil`, however slow.
    public var lowestSpeed: Int64?
    /// The digest that the content must have, `type=hex`: `sha-256`, `sha-512`, `sha-1` or `md5`.
    public var checksum: String?
    /// The bytes that the content must have.
    ///
    /// Another length fails with ``PawlError/Code/badResponse`` when the server tells it, else with
    /// ``PawlError/Code/checksumMismatch``. It says nothing of a ``range``. Default `nil`, which takes what comes.
    public var expectedLength: Int64?
    /// Attempts after the first that bring no new byte; progress starts the count again.
    ///
    /// Default 5, 0 means none; each mirror that is left is still tried once.
    public var retries = 5
    /// Seconds before the first retry, doubled with jitter up to 60; a server's longer Retry-After wins, see ``maximumRetryAfter``.
    ///
    /// Default 1. 0 is a tenth of a second, doubled likewise.
    public var retryDelay = 1.0
    /// Longest silence in seconds: connecting, waiting for the answer, or between bytes.
    ///
    /// Default 30.
    public var timeout = 30.0
    /// Longest wait in seconds for a connection to be made, of ``timeout`` at most.
    ///
    /// Default `nil`, all of ``timeout``.
    public var connectTimeout: Double?
    /// Redirects to follow.
    ///
    /// Default 20.
    public var maximumRedirects = 20
    /// Whether a redirect may lead from `https` to `http`.
    ///
    /// Default `false`: such a download fails with ``PawlError/Code/insecure``.
    public var allowsDowngrade = false
    /// Whether headers, user and password, cookies and client certificate go along to wherever redirects lead.
    ///
    /// Never from `https` to `http`. Default `false`, only to the given origins.
    public var trustsRedirects = false
    /// The longest wait in seconds that a server's Retry-After can ask for.
    ///
    /// Default 3600, a day at most.
    public var maximumRetryAfter = 3600.0
    /// Only these bytes: `A-B` (inclusive), `A-`, or `-N` (the last N).
    ///
    /// Default `nil`, the whole content.
    public var range: String?
    /// Whether the file gets the server's Last-Modified as its time.
    ///
    /// Default `true`.
    public var keepsServerTime = true
    /// A text of the caller's own that comes back in snapshots.
    public var taskDescription: String?

    /// Values of the caller's own that a manager keeps with the download.
    ///
    /// They mean nothing to it. Default none.
    public var attributes: [String: String] = [:]

    /// Whether the keys of the user's own (`~/.ssh`), netrc file and proxies with a login may be used.
    ///
    /// Not for what came from somebody else.
    package var usesOwnersSecrets = true

    /// Every default.
    public init() {}

    /// Where file names come from.
    public enum Naming: String, Sendable, Hashable, CaseIterable {
        /// The server's Content-Disposition, else the URL's last path component.
        case server
        /// The URL's last path component.
        case url
        /// A hash of the URL, with the extension kept: unique and stable.
        case hash
    }

    /// What happens to a finished file of the same name.
    public enum ExistingFile: String, Sendable, Hashable, CaseIterable {
        /// It stays; the new one becomes `name (1).ext`.
        case rename
        /// It counts as the beginning of this download and is continued.
        case resume
        /// It is replaced when the new one is complete.
        case overwrite
        /// It stays and the download counts as done.
        case skip
        /// The download fails with ``PawlError/Code/fileExists``.
        case fail
    }
}
