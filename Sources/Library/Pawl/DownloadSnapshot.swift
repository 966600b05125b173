package import PawlBase
import PawlCore
import PawlEngine

/// The state of a download at one instant.
public struct DownloadSnapshot: Sendable, Hashable, Codable {
    /// The identifier of the download.
    public var id: Download.ID
    /// The given URL, with secrets redacted.
    public var source: String
    /// The state.
    public var state: DownloadState = .waiting
    /// The final file name, once known.
    public var name: String?
    /// Bytes of the content that are on disk.
    public var written: Int64 = 0
    /// Size of the content in bytes; `nil` while unknown, which is not the same as 0 %.
    public var total: Int64?
    /// Bytes received over the network in this process; bytes fetched twice count twice.
    public var received: Int64 = 0
    /// Bytes per second over the last second; drops to 0 on a stall.
    public var speed: Int64 = 0
    /// Bytes per second, smoothed over about ten seconds.
    public var smoothedSpeed: Int64 = 0
    /// The time to the end at the smoothed speed; `nil` when the size is unknown or no data arrives.
    public var timeLeft: Duration?
    /// Open connections.
    public var connections = 0
    /// The time until the next attempt, if it waits for one; ``DownloadManager/resume(_:)`` starts it immediately.
    public var retryIn: Duration?
    /// The number of that attempt, and why the last one failed.
    public var retry: Retry?
    /// The host that it waits for: it allows no further connection, or has requested a wait, which ``retryIn`` states.
    public var waitsForHost: String?
    /// The limit that keeps it from opening another connection to a host, if the host has shown one.
    public var hostLimit: HostLimit?
    /// The text given in ``DownloadOptions/taskDescription``.
    public var taskDescription: String?
    /// The folder of the file, relative to the manager's root.
    public var folder = ""
    /// The media type sent by the server.
    public var contentType: String?
    /// What the finished file was verified with; `nil` where nothing verifies it.
    public var verification: FileVerification?
    /// What has the name of the finished file; `nil` until it has finished, and in the snapshot of a handle.
    public var file: FileState?
    /// The error, if it failed.
    public var error: PawlError?
    /// Its group in a manager.
    public var group: String?
    /// Its priority in a manager; higher starts first.
    public var priority = 0
    /// Its order among downloads of the same priority in a manager; lower starts first.
    public var position = 0.0
    /// When a manager added it, in seconds since 1970.
    public var addedAt: Int64?
    /// When a paused one starts by itself, in seconds since 1970 (``DownloadRequest/startAt``).
    public var startAt: Int64?
    /// When the first response arrived, in seconds since 1970.
    public var startedAt: Int64?
    /// When it finished or failed, in seconds since 1970.
    public var endedAt: Int64?

    /// The segments of a stream (``DownloadRequest/stream``) that are on disk; `nil` for other downloads.
    public var segments: Segments?

    /// Creates a snapshot, for tests and previews; the other properties have their initial values.
    public init(
        id: Download.ID, source: String, state: DownloadState = .waiting, taskDescription: String? = nil
    ) {
        self.id = id
        self.source = source
        self.state = state
        self.taskDescription = taskDescription
    }

    /// How many segments a stream has (``segments``).
    public struct Segments: Sendable, Hashable, Codable {
        /// Those that are on disk.
        public var done: Int
        /// All of them.
        public var total: Int

        /// Creates a count.
        public init(
            done: Int, total: Int
        ) {
            self.done = done
            self.total = total
        }
    }

    /// What has the name of a finished download's file (``file``).
    #if hasAttribute(nonexhaustive)
    @nonexhaustive(warn)
    #endif
    public enum FileState: String, Sendable, Hashable, Codable {
        /// The file, or a copy of it with its size and time.
        case there
        /// Nothing: it was moved or deleted.
        case missing
        /// Another file, or the file with other content: no command touches it.
        case changed
    }

    /// An attempt that a download waits for (``retry``).
    public struct Retry: Sendable, Hashable, Codable {
        /// Its number, from 1 for the first retry.
        ///
        /// Progress resets the count.
        public var attempt: Int
        /// The number of retries without progress after which the download fails
        /// (``DownloadOptions/retries``).
        public var limit: Int
        /// Why the last attempt failed, in a word or two: a status code such as `503`, or `timeout`.
        public var reason: String

        /// Creates an attempt, for tests and previews.
        public init(attempt: Int, limit: Int, reason: String) {
            self.attempt = attempt
            self.limit = limit
            self.reason = reason
        }
    }

    /// How many connections a host allowed when it refused a further one (``hostLimit``).
    public struct HostLimit: Sendable, Hashable, Codable {
        /// The host's name, without port.
        public var host: String
        /// The connections that it served at once.
        public var connections: Int
        /// When that was seen, in seconds since 1970; it may have been in an earlier run.
        public var since: Int64
        /// How it refused a further one: a status code such as `503`, `refused` or `reset`, or `reply` for that of an
        /// FTP server.
        public var reason: String

        /// Creates a limit, for tests and previews.
        public init(host: String, connections: Int, since: Int64, reason: String) {
            self.host = host
            self.connections = connections
            self.since = since
            self.reason = reason
        }
    }

    /// `written × 100 / total`, never above 100; of a stream the share of its ``segments``; `nil` while the total is unknown.
    public var percent: Double? {
        guard let total else {
            return segments.flatMap { $0.total > 0 ? Double($0.done) * 100 / Double($0.total) : nil }
        }
        return total == 0 ? 100 : Double(min(written, total)) * 100 / Double(total)
    }
}

extension DownloadSnapshot.HostLimit {
    package init(_ note: HostNote, of host: String) {
        self.init(host: host, connections: note.connections, since: note.since.seconds, reason: note.reason.text)
    }
}

extension DownloadSnapshot {
    /// This snapshot with the engine's current sample.
    func overlaid(with reading: ProgressSample) -> DownloadSnapshot {
        var snapshot = self
        snapshot.state = reading.phase
        snapshot.name = reading.name ?? name
        snapshot.received = reading.received
        snapshot.speed = reading.speed
        snapshot.smoothedSpeed = reading.smoothed
        snapshot.connections = reading.connections
        snapshot.segments = reading.parts.map { Segments(done: $0.done, total: $0.total) } ?? segments
        snapshot.retryIn = reading.retryIn.map { Duration($0) }
        snapshot.retry = reading.retry.map { Retry(attempt: $0.attempt, limit: $0.limit, reason: $0.reason) }
        snapshot.waitsForHost = reading.waitsForHost
        snapshot.hostLimit = reading.hostLimit.map { HostLimit($0.note, of: $0.host) }
        // Until the part file is found again, the last known values are better than none.
        if reading.name != nil || reading.written > 0 {
            snapshot.written = reading.written
            snapshot.total = reading.total
        }
        let left = snapshot.total.map { Double($0 - snapshot.written) }
        snapshot.timeLeft =
            reading.smoothed > 0 ? left.map { Duration(clampingSeconds: $0 / Double(reading.smoothed)) } : nil
        return snapshot
    }

    /// A run has failed, and its queue has not decided yet whether the download has, or waits.
    mutating func hideFailure() { if state == .failed { state = .transferring } }

    /// A run has its slot: its engine has not begun it yet, or it waits for a descriptor.
    mutating func hideWait() { if state == .waiting { state = .probing } }
}

extension DownloadSnapshot.HostLimit {
    /// As the service and `pawl get --json` print it (Documentation/JSON.md).
    package var json: JSON {
        [
            "host": .string(host), "connections": .number(connections), "since": .number(since),
            "reason": .string(reason),
        ]
    }
}
