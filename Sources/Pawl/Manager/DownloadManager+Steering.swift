import PawlCore
import PawlEngine

extension DownloadManager {
    /// Pauses a download until the user resumes or starts it.
    ///
    /// Everything received is kept. With `keepingSlot` a running download is only suspended and keeps its
    /// slot; a restart of the program releases it. `false` when the download neither waits nor runs, or is
    /// already paused.
    @discardableResult
    public func pause(_ id: Download.ID, keepingSlot: Bool = false) async throws(PawlError) -> Bool {
        try await ask { $0.pause(QueueID(id), keepsSlot: keepingSlot) }
    }

    /// Resumes a paused download in queue order, or retries a failed one.
    ///
    /// A finished download whose file is gone is downloaded again. `false` when there was nothing to resume.
    @discardableResult
    public func resume(_ id: Download.ID) async throws(PawlError) -> Bool {
        try await ask { keeper throws(Failure) in try keeper.resume(QueueID(id)) }
    }

    /// Starts a download immediately, ahead of the queue.
    ///
    /// If all slots are taken, the longest-running download is preempted; it restarts automatically. `false`
    /// when it already runs or cannot run.
    @discardableResult
    public func start(now id: Download.ID) async throws(PawlError) -> Bool {
        try await ask { keeper throws(Failure) in try keeper.force(QueueID(id)) }
    }

    /// Stops a download and removes it with its part file, journal and, unless kept, the finished file.
    ///
    /// Files that existed before it stay. `keepingHistory` keeps its record with the standing `removed`;
    /// `keepingPartial` keeps the part file and journal, from which another download of the same URL and name
    /// resumes. `false` when there is no such download. Throws when a file cannot be removed; the download is
    /// removed in any case.
    @discardableResult
    public func remove(
        _ id: Download.ID,
        keepingFile: Bool = false,
        keepingHistory: Bool = false,
        keepingPartial: Bool = false
    ) async throws(PawlError) -> Bool {
        let wish = Removal(
            keepsFile: keepingFile,
            keepsHistory: keepingHistory,
            keepsPartial: keepingPartial
        )
        return try await thread.remove(id, wish)
    }

    /// Renames a download's file, on disk too if it has finished.
    ///
    /// An unfinished one is renamed when it finishes. An empty name keeps the old one. `false` when there is
    /// no such download. Throws code 13 when the name is taken and 28 when it is invalid.
    @discardableResult
    public func rename(_ id: Download.ID, to name: String) async throws(PawlError) -> Bool {
        try await ask { keeper throws(Failure) in try keeper.rename(QueueID(id), to: name) }
    }

    /// Replaces the URL of a download by another one of the same content.
    ///
    /// If the content there is not shown to be the same as on disk, the download fails with
    /// ``PawlError/Code/cannotResume`` and keeps its bytes.
    ///
    /// `false` when there is no such download or it has finished. Throws code 28 when the URL is invalid.
    @discardableResult
    public func replaceURL(of id: Download.ID, with source: String) async throws(PawlError) -> Bool {
        try await ask { keeper throws(Failure) in
            try keeper.replace(QueueID(id), with: try WebAddress.parse(source).address)
        }
    }

    /// The target position of a waiting or paused download in the queue.
    public enum Position: Sendable, Hashable {
        /// At this index, as close as its priority permits; 0 is next.
        case index(Int)
        /// This many places further back; negative means forward.
        case offset(Int)
        /// This many places before the end; 0 is last.
        case fromEnd(Int)
    }

    /// Moves a download in the queue, within its priority, and returns its index.
    ///
    /// `nil` when it is not in the queue.
    @discardableResult
    public func move(_ id: Download.ID, to place: Position) async throws(PawlError) -> Int? {
        try await ask { keeper in
            let target: QueueTarget =
                switch place {
                case .index(let index): .index(index)
                case .offset(let offset): .offset(offset)
                case .fromEnd(let offset): .fromEnd(offset)
                }
            guard let (index, actions) = keeper.machine.move(QueueID(id), to: target) else { return nil }
            keeper.perform(actions)
            keeper.tell(QueueID(id), .changed)
            // Positions of other downloads may have changed.
            for case .place(let other, _) in actions where other != QueueID(id) {
                keeper.tell(other, .changed)
            }
            return index
        }
    }

    /// Changes the priority of a download; it goes to the end of the downloads of that priority.
    ///
    /// Default 0 for new ones, higher starts first; running downloads are not preempted. `false` when there
    /// is no such download.
    @discardableResult
    public func change(priority: Int, of id: Download.ID) async throws(PawlError) -> Bool {
        try await ask { keeper throws(Failure) in
            let id = QueueID(id)
            guard let record = try keeper.record(id), record.state != .removed else { return false }
            keeper.edit(id) { $0.priority = priority }
            keeper.perform(keeper.machine.change(priority: priority, of: id))
            keeper.tell(id, .changed)
            return true
        }
    }

    /// Changes the number of simultaneous downloads; if it is lowered, the newest are preempted.
    ///
    /// The value survives restarts.
    public func change(slots: Int) async throws(PawlError) {
        try await ask { $0.change(slots: slots) }
    }

    /// Changes the limit for all downloads together, in bytes per second; `nil` removes it.
    ///
    /// The value survives restarts.
    public func limit(to bytesPerSecond: Int64?) async throws(PawlError) {
        try await ask { $0.limit(to: bytesPerSecond) }
    }
}

extension DownloadManager {
    /// Changes the limit of one download, in bytes per second; `nil` removes it.
    ///
    /// `false` when there is no such download.
    @discardableResult
    public func limit(_ id: Download.ID, to bytesPerSecond: Int64?) async throws(PawlError) -> Bool {
        try await ask { keeper throws(Failure) in try keeper.limit(QueueID(id), to: bytesPerSecond) }
    }

    /// Changes the limits by time of day, see ``Configuration/timetable``; `nil` removes them, and the last
    /// value of ``limit(to:)`` applies again.
    ///
    /// The value survives restarts. Throws code 28 when the text is invalid.
    public func change(timetable: String?) async throws(PawlError) {
        try await ask { keeper throws(Failure) in try keeper.change(timetable: timetable) }
    }
}
