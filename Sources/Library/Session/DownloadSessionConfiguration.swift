#if Queue
public import Pawl

/// The configuration of a ``DownloadSession``, with the interface of `URLSessionConfiguration`.
public struct DownloadSessionConfiguration: Sendable, Hashable {
    /// The identifier by which a background session finds its tasks again; `nil` for other sessions.
    public let identifier: String?
    /// Simultaneous transfers; the rest wait.
    ///
    /// Default 3. A suspended task keeps its slot. A session with less than 1 becomes invalid with code 28.
    public var maximumConcurrentDownloads = 3
    /// What every task starts from: credentials, TLS, proxies, limits and so on.
    ///
    /// The folder, the file's name, the number of connections, retries, the timeout, and the description are
    /// the session's own.
    public var options = DownloadOptions()
    /// Header fields added to every request that does not set them.
    public var httpAdditionalHeaders: [String: String] = [:]
    /// Seconds without any data before a connection is dropped, up to 86,400; a task fails with code 28 for other values.
    ///
    /// Default 60.
    public var timeoutIntervalForRequest = 60.0
    /// Seconds from a task's first resume until it fails, whether or not data arrives.
    ///
    /// Default 604,800, a week; infinite for no limit. The time in which the program does not run counts too. A task
    /// fails with code 28 when it is resumed if this is 0, less, or not a number.
    public var timeoutIntervalForResource = 604_800.0
    /// Connections of the session to one host.
    ///
    /// Default 6; less than 1 makes the session invalid with code 28. Each task uses one, so ``maximumConcurrentDownloads`` is what limits a session with fewer tasks.
    public var httpMaximumConnectionsPerHost = 6
    /// Whether tasks wait for the network where there is none; otherwise they fail.
    ///
    /// Default `true`, unlike `URLSessionConfiguration`, also for sessions without an identifier.
    public var waitsForConnectivity = true
    /// Whether a response with another status than success is a failure, and is retried where that can help.
    ///
    /// Default `false`, as in `URLSession`: a response such as 404 or 500 is the response of the task, its body
    /// is the file, and no error is reported. This applies while nothing of the content is on disk, and to
    /// bodies of up to 1 MiB; a longer one, and a status in the middle of a download, is a failure in any case.
    public var failsOnErrorStatus = false
    /// Retries without progress before a task fails.
    ///
    /// Default 5, at most 1,000,000.
    public var retries = 5
    /// The folder for state that survives the program, with a subfolder for each identifier.
    ///
    /// Default `$XDG_STATE_HOME/pawl/sessions`, else `~/.local/state/pawl/sessions`.
    public var stateFolder = Self.usualStateFolder
    /// The folder of part files for resume data of Apple's `NSURLSession`.
    ///
    /// Default `nil`: only resume data of this library's sessions has a part file.
    public var partialFolder: String?
    /// What carries the requests.
    ///
    /// Default the network; tests use a stub origin of `PawlTesting`, with a ``stateFolder`` of their own.
    public var transport = DownloadTransport.network
    /// Seconds to wait for the service to release the session; it has journals to sync.
    var handoverPatience = 60.0

    private init(identifier: String?) { self.identifier = identifier }

    /// A configuration for tasks that end with the session.
    public static var `default`: Self { Self(identifier: nil) }
    /// The same as ``default``: sessions of this library store no cookies, credentials or cache.
    public static var ephemeral: Self { Self(identifier: nil) }
    /// A configuration for tasks that survive the end of the program, however that happened.
    ///
    /// While no process holds the session, `pawl serve` of the same user, if it runs, continues the running
    /// tasks; otherwise nothing is transferred. A new session takes over everything, and its delegate
    /// receives the missed events. Only one process at a time can hold a session of an identifier.
    public static func background(withIdentifier identifier: String) -> Self { Self(identifier: identifier) }

    /// As ``maximumConcurrentDownloads``.
    @available(*, deprecated, renamed: "maximumConcurrentDownloads")
    public var maximumConcurrentTasks: Int {
        get { maximumConcurrentDownloads }
        set { maximumConcurrentDownloads = newValue }
    }

    private static var usualStateFolder: String { SessionRoot.usualState ?? "./.local/state/pawl/sessions" }
}
#endif
