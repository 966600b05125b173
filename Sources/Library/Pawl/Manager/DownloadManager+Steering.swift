#if Queue
import PawlBase
import PawlQueue

/// The result of a step for downloads that were given by the first digits of their ids.
package enum SteeringResult<Value: Sendable>: Sendable {
    /// The downloads in the given order, each with its value.
    case done([(id: Download.ID, value: Value)])
    /// Nothing was done: there is no such download.
    case missing(String)
    /// Nothing was done: there are several of them.
    case ambiguous(String)
}

extension DownloadManager {
    /// Looks up downloads by the first digits of their ids and runs `body` for each, all as one step of the queue.
    ///
    /// A failure ends it; what was done for the downloads before that one stays. A failure of the queue is thrown as
    /// a ``PawlError``, an error of `body`'s own as it is. A `body` that changes nothing (`changes` is `false`, default
    /// `true`) works even if the queue cannot be written.
    package func steer<Value: Sendable>(
        _ prefixes: [String], changes: Bool = true, _ body: @escaping @Sendable (QueueStep, Download.ID) throws -> Value
    ) async throws -> SteeringResult<Value> {
        let result = try await thread.step(changes: changes) { step throws(any Error) -> SteeringResult<Value> in
            do {
                var ids: [Download.ID] = []
                for prefix in prefixes {
                    let found = prefix.isEmpty ? [] : try step.keeper.ids(of: prefix, limit: 2)
                    guard let first = found.first else { return .missing(prefix) }
                    guard found.count == 1 else { return .ambiguous(prefix) }
                    ids.append(Download.ID(rawValue: first.rawValue))
                }
                return .done(try ids.map { (id: $0, value: try body(step, $0)) })
            } catch let failure as Failure { throw PawlError(failure) }
        }
        return try result.get()
    }

    /// Carries out a command as one step of the queue, and returns when its changes are written.
    @discardableResult package func perform(_ command: QueueCommand) async throws(PawlError) -> QueueCommand.Outcome {
        try await step { step throws(Failure) in try step.perform(command) }
    }

    /// Pauses a download until the user resumes or starts it.
    ///
    /// Everything received is kept. With `keepingSlot` a running download is only suspended and keeps its
    /// slot; a restart of the program releases it. `false` when the download neither waits nor runs, or is
    /// already paused.
    @discardableResult public func pause(_ id: Download.ID, keepingSlot: Bool = false) async throws(PawlError) -> Bool {
        try await perform(.pause(id, keepsSlot: keepingSlot)).isChange
    }

    /// Resumes a paused download in queue order, or retries a failed one.
    ///
    /// One that is waiting to retry does so immediately, even if the server requested a longer wait. A finished download whose file is gone is downloaded again. `false` when there was nothing to resume.
    @discardableResult public func resume(_ id: Download.ID) async throws(PawlError) -> Bool {
        try await perform(.resume(id)).isChange
    }

    /// Deletes what a failed download, or one that waits for its disk, has received, and puts it back into the queue to be
    /// downloaded from the beginning.
    ///
    /// Its options, its password and the digests of its pieces stay. ``resume(_:)`` retries it with the bytes that are on
    /// disk. `false` when there is no such download or it is in another state. Throws when its part file cannot be deleted; it stays
    /// failed then.
    @discardableResult public func startOver(_ id: Download.ID) async throws(PawlError) -> Bool {
        try await perform(.startOver(id)).isChange
    }

    /// Starts a download immediately, ahead of the queue.
    ///
    /// If all slots are taken, the longest-running download is preempted; it restarts automatically. `false`
    /// when it already runs or cannot run.
    @discardableResult public func start(now id: Download.ID) async throws(PawlError) -> Bool {
        try await perform(.start(id)).isChange
    }

