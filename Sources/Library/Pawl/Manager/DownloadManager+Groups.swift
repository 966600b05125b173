#if Queue
import PawlBase
import PawlQueue

/// Downloads that are paused and resumed together.
public struct DownloadGroup: Sendable, Hashable {
    /// The name.
    public var name: String
    /// Whether the group is paused.
    public var isPaused: Bool
    /// The number of its downloads, removed ones excluded.
    public var count: Int

    /// Creates a group, for tests and previews.
    public init(
        name: String, isPaused: Bool = false, count: Int = 0
    ) {
        self.name = name
        self.isPaused = isPaused
        self.count = count
    }
}

extension DownloadManager {
    /// All groups that have downloads or are paused, by name.
    public func groups() async throws(PawlError) -> [DownloadGroup] {
        try await query { keeper throws(Failure) in try keeper.groups() }
    }

    /// Whether a group is paused.
    public func isPaused(group: String) async throws(PawlError) -> Bool {
        try await query { $0.pausedGroups.contains(Bytewise(group)) }
    }

    /// The paused groups, by name.
    package func pausedGroups() async throws(PawlError) -> [String] {
        try await query { $0.pausedGroups.sorted().map(\.wrappedValue) }
    }

    /// Pauses a group: its downloads do not run until the group is resumed, except by a forced start.
    ///
    /// Downloads paused individually are tracked separately: those of the group that did not run stay
    /// ``DownloadState/waiting``, and ``DownloadGroup/isPaused`` tells why. The state survives restarts. Throws code 28 for a name with
    /// control characters.
    public func pause(group: String) async throws(PawlError) {
        try await perform(.pauseGroup(group))
    }

    /// Resumes a group; downloads paused individually stay paused.
    public func resume(group: String) async throws(PawlError) { try await perform(.resumeGroup(group)) }

    /// Moves a download to another group, `nil` for none; it stops if that group is paused.
    ///
    /// `false` if there is no such download.
    @discardableResult public func change(group: String?, of id: Download.ID) async throws(PawlError) -> Bool {
        try await perform(.group(id, group ?? "")).isChange
    }
}

extension QueueKeeper {
    fileprivate func groups() throws(Failure) -> [DownloadGroup] {
        writeNow()
        var counts: [Bytewise<String>: Int] = [:]
        for (name, count) in try store.groups() { counts[Bytewise(name)] = count }
        for group in pausedGroups { counts[group, default: 0] += 0 }
        return counts.sorted { $0.key < $1.key }.map { name, count in
            DownloadGroup(name: name.wrappedValue, isPaused: pausedGroups.contains(name), count: count)
        }
    }
}
#endif
