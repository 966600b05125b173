import PawlBase
import PawlJournal

/// Options of one download: how it is fetched and where it is stored.
///
/// The defaults are those of `pawl get`. Where no default is stated, a value is `nil` and a list empty: nothing of that kind
/// is used.
public struct DownloadOptions: Sendable, Hashable {
    /// The folder for the file, created if missing; relative paths start at the working directory.
    ///
    /// Default `.`.
    public var folder = "."
    /// The file's name inside `folder`; `nil` (default) uses the server's or the URL's, see ``naming``.
    public var fileName: String?
    /// The source of the name when ``fileName`` is `nil`.
    ///
    /// Default ``Naming/server``.
    public var naming = Naming.server
    /// What happens when a finished file of that name exists.
    ///
    /// Default ``ExistingFile/rename``.
    public var existingFile = ExistingFile.rename
    /// Connections to one file: 1…60, or `nil` (default) for an automatic number up to 32.
    public var connections: Int?
    /// Further URLs of the same content, used in parallel with the first.
    public var mirrors: [String] = []
    /// Extra request header lines, `Name: value`.
    ///
    /// They are sent to the given origins only, except `Accept`, fields that begin with `Accept-`, and
    /// `User-Agent`; see ``trustsRedirects``. `Range`, `If-Range` and `Accept-Encoding` are replaced by Pawl's own;
    /// ``range`` is for a part of a file. `Content-Length` and `Transfer-Encoding` are left out, and a line without a value
    /// removes that field.
    public var headers: [String] = []
    /// User name for the given origins; basic or digest authentication, as the server requires.
    ///
    /// Default `nil`, none.
    public var user: String?
    /// The password that goes with ``user``.
    ///
    /// Default `nil`, none.
    public var password: String?
    /// A netrc file; `""` means `~/.netrc`.
    ///
    /// `nil` (default) reads none.
    public var netrc: String?
    /// The profile of AWS's configuration files with the credentials and the endpoint for `s3:` URLs.
    ///
    /// `nil` (default) uses `AWS_ACCESS_KEY_ID` and the other variables of the environment, else the profile that
    /// `AWS_PROFILE` names, else `default`.
    public var profile: String?
    /// The region of the bucket of an `s3:` URL; `nil` (default) takes it from the environment or the profile, else
    /// `us-east-1`.
    ///
    /// AWS states the right one if it is another, and the request is repeated.
    public var region: String?
    /// The URL of another object store than AWS's for `s3:` URLs; `nil` (default) takes it from the environment
    /// (`AWS_ENDPOINT_URL_S3`, `AWS_ENDPOINT_URL`) or the profile.
    ///
    /// For `hf:` URLs the hub (default `HF_ENDPOINT`, else huggingface.co), for `oci:` URLs a server in place of each
    /// registry.
    public var endpoint: String?
    /// Whether requests for `s3:` URLs are signed, and those for `hf:` and `oci:` URLs have a token or login; without
    /// credentials they never are.
    ///
    /// Default `true`.
    public var signsRequests = true
    /// Whether the programs that Docker's and containers' configuration names (`credHelpers`, `credsStore`) are run for logins
    /// to the registries of `oci:` URLs: `docker-credential-NAME get`.
    ///
    /// Each is asked once for a registry, when manifests are fetched. Default `false`.
    public var runsCredentialHelpers = false
    /// The Referer field; other origins than the given ones get only its origin.
    ///
    /// Default `nil`, none.
    public var referer: String?
    /// The User-Agent field.
    ///
    /// Default `Pawl/VERSION`.
    public var userAgent: String?
    /// A Netscape cookie file to read (never written).
    ///
    /// Default `nil`, none.
    public var cookieFile: String?
    /// `http`, `https`, `socks4`, `socks4a`, `socks5` or `socks5h` URL; `nil` (default) uses the environment
    /// variables that curl uses, `""` disables them.
    public var proxy: String?
    /// Hosts that bypass the proxy, in the format of curl's `NO_PROXY`; an entry `HOST:PORT` is for that port only.
    ///
    /// Default `nil`, those of the environment.
    public var noProxy: String?
    /// The network interface, or the local address, to connect from.
    ///
    /// A missing one is treated as a network that is down. Default `nil`, the system's choice.
    public var interface: String?
    /// The version of the Internet Protocol of connections, also of those to a proxy.
    ///
    /// A host without an address of that version fails with ``PawlError/Code/nameResolution``. Default ``IPVersion/any``.
    public var ipVersion = IPVersion.any
    /// Whether TLS certificates and SSH host keys are verified.
    ///
    /// Default `true`.
    public var verifiesPeer = true
    /// A PEM file of certificate authorities that replaces the system's trust store.
    ///
    /// Default `nil`, the trust store.
    public var authorityFile: String?
    /// Client certificate, PEM file.
    ///
    /// Default `nil`, none.
    public var certificate: String?
    /// Client key, PEM file.
    ///
    /// Default `nil`, none.
    public var key: String?
    /// Digests of the public keys that a server may have: `sha256//` and the Base64 form of the SHA-256 digest of its
    /// SubjectPublicKeyInfo (RFC 7469 §2.4), as curl's `--pinnedpubkey`.
    ///
    /// One of several has to match. They are checked in every TLS handshake before the request is sent: with mirrors,
    /// redirect targets and through tunnels of proxies too, and also without ``verifiesPeer``; they do not apply to
    /// proxies themselves, to `http`, `ftp` and `sftp`. Another key fails with ``PawlError/Code/insecure``, without a
    /// retry. Default none.
    public var pinnedPublicKeys: [String] = []
    /// Addresses to connect to instead of resolving a name: `HOST:PORT:ADDRESS`, as curl's `--resolve`.
    ///
    /// `ADDRESS` is one numeric IPv4 or IPv6 address, `*` stands for any host. Certificates are verified for the name in
    /// the URL, and ``DownloadManager/Configuration/deniesPrivateAddresses`` applies to the address. With a proxy, that
    /// proxy receives the address. Default none.
    public var addressOverrides: [String] = []
    /// This download's own limit in bytes per second, `nil` (default) for none.
    public var rateLimit: Int64?
    /// Lowest speed in bytes per second: a connection that is no faster for ten seconds is closed and
    /// replaced.
    ///
    /// Each counts as an attempt, see ``retries``, and such progress does not reset the count; the last one
    /// fails with ``PawlError/Code/tooSlow``. Default `nil`, no minimum.
    public var lowestSpeed: Int64?
    /// The expected digest of the content, `type=hex`: `sha-256`, `sha-512`, `sha-384`, `sha-224`, `blake2b`,
    /// `sha3-256`, `sha3-512`, `sha3-384`, `sha3-224`, `sha-512-256`, `blake2s`, `sm3`, `sha-1`, `git-blob`, `md5`,
    /// `crc64nvme`, `crc32c`, `crc32` or `adler32`.
    ///
    /// Several are separated by commas, and all must match. A URL may state one in its fragment too (`#sha256=HEX`).
    public var checksum: String?
    /// Which other digests of the content are looked for, and what the download must reach.
    ///
    /// A digest that does not fit always fails with ``PawlError/Code/checksumMismatch``, and the file is never
    /// published. Default ``VerificationPolicy/auto``.
    public var verification = VerificationPolicy.auto
    /// A file of OpenPGP public keys, binary or armored, whose signatures of sums files count; checked by `gpgv`.
    ///
    /// Default `nil`, none.
    public var openPGPKeyring: String?
    /// A public key of minisign whose signatures of sums files count: the key itself, or the file with it.
    ///
    /// Default `nil`, none.
    public var minisignKey: String?
    /// Whether bytes on disk that were found to have a wrong digest are discarded and downloaded again.
    ///
    /// Default `false`: the download fails again.
    public var retriesCorrupt = false
    /// Whether the URL and the SHA-256 digest are stored with the file, as the extended attributes
    /// `user.xdg.origin.url` and `user.pawl.sha256`.
    ///
    /// The URL is stored without user info and query. Default `false`.
    public var storesAttributes = false
    /// The expected size of the content in bytes.
    ///
    /// Another size fails with ``PawlError/Code/badResponse`` if the server sends the size, else with
    /// ``PawlError/Code/checksumMismatch``. It does not apply to a ``range``. Default `nil`, any size.
    public var expectedLength: Int64?
    /// Retries without progress before the download fails; progress resets the count.
    ///
    /// Default 5, at most 1,000,000; 0 disables retries, and each remaining mirror is still tried once.
    public var retries = 5
    /// The wait before the first retry, doubled with jitter up to a minute; a longer Retry-After takes precedence,
    /// see ``maximumRetryAfter``.
    ///
    /// Default one second, at most a day. Zero means a tenth of a second, doubled likewise.
    public var retryDelay = Duration.seconds(1)
    /// The time without any data after which a connection is dropped: while connecting, before the response, or
    /// between bytes.
    ///
    /// Default 30 seconds, at most a day.
    public var timeout = Duration.seconds(30)
    /// The time to establish a connection; at most ``timeout``.
    ///
    /// Default `nil`, the same as ``timeout``.
    public var connectTimeout: Duration?
    /// The maximum number of redirects to follow.
    ///
    /// Default 20, at most 1000.
    public var maximumRedirects = 20
    /// Whether a redirect from `https` to `http` is followed.
    ///
    /// Default `false`: the download fails with ``PawlError/Code/insecure``.
    public var allowsDowngrade = false
    /// Whether headers, credentials, cookies and the client certificate are also sent to the targets of
    /// redirects.
    ///
    /// Never from `https` to `http`. Default `false`, only to the given origins.
    public var trustsRedirects = false
    /// The longest Retry-After that is obeyed.
    ///
    /// Default an hour, at most a day.
    public var maximumRetryAfter = Duration.seconds(3600)
    /// The bytes to download: `A-B` (inclusive), `A-`, or `-N` (the last N).
    ///
    /// Default `nil`, the whole content.
    public var range: String?
    /// Whether the file's modification time is set from Last-Modified.
    ///
    /// Default `true`.
    public var keepsServerTime = true
    /// The caller's own text, returned in snapshots.
    ///
    /// Default `nil`, none.
    public var taskDescription: String?

