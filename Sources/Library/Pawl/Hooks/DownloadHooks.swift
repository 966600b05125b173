/// Decisions of downloads that the program makes itself: asynchronous closures, none by default.
///
/// ```swift
/// var configuration = Downloader.Configuration()
/// configuration.hooks.adaptRequest = { request in
///     var request = request
///     request.set("Authorization", to: "Bearer \(await tokens.current())")
///     return request
/// }
/// configuration.hooks.validateResponse = { $0.response.contentType == "image/png" ? .allow : .cancel() }
/// ```
///
/// Each closure runs in a task of its own, and only what it decides waits for it: other connections and downloads
/// continue. A closure that never returns does not hold its download: a pause, a removal and a shutdown take effect at
/// once, cancel the task, and ignore what it returns later. There is no timeout. A download that is paused or loses the
/// network while a closure runs calls it again when it continues.
///
/// The closures of one download may run at the same time, one for each of its connections; set
/// ``DownloadOptions/connections`` to 1 where that matters. See <doc:Hooks>.
public struct DownloadHooks: Sendable {
    /// Called with each HTTP request before it is sent, those to redirects, retries and further ranges included.
    ///
    /// Returns the request to send: with a signed URL, or with header fields. An error that it throws ends the
    /// download with ``PawlError/Code/rejected``, and is its ``PawlError/underlying`` error. Default `nil`.
    public var adaptRequest: (@Sendable (OutgoingRequest) async throws -> OutgoingRequest)?

    /// Called when a server or a proxy refuses a request for lack of a login: 401 or 407 over HTTP, a refused login of
    /// FTP or SFTP.
    ///
    /// What it returns holds for the same origin (scheme, host, port), or for the proxy, until the download ends or is
    /// paused. It is called again when the server refuses that too, at most ten times. Options such as ``DownloadOptions/user`` are tried
    /// first. Default `nil`: a refused login fails with ``PawlError/Code/authorization``.
    public var authenticate: (@Sendable (AuthenticationChallenge) async -> AuthenticationDecision)?

    /// Called before a redirect is followed, unless the options forbid it anyway (``DownloadOptions/maximumRedirects``,
    /// ``DownloadOptions/allowsDowngrade``).
    ///
    /// A redirect is not followed before it has decided, however long that takes: a person may decide. Until then the download
    /// keeps its place in the queue; a pause, a removal and a shutdown take effect at once. Default `nil`: redirects are followed.
    public var redirect: (@Sendable (RedirectProposal) async -> RedirectDecision)?

    /// Called with each response that Pawl would use, before the first byte of its body is read, and with each error
    /// status (4xx, 5xx) before a retry.
    ///
    /// It does not replace Pawl's own checks: a response that does not fit the bytes on disk is not used, whatever it
    /// returns. A response that it cancels changes nothing on disk. Default `nil`.
    public var validateResponse: (@Sendable (ReceivedResponse) async -> ResponseDecision)?

    /// Called when an attempt failed, before the next one is scheduled or the download fails.
    ///
    /// Attempts of one connection while others still receive data are not reported. Default `nil`: see
    /// ``DownloadOptions/retries``.
    public var retry: (@Sendable (FailedAttempt) async -> RetryDecision)?

    /// No hook is set.
    public init() {}

    /// Whether no hook is set.
    public var isEmpty: Bool {
        adaptRequest == nil && authenticate == nil && redirect == nil && validateResponse == nil && retry == nil
    }
}

/// A request that is about to be sent (``DownloadHooks/adaptRequest``).
public struct OutgoingRequest: Sendable, Hashable {
    /// The download; 0 for content that is fetched into memory outside a queue.
    public let download: Download.ID
    /// The URL, with its query; may be changed, to a signed one for instance.
    ///
    /// Only `http` and `https` URLs are accepted. Fields of ``DownloadOptions/headers`` and logins are sent only if its
    /// origin is one that they are for.
    public var url: String
    /// Header fields to add to this request; they replace fields of the options with the same name.
    ///
    /// Initially empty. Fields that Pawl sets itself, such as `Range`, `Host` and `Accept-Encoding`, are refused.
    public var headers: [DownloadResponse.Field] = []
    /// The value of the request's Range field, such as `bytes=500-`; `nil` for the whole.
    public let range: String?
    /// How many redirects led to it.
    public let redirects: Int

    /// Creates a request, for tests of hooks.
    public init(
        download: Download.ID, url: String, headers: [DownloadResponse.Field] = [], range: String? = nil,
        redirects: Int = 0
    ) {
        self.download = download
        self.url = url
        self.headers = headers
        self.range = range
        self.redirects = redirects
    }

    /// Sets a header field, replacing one of the same name.
    public mutating func set(_ name: String, to value: String) {
        headers.removeAll { $0.name.lowercased() == name.lowercased() }
        headers.append(DownloadResponse.Field(name: name, value: value))
    }
}

/// A refused login (``DownloadHooks/authenticate``).
public struct AuthenticationChallenge: Sendable, Hashable {
    /// The download; 0 for content that is fetched into memory outside a queue.
    public let download: Download.ID
    /// The URL that was refused, with secrets redacted.
    public let url: String
    /// The host that requires the login, or through whose proxy it is reached.
    public let host: String
    /// The port of ``host``.
    public let port: Int
    /// Whether the proxy requires it (407).
    public let isProxy: Bool
    /// The schemes that the server offers, in lower case and in its order: `basic`, `digest`, `bearer`; empty for FTP
    /// and SFTP.
    public let schemes: [String]
    /// The realm of the first scheme that has one.
    public let realm: String?
    /// How many logins of this closure the server, or the proxy, has refused for this request.
    public let previousFailures: Int
    /// The response; `nil` for FTP and SFTP.
    public let response: DownloadResponse?