    /// Stops a download and removes it with its part file, journal and, unless kept, the finished file.
    ///
    /// Files that existed before it stay. `keepingHistory` keeps its record with the standing `removed`;
    /// `keepingPartial` keeps the part file and journal, from which another download of the same URL and name
    /// resumes. `false` when there is no such download. Throws when a file cannot be removed; the download is
    /// removed in any case.
    @discardableResult public func remove(
        _ id: Download.ID, keepingFile: Bool = false, keepingHistory: Bool = false, keepingPartial: Bool = false
    ) async throws(PawlError) -> Bool {
        let removal = Removal(keepsFile: keepingFile, keepsHistory: keepingHistory, keepsPartial: keepingPartial)
        return try await perform(.remove(id, removal)).isChange
    }

    /// Renames a download's file, on disk too if it has finished.
    ///
    /// An unfinished one is renamed when it finishes. `false` when there is no such download. Throws code 13 when
    /// the name is taken and 28 when it is invalid, as an empty one is.
    @discardableResult public func rename(_ id: Download.ID, to name: String) async throws(PawlError) -> Bool {
        try await perform(.rename(id, name)).isChange
    }

    /// Moves a finished file to another folder of the root, which is created if missing.
    ///
    /// `folder` is relative to the root, empty for the root itself. The file system has to be the same. `false` when
    /// there is no such download. Throws code 13 when the folder has a file of that name, 14 when the file cannot be
    /// moved (its record stays as it was), and 28 when the download has not finished or the folder is not inside the
    /// root.
    @discardableResult public func relocate(_ id: Download.ID, toFolder folder: String) async throws(PawlError) -> Bool
    { try await perform(.relocate(id, folder: folder)).isChange }

    /// Replaces the URL of a download by another one of the same content.
    ///
    /// If the content there is not shown to be the same as on disk, the download fails with
    /// ``PawlError/Code/cannotResume`` and keeps its bytes.
    ///
    /// `false` when there is no such download or it has finished. Throws code 28 when the URL is invalid.
    @discardableResult public func replaceURL(of id: Download.ID, with source: String) async throws(PawlError) -> Bool {
        try await perform(.replaceURL(id, source)).isChange
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
    @discardableResult public func move(_ id: Download.ID, to place: Position) async throws(PawlError) -> Int? {
        guard case .moved(let index) = try await perform(.move(id, place)) else { return nil }
        return index
    }

    /// Changes the priority of a download; it goes to the end of the downloads of that priority.
    ///
    /// Default 0 for new ones, higher starts first; running downloads are not preempted. `false` when there
    /// is no such download.
    @discardableResult public func change(priority: Int, of id: Download.ID) async throws(PawlError) -> Bool {
        try await perform(.priority(id, priority)).isChange
    }

    /// Changes the number of simultaneous downloads; if it is lowered, the newest are preempted.
    ///
    /// The value survives restarts. Throws code 28 for a number that is not positive.
    public func change(maximumConcurrentDownloads slots: Int) async throws(PawlError) {
        try await perform(.slots(slots))
    }

    /// Changes the limit for all downloads together, in bytes per second; `nil` or 0 removes it.
    ///
    /// The value survives restarts. Throws code 28 for a negative limit.
    public func limit(to bytesPerSecond: Int64?) async throws(PawlError) {
        try await perform(.totalLimit(bytesPerSecond))
    }
}

extension DownloadManager {
    /// Changes the limit of one download, in bytes per second; `nil` or 0 removes it.
    ///
    /// `false` when there is no such download or it has finished. Throws code 28 for a negative limit.
    @discardableResult public func limit(_ id: Download.ID, to bytesPerSecond: Int64?) async throws(PawlError) -> Bool {
        try await perform(.limit(id, bytesPerSecond)).isChange
    }

    /// Changes the limits by time of day, see ``Configuration/timetable``; `nil` removes them, and the last
    /// value of ``limit(to:)`` applies again.
    ///
    /// The value survives restarts. Throws code 28 when the text is invalid.
    public func change(timetable: String?) async throws(PawlError) {
        try await perform(.timetable(timetable))
    }
}
#endif
