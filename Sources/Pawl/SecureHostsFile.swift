import PawlCore
import PawlEngine
import Synchronization

/// The hosts that are asked over TLS only, in the file `hsts` of the state folder, which all programs of the user share.
///
/// A help and no more, as ``HostTableFile`` is.
final class SecureHostsFile: Sendable {
    private struct State: Sendable {
        var hosts: SecureHosts
        /// What was said and is not written yet, the last word of each host.
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
        // Not on the thread that moves bytes: the folder may be far away.
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
            // Another program may have learnt of others meanwhile.
            var hosts = Self.read(file, now: now)
            for (host, field) in words { _ = hosts.note(field, of: host, now: now) }
            file.replace(with: Array(hosts.text.utf8))
        }
    }

    private static func read(_ file: StateFile, now: UnixTime) -> SecureHosts {
        SecureHosts(parsing: file.read(atMost: SecureHosts.mostBytes), now: now)
    }
}
