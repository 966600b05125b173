/// What happened to a download.
public struct DownloadEvent: Sendable {
    /// Which download.
    public var id: Download.ID
    /// What happened.
    public var kind: Kind

    /// The kinds of event.
    public enum Kind: Sendable {
        /// The state changed.
        case state(DownloadState)
        /// The answer was accepted and bytes will be written: file name, total (`nil` unknown), and the offset from
        /// which the file is continued (0 for a fresh one).
        case started(name: String, total: Int64?, resumedAt: Int64)
        /// A decision worth telling.
        case notice(DownloadNotice)
        /// An attempt failed and another follows after `delay` seconds.
        indirect case retry(PawlError, delay: Double)
        /// The file is in its place.
        case finished(DownloadedFile)
        /// The download ended with an error.
        indirect case failed(PawlError)
        /// A manager has it in its queue.
        case added
        /// Its name, address, priority, group or place in the queue is another.
        case changed
        /// The listener was too slow: this many events, which would have come here, are lost.
        ///
        /// Snapshots tell how things stand.
        case missed(Int)
    }
}

/// A file in its place.
public struct DownloadedFile: Sendable, Hashable {
    /// Path of the file, as the folder was given.
    public var path: String
    /// Bytes in it.
    public var length: Int64
    /// Bytes that this process received for it.
    public var received: Int64
    /// Seconds from the start to the end in this process.
    public var duration: Double
    /// `true` when the file was there already and nothing was transferred.
    public var wasThere: Bool

    package init(path: String, length: Int64, received: Int64, duration: Double, wasThere: Bool) {
        self.path = path
        self.length = length
        self.received = received
        self.duration = duration
        self.wasThere = wasThere
    }
}
