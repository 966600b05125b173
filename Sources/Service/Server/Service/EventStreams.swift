import Pawl
import PawlBase
import PawlWeb
import Synchronization

/// Sends events to listeners: to WebSockets as the service's extensions word them, to streams in Pawl's format.
final class EventStreams: Sendable {
    private struct State {
        var server: WebServer?
        /// WebSockets and their pending events.
        var broadcasts = BatchedBroadcast()
        var readers: Set<ConnectionID> = []
        /// The running downloads, according to the events: notifications depend on it.
        var running: Set<Download.ID> = []
    }

    private let extensions: [any ServiceExtension]
    private let state = Mutex(State())

    init(_ extensions: [any ServiceExtension]) { self.extensions = extensions }

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
            if let occasion = Hooks.Occasion.met(by: event, &state.running) {
                notify(of: occasion, event.id, &state.broadcasts)
            }
            return (state.server, state.readers, state.broadcasts.begins())
        }
        if begins { Task { await sendInRounds() } }
        if !readers.isEmpty { server?.push([ServiceJSON.json(event).utf8 + [UInt8(ascii: "\n")]], to: readers) }
    }

    /// A collection was added, has ended, or was paused, resumed or removed (`nil`).
    func send(collection id: String, _ snapshot: CollectionQueue.Snapshot?) {
        let (server, readers) = state.withLock { ($0.server, $0.readers) }
        guard !readers.isEmpty else { return }
        let members =
            snapshot.map { ServiceJSON.json($0).members ?? [] } ?? [
                JSON.Member("id", .string(id)), JSON.Member("state", "removed"),
            ]
        let event = JSON.object([JSON.Member("event", "collection")] + members)
        server?.push([event.utf8 + [UInt8(ascii: "\n")]], to: readers)
    }

    private func notify(of occasion: Hooks.Occasion, _ id: Download.ID, _ broadcasts: inout BatchedBroadcast) {
        for each in extensions { broadcasts.add(each.notification(of: occasion, id)) }
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
            for id in state.running { notify(of: .stop, id, &state.broadcasts) }
            state.running = []
            return (state.server, state.broadcasts.rest())
        }
        for portion in rest { server?.push(portion.messages, to: portion.listeners) }
    }
}
