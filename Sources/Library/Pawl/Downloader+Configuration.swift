package import PawlBase

extension Downloader {
    /// Settings that all downloads of one downloader share.
    public struct Configuration: Sendable {
        /// Simultaneous downloads, at least 1; the rest wait in order.
        ///
        /// Default 3.
        public var maximumConcurrentDownloads = 3
        /// Whether the number of simultaneous downloads is found by measuring, instead of ``maximumConcurrentDownloads``.
        ///
        /// Default `false`. It begins with eight and is doubled, up to 320 or an eighth of the descriptors, while that raises
        /// the files or the bytes per second by a fifth; what brings nothing, or is refused by hosts, is taken back. One host
        /// gets at most 16 connections (FTP and SFTP 4), or 256 requests over the HTTP/2 connections of
        /// ``sharesConnections``.
        public var adaptsConcurrentDownloads = false
        /// Bytes per second for all downloads together; `nil` (default), 0 and less for no limit.
        public var rateLimit: Int64?
        /// Threads that transfer data: 1…16; for other numbers the nearest of these.
        ///
        /// Default 1, enough for a fast network; more speed up many small files on several cores.
        public var threads = 1
        /// Whether files of one host share HTTP/2 connections, at most four for each thread, where a server has it over TLS (RFC 9113).
        ///
        /// Default `false`: for few or large files separate connections cost less. `true` suits many small files, and
        /// a host that limits connections; requests for a part of a file have connections of their own all the same.
        public var sharesConnections = false
        /// Whether connections to this machine and to private networks are refused.
        ///
        /// See ``DownloadManager/Configuration/deniesPrivateAddresses``. Default `false`.
        public var deniesPrivateAddresses = false
        /// Whether the endpoint of `s3:` URLs may be private all the same: the user named it, not the list.
        package var allowsPrivateEndpoint = false
        /// Whether downloads are from thousands of hosts; then those of one host run on one thread.
        package var usesManyHosts = false
        /// Whether HTTP/2 is not used either where a server has nothing else.
        package var usesHTTP1Only = false
        /// A folder that stores how many connections each host accepts, shared by all programs that use it.
        ///
        /// A host that rejected further connections gets no more than it accepted for a day, or for an hour
        /// after a single rejection; also after a restart. The folder is created when needed; one that
        /// cannot be used is ignored. Default `nil`: nothing is kept across restarts.
        public var stateFolder: String?

        /// Whether events report states that follow from other events: `probing` and `transferring`,
        /// `publishing`, `finished` and `failed`.
        ///
        /// Default `true`. With thousands of small files these events take a tenth of the work; snapshots
        /// have the state in any case.
        public var reportsEveryState = true
        /// Decisions that the program makes itself, for every download without hooks of its own.
        ///
        /// Default none.
        public var hooks = DownloadHooks()
        /// Closures that receive log entries and measurements.
        ///
        /// Default none.
        public var observers = DownloadObservers()
        /// The options of downloads for which none are given.
        ///
        /// Default those of ``DownloadOptions/init()``.
        public var options = DownloadOptions()
        /// What carries the requests.
        ///
        /// Default the network; tests use a stub origin of `PawlTesting`.
        public var transport = DownloadTransport.network
        /// The form of the name that is used when one is taken.
        package var numbering = FileName.Numbering.parenthesized
        /// Whether a finished file of the same URL and content is the result of a download, instead of another one beside it.
        package var recognizesFinished = true

        /// Receives every request and response, on the threads that transfer data.
        package var trace: (@Sendable (TransferTrace) -> Void)?
        /// Receives the cookies of each origin, on those threads; all of them until ``Downloader/shutDown()`` returns.
        package var onCookies: (@Sendable (_ loaded: [String], _ current: [String]) -> Void)?

        /// Creates a configuration with all defaults.
        public init() {}
    }
}