    /// The caller's own values, which a manager stores with the download.
    ///
    /// The manager does not interpret them. Default none.
    public var attributes: [String: String] = [:]

    /// Whether the user's keys (`~/.ssh`), netrc file and proxies with credentials may be used.
    ///
    /// `false` for downloads that another party requested.
    package var usesOwnersSecrets = true

    /// Whether addresses of this machine and of private networks are refused, as
    /// ``DownloadManager/Configuration/deniesPrivateAddresses`` does for all downloads.
    package var deniesPrivateAddresses = false

    /// Creates options with all defaults.
    public init() {}

    /// The source of file names.
    public enum Naming: String, Sendable, Hashable, CaseIterable {
        /// The server's Content-Disposition, else the URL's last path component.
        case server
        /// The URL's last path component.
        case url
        /// A hash of the URL, with the extension kept: unique and stable.
        case hash
    }

    /// The digests that are looked for, besides those that are given.
    public enum VerificationPolicy: String, Sendable, Hashable, CaseIterable {
        /// Fields of the responses; nothing more is requested.
        case auto
        /// As ``auto``, and sums files beside the content (`NAME.sha256`, `SHA256SUMS` and others) are requested.
        case sidecar
        /// As ``sidecar``; fails unless a digest was given, or a sums file has a good signature by a given key.
        ///
        /// Refused without ``DownloadOptions/openPGPKeyring`` and ``DownloadOptions/minisignKey``.
        case signed
        /// As ``sidecar``; fails if nothing verifies the content.
        case required
        /// None: only what is given counts.
        case off
    }

    /// The versions of the Internet Protocol of connections.
    public enum IPVersion: String, Sendable, Hashable, CaseIterable {
        /// What the system prefers of the addresses of a host.
        case any
        /// IPv4 only.
        case v4 = "4"
        /// IPv6 only.
        case v6 = "6"
    }

    /// The policy for a finished file of the same name.
    public enum ExistingFile: String, Sendable, Hashable, CaseIterable {
        /// Keep it; the new file becomes `name (1).ext`.
        case rename
        /// Resume from it: it is the beginning of this download. Samples of it are compared with the server's content; a
        /// file that aria2, axel or lftp has not finished fails with ``PawlError/Code/fileExists``.
        case resume
        /// Replace it when the new file is complete.
        case overwrite
        /// Keep it and finish the download.
        case skip
        /// Fail with ``PawlError/Code/fileExists``.
        case fail
    }
}
