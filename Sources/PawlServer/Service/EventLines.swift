import Pawl
import PawlCore
import Synchronization

/// Tells events to those who listen: WebSockets in aria2's words, streams in ours.
final class EventLines: Sendable {
    private struct State {
        var server: WebServer?
        var sockets: Set<ConnectionID> = []
        var readers: Set<ConnectionID> = []
        /// What runs, as far as events told: aria2's words depend on it.
        var running: Set<Download.ID> = []
    }

    private let state = Mutex(State())

    func attach(_ server: WebServer) { state.withLock { $0.server = server } }
    /// Whether it was not there yet.
    func add(socket: ConnectionID) -> Bool { state.withLock { $0.sockets.insert(socket).inserted } }
    func add(reader: ConnectionID) { state.withLock { _ = $0.readers.insert(reader) } }

    /// What ran before anything was told.
    func begin(with running: some Sequence<Download.ID>) { state.withLock { $0.running.formUnion(running) } }

    func remove(_ connection: ConnectionID) {
        state.withLock { state in
            state.sockets.remove(connection)
            state.readers.remove(connection)
        }
    }

    func tell(_ event: DownloadEvent) {
        let (server, sockets, readers, words) = state.withLock { state in
            (state.server, state.sockets, state.readers, EventLines.words(for: event, &state.running))
        }
        guard let server else { return }
        for word in words { EventLines.tell(word, of: event.id, to: sockets, by: server) }
        guard !readers.isEmpty else { return }
        let line = ServiceEvent.json(event).utf8 + [UInt8(ascii: "\n")]
        for reader in readers { server.push(line, to: reader) }
    }

    /// Says of what runs that it stops: nothing more is told after this.
    func tellStop() {
        let (server, sockets, running) = state.withLock { state in
            defer { state.running = [] }
            return (state.server, state.sockets, state.running)
        }
        guard let server else { return }
        for id in running { EventLines.tell("onDownloadStop", of: id, to: sockets, by: server) }
    }

    private static func tell(
        _ word: String,
        of id: Download.ID,
        to sockets: Set<ConnectionID>,
        by server: WebServer
    ) {
        let letter: JSON = [
            "jsonrpc": "2.0", "method": .string("aria2.\(word)"),
            "params": [["gid": .string(id.description)]],
        ]
        let bytes = letter.utf8
        for socket in sockets { server.push(bytes, to: socket) }
    }

    /// What aria2 would say.
    static func words(for event: DownloadEvent, _ running: inout Set<Download.ID>) -> [String] {
        guard case .state(let state) = event.kind else { return [] }
        switch state {
        case .probing, .transferring, .waitingForNetwork, .verifying, .publishing:
            return running.insert(event.id).inserted ? ["onDownloadStart"] : []
        case .paused: return running.remove(event.id) == nil ? [] : ["onDownloadPause"]
        case .waiting, .preempted:
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
