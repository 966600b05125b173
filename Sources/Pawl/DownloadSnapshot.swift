import PawlEngine

/// A download at one instant.
public struct DownloadSnapshot: Sendable, Hashable {
    /// Names the download.
    public var id: Download.ID
    /// The address that was given, secrets redacted.
    public var source: String
    /// What it is doing.
    public var state = DownloadState.waiting
    /// The final file name once known.
    public var name: String?
    /// Bytes of the content that are on disk.
    public var written: Int64 = 0
    /// Bytes of the whole content; `nil` while unknown, which is a state of its own and not 0 %.
    public var total: Int64?
    /// Bytes that came over the network in this process, those fetched twice counted twice.
    public var received: Int64 = 0
    /// Bytes per second over the last second; falls to 0 on a stall.
    public var speed: Int64 = 0
    /// Bytes per second, smoothed over about ten seconds.
    public var smoothedSpeed: Int64 = 0
    /// Seconds to the end at the smoothed speed; `nil` when the total is unknown or nothing moves.
    public var timeLeft: Double?
    /// Connections in use.
    public var connections = 0
    /// The text given in ``DownloadOptions/taskDescription``.
    public var taskDescription: String?
    /// The folder of the file, relative to the manager's root.
    public var folder = ""
    /// The media type that the server named.
    public var contentType: String?
    /// Why it failed.
    public var error: PawlError?
    /// Its group in a manager.
    public var group: String?
    /// Its priority in a manager; greater runs earlier.
    public var priority = 0
    /// Where it stands among those of its priority in a manager; smaller runs earlier.
    public var position = 0.0
    /// When a manager got it, in seconds since 1970.
    public var addedAt: Int64?
    /// When it was answered first, in seconds since 1970.
    public var startedAt: Int64?
    /// When it finished or failed, in seconds since 1970.
    public var endedAt: Int64?

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
    /// A manager has forgotten it.
    case removed
}

extension DownloadSnapshot {
    /// This, with what the engine has of it now.
    func overlaid(with reading: ProgressSample) -> DownloadSnapshot {
        var snapshot = self
        snapshot.state = DownloadState(reading.phase)
        snapshot.name = reading.name ?? name
        snapshot.received = reading.received
        snapshot.speed = reading.speed
        snapshot.smoothedSpeed = reading.smoothed
        snapshot.connections = reading.connections
        // Before the place on disk is found again, the last known figures say more than none.
        if reading.name != nil || reading.written > 0 {
            snapshot.written = reading.written
            snapshot.total = reading.total
        }
        let left = snapshot.total.map { Double($0 - snapshot.written) }
        snapshot.timeLeft = reading.smoothed > 0 ? left.map { $0 / Double(reading.smoothed) } : nil
        return snapshot
    }
}