    /// Creates a challenge, for tests of hooks.
    public init(
        download: Download.ID, url: String, host: String, port: Int = 443, isProxy: Bool = false,
        schemes: [String] = [], realm: String? = nil, previousFailures: Int = 0, response: DownloadResponse? = nil
    ) {
        self.download = download
        self.url = url
        self.host = host
        self.port = port
        self.isProxy = isProxy
        self.schemes = schemes
        self.realm = realm
        self.previousFailures = previousFailures
        self.response = response
    }
}

/// The result of ``DownloadHooks/authenticate``.
public enum AuthenticationDecision: Sendable, Hashable {
    /// Repeat the request with this login: Digest or Basic over HTTP, as the server offers.
    case credentials(user: String, password: String)
    /// Repeat the request with this value of Authorization, such as `Bearer …`; not for proxies.
    case authorization(String)
    /// The refusal stands: the download fails with ``PawlError/Code/authorization``, or another source is used.
    case useDefault
    /// End the download with ``PawlError/Code/authorization``.
    case cancel
}

/// A redirect (``DownloadHooks/redirect``).
public struct RedirectProposal: Sendable, Hashable {
    /// The download; 0 for content that is fetched into memory outside a queue.
    public let download: Download.ID
    /// The URL that redirects, with its query.
    public let from: String
    /// The target, with its query.
    public let to: String
    /// The redirect itself.
    public let response: DownloadResponse
    /// How many redirects were followed before it.
    public let redirects: Int

    /// Creates a proposal, for tests of hooks.
    public init(
        download: Download.ID, from: String, to: String, response: DownloadResponse, redirects: Int = 0
    ) {
        self.download = download
        self.from = from
        self.to = to
        self.response = response
        self.redirects = redirects
    }
}

/// The result of ``DownloadHooks/redirect``.
public enum RedirectDecision: Sendable, Hashable {
    /// Follow it.
    case follow
    /// Follow it to this URL instead; the same rules apply as to the server's.
    ///
    /// `headers` are added to the requests for this URL, on whatever origin it is, and replace fields of the options with
    /// the same name. They are not sent to where that URL redirects. Fields that Pawl sets itself are refused with
    /// ``PawlError/Code/badOption``, as in ``OutgoingRequest/headers``.
    case followTo(String, headers: [DownloadResponse.Field] = [])
    /// Do not follow it: the download fails with ``PawlError/Code/badResponse`` and this ``PawlError/status``.
    case stop
}

/// A response before its first byte is used (``DownloadHooks/validateResponse``).
public struct ReceivedResponse: Sendable, Hashable {
    /// The download; 0 for content that is fetched into memory outside a queue.
    public let download: Download.ID
    /// The URL that it came from, redirects followed, with its query.
    public let url: String
    /// Status and header fields.
    public let response: DownloadResponse
    /// The size of the whole content in bytes; `nil` if it is not known.
    public let length: Int64?
    /// How many bytes are on disk already; 0 for a fresh start.
    public let resumedAt: Int64

    /// Creates a response, for tests of hooks.
    public init(
        download: Download.ID, url: String, response: DownloadResponse, length: Int64? = nil, resumedAt: Int64 = 0
    ) {
        self.download = download
        self.url = url
        self.response = response
        self.length = length
        self.resumedAt = resumedAt
    }
}

/// The result of ``DownloadHooks/validateResponse``.
public enum ResponseDecision: Sendable, Hashable {
    /// Use the response, if Pawl's own checks allow it.
    case allow
    /// End the download with ``PawlError/Code/rejected``; what is on disk stays as it is.
    case cancel(reason: String = "the program does not accept this response")
    /// Keep the content in memory instead of a file: ``DownloadedFile/content`` has it at the end.
    ///
    /// It comes over one connection. More than `maximumSize` bytes fail with ``PawlError/Code/tooLarge``. A file of which bytes are on disk already is
    /// continued as a file. In a manager such a download is lost when the program ends, and is fetched again then.
    case intoMemory(maximumSize: Int)
}

/// A failed attempt (``DownloadHooks/retry``).
public struct FailedAttempt: Sendable {
    /// The download; 0 for content that is fetched into memory outside a queue.
    public let download: Download.ID
    /// The failure.
    public let error: PawlError
    /// The number of the attempt, counted from the last progress; 1 is the first.
    public let attempt: Int
    /// The wait after which Pawl would try again; `nil` if it would fail.
    public let wouldRetryAfter: Duration?

    /// Creates an attempt, for tests of hooks.
    public init(
        download: Download.ID, error: PawlError, attempt: Int = 1, wouldRetryAfter: Duration? = nil
    ) {
        self.download = download
        self.error = error
        self.attempt = attempt
        self.wouldRetryAfter = wouldRetryAfter
    }
}

/// The result of ``DownloadHooks/retry``.
public enum RetryDecision: Sendable, Hashable {
    /// What Pawl would do: ``FailedAttempt/wouldRetryAfter``.
    case useDefault
    /// Try again after this wait, whatever ``DownloadOptions/retries`` says.
    ///
    /// A day at most; at once for zero and less.
    case retry(after: Duration)
    /// The download fails with this error.
    case fail
}
