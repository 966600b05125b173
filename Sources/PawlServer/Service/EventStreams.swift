import Pawl
import PawlCore
import Synchronization

/// Sends events to listeners: to WebSockets in aria2's format, to streams in Pawl's.
final class EventStreams: Sendable {
    private struct State {
        var server: WebServer?
        /// WebSockets and their pending events.
        var broadcasts = BatchedBroadcast()
        var readers: Set<ConnectionID> = []
        /// The running downloads, according to the events: aria2's notifications depend on it.
        var running: Set<Download.ID> = []
    }

    private let state = Mutex(State())

    func attach(_ server: WebServer) { state.withLock { $0.server = server } }
    /// Whether it was new.
    func add(socket: ConnectionID) -> Bool { state.withLock { $0.broadcasts.add(socket) } }
    func add(reader: ConnectionID) { state.withLock { _ = $0.readers.insert(reader) } }

    /// The downloads that ran before the first event.
    func begin(with running: some Sequence<Download.ID>) { state.withLock { $0.running.formUnion(running) } }

    func remove(_ connection: ConnectionID) {
        state.withLock { state in
            state.broadcasts.remove(connection)
            state.readers.remove(connection)
        }
    }

    func send(_ event: DownloadEvent) {
        let (server, readers, begins) = state.withLock { state in
            for word in EventStreams.words(for: event, &state.running) {
                state.broadcasts.add(EventStreams.message(word, event.id))
            }
            return (state.server, state.readers, state.broadcasts.begins())
        }
        if begins { Task { await sendInRounds() } }
        if !readers.isEmpty { server?.push([ServiceJSON.json(event).utf8 + [UInt8(ascii: "\n")]], to: readers) }
    }

    private func sendInRounds() async {
        while let (server, portion) = state.withLock({ state in state.broadcasts.next().map { (state.server, $0) } }) {
            server?.push(portion.messages, to: portion.listeners)
            try? await Task.sleep(for: portion.pause)
        }
    }

    /// Sends the stop of all running downloads; no event follows.
    func sendStop() {
        let (server, rest) = state.withLock { state in
            for id in state.running { state.broadcasts.add(EventStreams.message("onDownloadStop", id)) }
            state.running = []
            return (state.server, state.broadcasts.rest())
        }
        for portion in rest { server?.push(portion.messages, to: portion.listeners) }
    }

    private static func message(_ word: String, _ id: Download.ID) -> [UInt8] {
        let message: JSON = [
            "jsonrpc": "2.0", "method": .string("aria2.\(word)"), "params": [["gid": .string(id.description)]],
        ]
        return message.utf8
    }

    /// aria2's notification for the event.
    static func words(for event: DownloadEvent, _ running: inout Set<Download.ID>) -> [String] {
        guard case .state(let state) = event.kind else { return [] }
        switch state {
        case .probing, .transferring, .waitingForNetwork, .verifying, .publishing:
            return running.insert(event.id).inserted ? ["onDownloadStart"] : []
        case .paused: return running.remove(event.id) == nil ? [] : ["onDownloadPause"]
        case .waiting, .waitingForDisk, .preempted:
            running.remove(event.id)
            return []
        case .removed: return running.remove(event.id) == nil ? [] : ["onDownloadStop"]
        case .finished:
            running.remove(event.id)
            return ["onDownloadComplete"]
        case .failed:
            running.remove(event.id)
            return ["onDownloadError"]
        }
    }
}
