import Glibc
import PawlCore
import PawlEngine
import Synchronization

/// The connection limits of hosts, in a small file of the state folder that all programs of the user share.
///
/// Best effort: a missing or read-only folder, or a damaged file, is treated as empty. Each writer replaces
/// the whole file with its current content and the writer's own changes.
final class HostTableFile: HostNotes {
    private struct State: Sendable {
        var table: HostTable
        /// Changes not yet written.
        var pending: [Origin: Change] = [:]
        var isWriting = false
    }

    private enum Change: Sendable {
        case note(Int, isCertain: Bool)
        case forget

        func apply(to table: inout HostTable, of origin: Origin, now: UnixTime) {
            switch self {
            case .note(let connections, let isCertain):
                table.note(connections, of: origin, isCertain: isCertain, now: now)
            case .forget:
                table.forget(origin)
            }
        }
    }

    private let file: StateFile
    private let secureHosts: SecureHostsFile
    private let clock: any Clock
    private let threads: any Threads
    private let state: Mutex<State>

    init(in folder: String, clock: any Clock, threads: any Threads) {
        file = StateFile("hosts", in: folder)
        secureHosts = SecureHostsFile(in: folder, clock: clock, threads: threads)
        self.clock = clock
        self.threads = threads
        state = Mutex(State(table: Self.read(file, now: clock.wallTime)))
    }

    func borne(by origin: Origin) -> Int? {
        let now = clock.wallTime
        return state.withLock { $0.table.connections(of: origin, now: now) }
    }

    func note(_ connections: Int, of origin: Origin, isCertain: Bool) {
        make(.note(connections, isCertain: isCertain), of: origin)
    }

    func forget(_ origin: Origin) { make(.forget, of: origin) }

    private func make(_ change: Change, of origin: Origin) {
        let now = clock.wallTime
        let isFirst = state.withLock { state in
            change.apply(to: &state.table, of: origin, now: now)
            state.pending[origin] = change
            defer { state.isWriting = true }
            return !state.isWriting
        }
        guard isFirst else { return }
        // Not on the transfer thread: the folder may be on a slow file system.
        threads.start("pawl-hosts") { self.write() }
    }

    private func write() {
        while true {
            let changes = state.withLock { state in
                defer { state.pending = [:] }
                state.isWriting = !state.pending.isEmpty
                return state.pending
            }
            guard !changes.isEmpty else { return }
            let now = clock.wallTime
            var table = Self.read(file, now: now)
            for (origin, change) in changes { change.apply(to: &table, of: origin, now: now) }
            file.replace(with: Array(table.text.utf8))
        }
    }

    private static func read(_ file: StateFile, now: UnixTime) -> HostTable {
        HostTable(parsing: file.read(atMost: HostTable.mostBytes), now: now)
    }

    func secured(_ address: WebAddress) -> WebAddress { secureHosts.secured(address) }
    func note(transportSecurity field: String, of host: String) { secureHosts.note(field, of: host) }
}

extension Ports {
    /// These ports, with the connection limits stored in `folder`.
    func remembering(in folder: String?) -> Ports {
        guard let folder, !folder.isEmpty else { return self }
        var ports = self
        ports.hostNotes = HostTableFile(in: folder, clock: clock, threads: threads)
        return ports
    }
}

/// The folder for Pawl's own state.
package enum StateFolder {
    /// `$XDG_STATE_HOME/pawl`, else `~/.local/state/pawl`; `nil` without a home directory.
    package static var usual: String? {
        if let state = variable("XDG_STATE_HOME"), state.hasPrefix("/") { return "\(state)/pawl" }
        return variable("HOME").flatMap { $0.hasPrefix("/") ? "\($0)/.local/state/pawl" : nil }
    }

    private static func variable(_ name: String) -> String? {
        unsafe getenv(name).map { unsafe String(cString: $0) }
    }
}
