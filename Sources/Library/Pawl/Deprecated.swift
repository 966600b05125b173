// Names of 0.2.0, until the next minor version.

/// As ``DownloadObservers``.
@available(*, deprecated, renamed: "DownloadObservers")
public typealias Observers = DownloadObservers
/// As ``DownloadLogEntry``.
@available(*, deprecated, renamed: "DownloadLogEntry")
public typealias LogEntry = DownloadLogEntry
/// As ``DownloadMetric``.
@available(*, deprecated, renamed: "DownloadMetric")
public typealias MetricSample = DownloadMetric
#if Features
/// As ``DownloadResumeData``.
@available(*, deprecated, renamed: "DownloadResumeData")
public typealias ResumeData = DownloadResumeData
#endif

extension DownloadToggle {
    /// The name of the case; write the text of your button for each.
    @available(*, deprecated, message: "switch over the cases: a button has words of its own")
    public var label: String { rawValue }
}

extension Downloader {
    /// As ``rateLimit``.
    @available(*, deprecated, message: "write: rateLimit = bytesPerSecond")
    public func limit(to bytesPerSecond: Int64?) { rateLimit = bytesPerSecond }
}

extension Downloader.Configuration {
    /// As ``maximumConcurrentDownloads``.
    @available(*, deprecated, renamed: "maximumConcurrentDownloads")
    public var jobs: Int {
        get { maximumConcurrentDownloads }
        set { maximumConcurrentDownloads = newValue }
    }

    /// As ``adaptsConcurrentDownloads``.
    @available(*, deprecated, renamed: "adaptsConcurrentDownloads")
    public var adaptsJobs: Bool {
        get { adaptsConcurrentDownloads }
        set { adaptsConcurrentDownloads = newValue }
    }
}

#if Queue
extension DownloadManager.Configuration {
    /// As ``maximumConcurrentDownloads``.
    @available(*, deprecated, renamed: "maximumConcurrentDownloads")
    public var slots: Int? {
        get { maximumConcurrentDownloads }
        set { maximumConcurrentDownloads = newValue }
    }
}

extension QueueLimits {
    /// As ``maximumConcurrentDownloads``.
    @available(*, deprecated, renamed: "maximumConcurrentDownloads")
    public var slots: Int { maximumConcurrentDownloads }
}

extension DownloadManager {
    /// As ``change(maximumConcurrentDownloads:)``.
    @available(*, deprecated, renamed: "change(maximumConcurrentDownloads:)")
    public func change(slots: Int) async throws(PawlError) { try await change(maximumConcurrentDownloads: slots) }

    /// As ``download(withID:)``.
    @available(*, deprecated, renamed: "download(withID:)")
    public func download(_ id: Download.ID) async throws(PawlError) -> Download? { try await download(withID: id) }

    /// As ``download(ofURL:)``.
    @available(*, deprecated, renamed: "download(ofURL:)")
    public func download(of source: String) async throws(PawlError) -> Download? {
        try await download(ofURL: source)
    }

    /// As ``ids(withPrefix:limit:)``.
    @available(*, deprecated, renamed: "ids(withPrefix:limit:)")
    public func find(_ digits: String, limit: Int = .max) async throws(PawlError) -> [Download.ID] {
        try await ids(withPrefix: digits, limit: limit)
    }

    /// As ``location(ofURL:)``.
    @available(*, deprecated, renamed: "location(ofURL:)")
    public func location(ofSource source: String) async throws(PawlError) -> DownloadLocation {
        try await location(ofURL: source)
    }

    /// As ``waiting(offset:limit:)``.
    @available(*, deprecated, renamed: "waiting(offset:limit:)")
    public func line(offset: Int = 0, limit: Int = .max) async throws(PawlError) -> [DownloadSnapshot] {
        try await waiting(offset: offset, limit: limit)
    }

    /// As ``details(of:includingConnections:)``.
    @available(*, deprecated, renamed: "details(of:includingConnections:)")
    public func details(of ids: [Download.ID], looking: Bool) async throws(PawlError) -> [DownloadDetails] {
        try await details(of: ids, includingConnections: looking)
    }

    /// As ``forgetAll()``.
    @available(*, deprecated, renamed: "forgetAll()")
    public func forget() async throws(PawlError) { try await forgetAll() }
}
#endif
