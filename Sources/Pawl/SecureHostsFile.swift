import PawlCore
import PawlEngine
import Synchronization

/// The HSTS hosts (RFC 6797), in the file `hsts` of the state folder, shared by all programs of the user.
///
/// Best effort, as ``HostTableFile``.
final class SecureHostsFile: Sendable {
    private struct State: Sendable {
        var hosts: SecureHosts
        /// Changes not yet written, the latest of each host.
        var pending: [String: String] = [:]
        var isWriting = false
    }

    private let file: StateFile
    private let clock: any Clock
    private let threads: any Threads
    private let state: Mutex<State>

    init(in folder: String, clock: any Clock, threads: any Threads) {
        file = StateFile("hsts", in: folder)
        self.clock = clock
        self.threads = threads
        state = Mutex(State(hosts: Self.read(file, now: clock.wallTime)))
    }

    func secured(_ address: WebAddress) -> WebAddress {
        let hosts = state.withLock { $0.hosts }
        return hosts.isEmpty ? address : hosts.secured(address, now: clock.wallTime)
    }

    func note(_ field: String, of host: String) {
        let now = clock.wallTime
        let isFirst = state.withLock { state in
            guard state.hosts.note(field, of: host, now: now) else { return false }
            state.pending[host] = field
            defer { state.isWriting = true }
            return !state.isWriting
        }
        guard isFirst else { return }
        // Not on the transfer thread: the folder may be on a slow file system.
        threads.start("pawl-hsts") { self.write() }
    }

    private func write() {
        while true {
            let words = state.withLock { state in
                defer { state.pending = [:] }
                state.isWriting = !state.pending.isEmpty
                return state.pending
            }
            guard !words.isEmpty else { return }
            let now = clock.wallTime
            // Another program may have added hosts meanwhile.
            var hosts = Self.read(file, now: now)
            for (host, field) in words { _ = hosts.note(field, of: host, now: now) }
            file.replace(with: Array(hosts.text.utf8))
        }
    }

    private static func read(_ file: StateFile, now: UnixTime) -> SecureHosts {
        SecureHosts(parsing: file.read(atMost: SecureHosts.mostBytes), now: now)
    }
}
