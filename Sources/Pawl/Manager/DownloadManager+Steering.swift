import PawlCore
import PawlEngine

extension DownloadManager {
    /// Pauses a download; nothing but the user starts it again.
    ///
    /// Everything received is kept. With `keepingSlot` one that runs only stands still, and no other runs in its place;
    /// a restart of the program ends that. `false` when it does not wait or run, or is paused already.
    @discardableResult
    public func pause(_ id: Download.ID, keepingSlot: Bool = false) async throws(PawlError) -> Bool {
        try await ask { $0.pause(QueueID(id), keepsSlot: keepingSlot) }
    }

    /// Lets a paused download go on when its turn comes, and one that failed try again.
    ///
    /// One that finished and whose file is gone is fetched anew. `false` when there was nothing to resume.
    @discardableResult
    public func resume(_ id: Download.ID) async throws(PawlError) -> Bool {
        try await ask { keeper throws(Failure) in try keeper.resume(QueueID(id)) }
    }

    /// Starts a download at once, whatever its turn.
    ///
    /// When all slots are taken, the download that has run longest makes room; it starts again by itself. `false` when it
    /// runs already or cannot run.
    @discardableResult
    public func start(now id: Download.ID) async throws(PawlError) -> Bool {
        try await ask { keeper throws(Failure) in try keeper.force(QueueID(id)) }
    }

    /// Stops a download and removes it with what it made: part file, journal and, unless kept, the finished file.
    ///
    /// Files that were there before it stay. `keepingHistory` leaves its record, of the standing `removed`;
    /// `keepingPartial` leaves part file and journal, with which another download of the same address and name goes on.
    /// `false` when there is no such download. Throws when a file cannot be removed; the download is gone all the same.
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

    /// Gives a download another file name, on disk too when it has finished.
    ///
    /// An unfinished one gets it when it finishes. Empty keeps the old name. `false` when there is no such download.
    /// Throws code 13 when the name is taken and 28 when it cannot be a name.
    @discardableResult
    public func rename(_ id: Download.ID, to name: String) async throws(PawlError) -> Bool {
        try await ask { keeper throws(Failure) in try keeper.rename(QueueID(id), to: name) }
    }

    /// Lets a download go on under another address of the same content.
    ///
    /// If the content there is not shown to be the one on disk, the download fails with
    /// ``PawlError/Code/cannotResume`` and keeps its bytes.
    ///
    /// `false` when there is no such download or it has finished. Throws code 28 when the address cannot be used.
    @discardableResult
    public func replaceURL(of id: Download.ID, with source: String) async throws(PawlError) -> Bool {
        try await ask { keeper throws(Failure) in
            try keeper.replace(QueueID(id), with: try WebAddress.parse(source).address)
        }
    }

    /// Where in the line a waiting or paused download is wished to stand.
    public enum Position: Sendable, Hashable {
        /// At this index of the line, as near to it as its priority lets it; 0 is next.
        case index(Int)
        /// This many places further back; negative is forward.
        case offset(Int)
        /// This many places before the end; 0 is the last.
        case fromEnd(Int)
    }

    /// Moves a download in the line, within its priority, and gives its index there.
    ///
    /// `nil` when it does not stand in the line.
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
            // Others may have made room.
            for case .place(let other, _) in actions where other != QueueID(id) {
                keeper.tell(other, .changed)
            }
            return index
        }
    }

    /// Gives a download another priority; it goes to the end of those.
    ///
    /// Default for new ones is 0, greater runs earlier; nobody is stopped for it. `false` when there is no such download.
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

    /// Changes how many downloads run at once; with fewer, the newest make room.
    ///
    /// It outlives the program.
    public func change(slots: Int) async throws(PawlError) {
        try await ask { $0.change(slots: slots) }
    }

    /// Changes the limit of all downloads together, in bytes per second; `nil` takes it away.
    ///
    /// It outlives the program.
    public func limit(to bytesPerSecond: Int64?) async throws(PawlError) {
        try await ask { $0.limit(to: bytesPerSecond) }
    }
}

extension DownloadManager {
    /// Changes the limit of one download, in bytes per second; `nil` takes it away.
    ///
    /// `false` when there is no such download.
    @discardableResult
    public func limit(_ id: Download.ID, to bytesPerSecond: Int64?) async throws(PawlError) -> Bool {
        try await ask { keeper throws(Failure) in try keeper.limit(QueueID(id), to: bytesPerSecond) }
    }

    /// Changes the limits by time of day, see ``Configuration/timetable``; `nil` takes them away, and what ``limit(to:)``
    /// said last holds again.
    ///
    /// It outlives the program. Throws code 28 when the text cannot be understood.
    public func change(timetable: String?) async throws(PawlError) {
        try await ask { keeper throws(Failure) in try keeper.change(timetable: timetable) }
    }
}
