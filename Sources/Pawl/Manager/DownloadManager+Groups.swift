import PawlCore
import PawlEngine

/// Downloads that stop and go on together.
public struct DownloadGroup: Sendable, Hashable {
    /// What it is called.
    public var name: String
    /// Whether it is paused as a whole.
    public var isPaused: Bool
    /// How many downloads it has, removed ones not counted.
    public var count: Int
}

extension DownloadManager {
    /// Every group that has downloads or is paused, by name.
    public func groups() async throws(PawlError) -> [DownloadGroup] {
        try await ask { keeper throws(Failure) in try keeper.groups() }
    }

    /// Whether a group is paused as a whole.
    public func isPaused(group: String) async throws(PawlError) -> Bool {
        try await ask { $0.pausedGroups.contains(group) }
    }

    /// The groups that are paused as a whole, by name.
    package func pausedGroups() async throws(PawlError) -> [String] {
        try await ask { $0.pausedGroups.sorted() }
    }

    /// Pauses a group: none of its downloads runs until the group is resumed, but by force.
    ///
    /// Who was paused singly is told apart. It outlives the program.
    public func pause(group: String) async throws(PawlError) {
        try await ask { $0.pause(group: group) }
    }

    /// Lets a group go on; who was paused singly stays paused.
    public func resume(group: String) async throws(PawlError) {
        try await ask { $0.resume(group: group) }
    }

    /// Puts a download into another group, `nil` for none; it stops when that one is paused.
    ///
    /// `false` when there is no such download.
    @discardableResult
    public func change(group: String?, of id: Download.ID) async throws(PawlError) -> Bool {
        try await ask { keeper throws(Failure) in try keeper.change(group: group ?? "", of: QueueID(id)) }
    }
}

extension QueueKeeper {
    fileprivate func groups() throws(Failure) -> [DownloadGroup] {
        writeNow()
        var counts = try store.groups()
        for group in pausedGroups { counts[group, default: 0] += 0 }
        return counts.sorted { $0.key < $1.key }.map { name, count in
            DownloadGroup(name: name, isPaused: pausedGroups.contains(name), count: count)
        }
    }

    fileprivate func change(group: String, of id: QueueID) throws(Failure) -> Bool {
        guard var record = try record(id), record.state != .removed else { return false }
        record.group = group
        put(record)
        perform(machine.change(group: record.groupID, of: id))
        tell(id, .changed)
        return true
    }
}
