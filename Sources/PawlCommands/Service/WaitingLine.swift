import PawlCore

/// The downloads that wait for a slot, the next one first.
struct WaitingLine {
    private let ids: [String]

    /// From the downloads of the queue in their order.
    init(_ downloads: [RemoteDownload]) {
        ids = downloads.filter { $0.state == "waiting" || $0.state == "preempted" }.map(\.id)
    }

    /// What is the case with a download that was put into the queue and did not start; `nil` if it runs.
    func words(for id: String) -> String? {
        guard let index = ids.firstIndex(of: id) else { return nil }
        return "queued, position \(index + 1); 'pawl start \(id.prefix(ShortIDs.fewest))' starts it now"
    }
}

extension ServiceClient {
    /// The downloads that wait for a slot.
    func line() throws(Failure) -> WaitingLine {
        let listed = try call("pawl.list", [["states": ["waiting"]]], to: "list").array ?? []
        return WaitingLine(listed.compactMap(RemoteDownload.init))
    }
}
