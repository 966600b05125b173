/// A download at one instant.
public struct DownloadSnapshot: Sendable, Hashable {
    /// Names the download in its ``Downloader``.
    public var id: Download.ID
    /// The address that was given, secrets redacted.
    public var source: String
    /// What it is doing.
    public var state: DownloadState
    /// The final file name once known.
    public var name: String?
    /// Bytes of the content that are on disk.
    public var written: Int64
    /// Bytes of the whole content; `nil` while unknown, which is a state of its own and not 0 %.
    public var total: Int64?
    /// Bytes that came over the network in this process, those fetched twice counted twice.
    public var received: Int64
    /// Bytes per second over the last second; falls to 0 on a stall.
    public var speed: Int64
    /// Bytes per second, smoothed over about ten seconds.
    public var smoothedSpeed: Int64
    /// Seconds to the end at the smoothed speed; `nil` when the total is unknown or nothing moves.
    public var timeLeft: Double?
    /// Connections in use.
    public var connections: Int
    /// The text given in ``DownloadOptions/taskDescription``.
    public var taskDescription: String?

    /// `written × 100 / total`, never above 100; `nil` while the total is unknown.
    public var percent: Double? {
        guard let total else { return nil }
        return total == 0 ? 100 : Double(min(written, total)) * 100 / Double(total)
    }
}

/// What a download is doing.
public enum DownloadState: String, Sendable, Hashable, CaseIterable {
    /// Not started, or waiting for a free slot.
    case waiting
    /// The first request is out.
    case probing
    /// Bytes are coming in, or a retry is due.
    case transferring
    /// There is no way out of this machine; it goes on when there is.
    case waitingForNetwork
    /// The checksum is being computed.
    case verifying
    /// The file is being moved to its place.
    case publishing
    /// Stopped by the user; everything is kept.
    case paused
    /// Stopped by the scheduler for another download; starts again by itself.
    case preempted
    /// The file is in its place.
    case finished
    /// It ended with an error; what can be kept is kept.
    case failed
}
