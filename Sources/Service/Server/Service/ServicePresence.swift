import Glibc
import Pawl
import PawlBase
import PawlSystem
import PawlWeb
import Synchronization

/// Keeps a running service reachable: its socket is in a folder with another lifetime than the service's, such as
/// /run/user/UID, which is removed when its user logs out.
///
/// A thread looks every second whether the files by which clients find the service are still there. A socket that is gone is
/// made again; where that is impossible, one in the root takes its place. ``ServiceNote`` says where.
final class ServicePresence: Sendable {
    /// A file, whatever its name is.
    private struct Mark: Hashable {
        var device: dev_t
        var inode: ino_t

        init?(_ path: String) {
            var found = stat()
            guard unsafe lstat(path, &found) == 0 else { return nil }
            (device, inode) = (found.st_dev, found.st_ino)
        }
    }

    private struct State {
        /// The sockets that were made.
        var sockets: [String: Mark] = [:]
        /// What is wrong now.
        var troubles: [String] = []
        /// What was logged: once each.
        var said: Set<String> = []
    }

    private static let period = Interval.seconds(1)

    private let root: String
    private let socket: String
    private let isUsual: Bool
    private let stateFolder: String?
    private let hasSecretFile: Bool
    private let server: WebServer
    private let lock: SocketLock
    private let log: ServiceLog?
    private let queue: Mark?
    private let state = Mutex(State())
    private let isClosed = Monitor(false)

    init(_ configuration: ServiceConfiguration, _ server: WebServer, _ lock: SocketLock) {
        root = configuration.root
        socket = configuration.socket
        isUsual = configuration.isUsualSocket
        stateFolder = configuration.manager.stateFolder
        hasSecretFile = configuration.secret == nil && !configuration.asksNoSecret
        log = configuration.log
        self.server = server
        self.lock = lock
        queue = Mark("\(root)/.pawl/queue.db")
        state.withLock { $0.sockets[socket] = Mark(socket) }
    }

    /// What the owner must know of files that are gone.
    var troubles: [String] { state.withLock(\.troubles) }

    func begin() {
        if let stateFolder { ServiceNote.sweep(stateFolder) }
        writeNotes()
        SystemThread.detached("pawl-presence", blocksSignals: true) { [self] in
            while isClosed.wait(until: SystemClock().now + Self.period, for: { $0 ? true : nil }) == nil { look() }
        }
    }

    /// Removes what ``begin()`` made.
    func close() {
        isClosed.with { $0 = true }
        for path in notePaths where isOwn(path) { _ = unsafe unlink(path) }
    }

    // MARK: looking

    private func look() {
        keepSockets()
        if notePaths.contains(where: { Mark($0) == nil }) { writeNotes() }
        var troubles: [String] = []
        if let queue, Mark("\(root)/.pawl/queue.db") != queue {
            troubles.append(
                """
                the queue \(root)/.pawl/queue.db was deleted, moved or replaced while the service runs; nothing is added until \
                it is back, or the service is stopped and started again
                """)
        }
        if hasSecretFile, Mark("\(root)/.pawl/secret") == nil {
            troubles.append(
                "the secret file \(root)/.pawl/secret was removed; its secret is valid until the service ends, the next start creates a new one"
            )
        }
        let sockets = state.withLock(\.sockets)
        if sockets[socket] == nil {
            let other = sockets.keys.first.map { "; commands reach the service at \($0)" } ?? ""
            troubles.append("the socket \(socket) is gone and cannot be made again\(other)")
        }
        let new = state.withLock { state in
            state.troubles = troubles
            return troubles.filter { state.said.insert($0).inserted }
        }
        for text in new { log?.note("trouble", text) }
    }

    private func keepSockets() {
        let before = state.withLock(\.sockets)
        var sockets = before.filter { Mark($0.key) == $0.value }
        if sockets[socket] == nil, let mark = makeAgain() { sockets[socket] = mark }
        let other = "\(root)/.pawl/socket"
        if sockets.isEmpty, other != socket, let mark = make(other) { sockets[other] = mark }
        guard sockets != before else { return }
        state.withLock { $0.sockets = sockets }
        if sockets[socket] != nil { log?.note("socket", "the socket \(socket) was gone, and was made again") }
        writeNotes()
    }

    /// `nil` if another service has taken the place, or its folder cannot be made.
    private func makeAgain() -> Mark? {
        do throws(Failure) { try lock.renew() } catch { return nil }
        return make(socket)
    }

    private func make(_ path: String) -> Mark? {
        let server = server
        let isMade = SystemThread.wait { await server.listen(atSocket: path) }
        return isMade ? Mark(path) : nil
    }

    // MARK: notes

    private var notePaths: [String] {
        let other = stateFolder.map { ServiceNote.path(of: getpid(), in: $0) }
        return [ServiceNote.path(below: root)] + (other.map { [$0] } ?? [])
    }

    private func writeNotes() {
        let note = ServiceNote(
            process: .own, root: root, socket: socket, isUsual: isUsual,
            sockets: state.withLock(\.sockets).keys.sorted())
        let bytes = Array(note.json.text.utf8)
        isClosed.with(waking: .none) { isClosed in
            guard !isClosed else { return }
            // Not synced: after a power cut there is no service. If the root's folder is gone, none is made in its place.
            try? AtomicFile.replace(ServiceNote.path(below: root), with: bytes, syncs: false)
            guard let stateFolder else { return }
            StateFile(String(getpid()), in: "\(stateFolder)/services").replace(with: bytes, syncs: false)
        }
    }

    private func isOwn(_ path: String) -> Bool {
        let bytes = (try? AtomicFile.read(path, atMost: 64 * 1024)) ?? nil
        return bytes.flatMap { try? JSON.parse($0) }.flatMap(ServiceNote.init)?.process == .own
    }
}
