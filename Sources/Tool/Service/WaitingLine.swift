import PawlBase
import PawlTerminal

/// The downloads that wait for a slot, the next one first.
struct WaitingLine {
    private let ids: [String]
    /// The paused groups of those that are in one.
    private var held: [String: String] = [:]
    /// Why none of them starts by itself now.
    private let pause: String?

    /// From the downloads of the queue in their order.
    init(_ downloads: [RemoteDownload], pausedGroups: [String] = [], pause: String? = nil) {
        self.pause = pause
        let waiting = downloads.filter { $0.state == "waiting" || $0.state == "preempted" }
        ids = waiting.map(\.id)
        for download in waiting {
            guard let group = download.group, pausedGroups.containsBytes(of: group) else { continue }
            held[download.id] = group
        }
    }

    /// A paused group that keeps downloads from running.
    var heldGroup: String? { ids.lazy.compactMap { held[$0] }.first }

    /// What is the case with a download that was put into the queue and did not start; `nil` if it runs.
    func words(for id: String) -> String? {
        guard let index = ids.firstIndex(of: id) else { return nil }
        if let group = held[id] {
            return "queued, and its group \(group) is paused; 'pawl resume --group \(group)' lets it run"
        }
        if let pause { return "queued; \(pause), 'pawl start \(ShortIDs.text(id))' starts it now" }
        return "queued, position \(index + 1); 'pawl start \(ShortIDs.text(id))' starts it now"
    }
}

extension ServiceClient {
    /// The downloads that wait for a slot.
    func line() throws(Failure) -> WaitingLine {
        let listed = try call("pawl.list", [["states": ["waiting"]]], to: "list").array ?? []
        return WaitingLine(
            listed.compactMap(RemoteDownload.init), pausedGroups: try groups().filter(\.isPaused).map(\.name),
            pause: try call("pawl.limits", [], to: "query").timetablePause)
    }
}

extension JSON {
    /// From limits or a status: that the timetable pauses all downloads; `nil` if it does not.
    var timetablePause: String? {
        guard self["isPaused"]?.bool == true else { return nil }
        let end = self["pausedUntil"]?.integer.map { " until \(TimeText.near($0))" } ?? ""
        return "the timetable pauses all downloads\(end)"
    }
}
