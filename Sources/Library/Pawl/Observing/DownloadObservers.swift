/// A line for a log (``DownloadObservers/log``).
public struct DownloadLogEntry: Sendable, Hashable {
    /// How much it matters; the names are those of swift-log.
    public enum Level: String, Sendable, Hashable, CaseIterable, Codable {
        /// Every change of state.
        case debug
        /// Starts and ends.
        case info
        /// Decisions worth knowing: a restart from 0, a server that ignores ranges.
        case notice
        /// A failed attempt that is repeated.
        case warning
        /// A failed download.
        case error
    }

    /// How much it matters.
    public let level: Level
    /// The message, in English, without secrets.
    public let message: String
    /// Values for a structured log: always `download`, the identifier; `file`, `bytes`, `seconds`, `code`, `status` and
    /// `delay` where they apply; content in memory has no `file`.
    public let metadata: [String: String]

    /// Creates an entry, for tests of what logs it.
    public init(
        level: Level, message: String, metadata: [String: String] = [:]
    ) {
        self.level = level
        self.message = message
        self.metadata = metadata
    }
}

/// A measurement (``DownloadObservers/metric``).
public struct DownloadMetric: Sendable, Hashable {
    /// The kind of a metric.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// Add ``DownloadMetric/value``.
        case counter
        /// Record a duration of ``DownloadMetric/value`` seconds.
        case timer
    }

    /// The name: `pawl.downloads.started`, `pawl.downloads.finished`, `pawl.downloads.failed`, `pawl.downloads.retried`,
    /// `pawl.bytes.received` (counters), `pawl.download.duration` (timer).
    public let name: String
    /// The kind.
    public let kind: Kind
    /// The number to add, or seconds.
    public let value: Double
    /// `code` for failures and retries: the number of ``PawlError/code``.
    public let dimensions: [String: String]

    /// Creates a sample, for tests of what records it.
    public init(
        name: String, kind: Kind, value: Double, dimensions: [String: String] = [:]
    ) {
        self.name = name
        self.kind = kind
        self.value = value
        self.dimensions = dimensions
    }
}

/// Closures that receive what a log and a metrics system record; none by default.
///
/// They are called on the thread of the events, in order for each download, and must return quickly. <doc:Hooks> shows
/// how to pass them on to swift-log and swift-metrics.
public struct DownloadObservers: Sendable {
    /// Receives log entries.
    ///
    /// Default `nil`.
    public var log: (@Sendable (DownloadLogEntry) -> Void)?
    /// Receives measurements.
    ///
    /// Default `nil`.
    public var metric: (@Sendable (DownloadMetric) -> Void)?

    /// No closure is set.
    public init() {}

    var isEmpty: Bool { log == nil && metric == nil }

    /// Passes an event on.
    func note(_ event: DownloadEvent) {
        if let log, let entry = DownloadLogEntry(event) { log(entry) }
        if let metric { for sample in DownloadMetric.samples(of: event) { metric(sample) } }
    }
}

extension DownloadLogEntry {
    /// `nil` for events that no log needs.
    init?(_ event: DownloadEvent) {
        var metadata = ["download": event.id.description]
        switch event.kind {
        case .state(let state): (level, message) = (.debug, "state \(state.rawValue)")
        case .started(let name, let total, let resumedAt):
            metadata["file"] = name.isEmpty ? nil : name
            metadata["bytes"] = total?.description
            let place = resumedAt > 0 ? " from byte \(resumedAt)" : ""
            (level, message) = (.info, "started\(name.isEmpty ? "" : " \(name)")\(place)")
        case .notice(let notice): (level, message) = (.notice, notice.description)
        case .retry(let error, let delay):
            metadata["code"] = error.code.rawValue.description
            metadata["status"] = error.status?.description
            metadata["delay"] = delay.seconds.description
            (level, message) = (.warning, error.description)
        case .finished(let file):
            // Content in memory has none.
            metadata["file"] = file.path.isEmpty ? nil : file.path
            metadata["bytes"] = file.length.description
            metadata["seconds"] = file.duration.seconds.description
            (level, message) = (.info, "finished \(file.path.isEmpty ? "in memory" : file.path)")
        case .failed(let error):
            metadata["code"] = error.code.rawValue.description
            metadata["status"] = error.status?.description
            (level, message) = (.error, error.description)
        case .missed(let count): (level, message) = (.warning, "\(count) events were dropped")
        case .added: (level, message) = (.debug, "added")
        case .changed, .queueChanged: return nil
        }
        self.metadata = metadata
    }
}

extension DownloadMetric {
    static func samples(of event: DownloadEvent) -> [DownloadMetric] {
        switch event.kind {
        case .started: [counter("pawl.downloads.started")]
        case .retry(let error, _): [counter("pawl.downloads.retried", code: error.code)]
        case .failed(let error): [counter("pawl.downloads.failed", code: error.code)]
        case .finished(let file):
            [
                counter("pawl.downloads.finished"), counter("pawl.bytes.received", by: Double(file.received)),
                DownloadMetric(
                    name: "pawl.download.duration", kind: .timer, value: file.duration.seconds, dimensions: [:]),
            ]
        case .state, .notice, .added, .changed, .queueChanged, .missed: []
        }
    }

    private static func counter(_ name: String, by value: Double = 1, code: PawlError.Code? = nil) -> DownloadMetric {
        DownloadMetric(
            name: name, kind: .counter, value: value, dimensions: code.map { ["code": $0.rawValue.description] } ?? [:])
    }
}
