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
        /// What sockets have not been told yet.
        var letters: [[UInt8]] = []
        /// Some went out a moment ago.
        var isResting = false
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
        let (server, readers, goesOut) = state.withLock { state in
            for word in EventLines.words(for: event, &state.running) {
                state.letters.append(EventLines.letter(word, event.id))
            }
            let goesOut = !state.letters.isEmpty && !state.isResting
            if goesOut { state.isResting = true }
            return (state.server, state.readers, goesOut)
        }
        if goesOut { Task { await sendAndRest() } }
        if !readers.isEmpty {
            server?.push([ServiceEvent.json(event).utf8 + [UInt8(ascii: "\n")]], to: readers)
        }
    }

    /// Sends at once, and then what has come together in a while: with many clients each time costs a lot.
    private func sendAndRest() async {
        while send() { try? await Task.sleep(for: EventLines.rest) }
    }

    /// Whether there was anything; after nothing the next one goes out at once.
    private func send() -> Bool {
        let (server, sockets, letters) = state.withLock { state in
            defer { state.letters = [] }
            state.isResting = !state.letters.isEmpty
            return (state.server, state.sockets, state.letters)
        }
        server?.push(letters, to: sockets)
        return !letters.isEmpty
    }

    /// Says of what runs that it stops: nothing more is told after this.
    func tellStop() {
        state.withLock { state in
            state.letters += state.running.map { EventLines.letter("onDownloadStop", $0) }
            state.running = []
        }
        _ = send()
    }

    private static let rest = Duration.milliseconds(100)

    private static func letter(_ word: String, _ id: Download.ID) -> [UInt8] {
        let letter: JSON = [
            "jsonrpc": "2.0", "method": .string("aria2.\(word)"),
            "params": [["gid": .string(id.description)]],
        ]
        return letter.utf8
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
