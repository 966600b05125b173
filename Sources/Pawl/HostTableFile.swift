import PawlCore
import PawlEngine
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// What hosts bear, in a small file of the state folder that all programs of the user share.
///
/// It is a help and no more: a folder that is not there or cannot be written, or a file that is damaged, is as if nothing
/// were known. Each writer replaces the whole file, with what it holds at that moment and its own words.
final class HostTableFile: HostNotes {
    private struct State: Sendable {
        var table: HostTable
        /// What has still to be written.
        var pending: [Origin: Int] = [:]
        var isWriting = false
    }

    private let folder: String
    private let clock: any Clock
    private let threads: any Threads
    private let state: Mutex<State>

    private var path: String { "\(folder)/hosts" }

    init(in folder: String, clock: any Clock, threads: any Threads) {
        self.folder = folder
        self.clock = clock
        self.threads = threads
        state = Mutex(State(table: Self.read("\(folder)/hosts", now: clock.wallTime)))
    }

    func borne(by origin: Origin) -> Int? {
        let now = clock.wallTime
        return state.withLock { $0.table.connections(of: origin, now: now) }
    }

    func note(_ connections: Int, of origin: Origin) {
        let now = clock.wallTime
        let isFirst = state.withLock { state in
            state.table.note(connections, of: origin, now: now)
            state.pending[origin] = connections
            defer { state.isWriting = true }
            return !state.isWriting
        }
        guard isFirst else { return }
        // Not on the thread that moves bytes: the folder may be far away.
        threads.start("pawl-hosts") { self.write() }
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
            var table = Self.read(path, now: now)
            for (origin, connections) in words { table.note(connections, of: origin, now: now) }
            replace(with: Array(table.text.utf8))
        }
    }

    // MARK: the file

    private static func read(_ path: String, now: UnixTime) -> HostTable {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else { return HostTable() }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: HostTable.mostBytes + 1)
        var count = 0
        while count < bytes.count {
            let more = unsafe bytes[count...].withUnsafeMutableBytes {
                unsafe systemRead(file, $0.baseAddress, $0.count)
            }
            guard more > 0 else { break }
            count += more
        }
        return HostTable(parsing: Array(bytes[..<count]), now: now)
    }

    private func replace(with bytes: [UInt8]) {
        makeFolder()
        let draft = "\(path).\(getpid())"
        _ = unsafe unlink(draft)
        let file = unsafe open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { return }
        let isWritten =
            unsafe bytes.withUnsafeBytes { unsafe systemWrite(file, $0.baseAddress, $0.count) } == bytes.count
        guard close(file) == 0, isWritten, unsafe rename(draft, path) == 0 else {
            _ = unsafe unlink(draft)
            return
        }
    }

    private func makeFolder() {
        var made = folder.hasPrefix("/") ? "" : "."
        for part in folder.split(separator: "/") {
            made += "/\(part)"
            _ = unsafe mkdir(made, 0o700)
        }
    }
}

// Names that the file's own methods do not hide.
private func systemRead(_ file: CInt, _ buffer: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    unsafe read(file, buffer, count)
}

private func systemWrite(_ file: CInt, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    unsafe write(file, bytes, count)
}

extension Ports {
    /// These, with a memory of what hosts bear in `folder`.
    func remembering(in folder: String?) -> Ports {
        guard let folder, !folder.isEmpty else { return self }
        var ports = self
        ports.hostNotes = HostTableFile(in: folder, clock: clock, threads: threads)
        return ports
    }
}

/// Where Pawl keeps what is not the caller's.
package enum StateFolder {
    /// `$XDG_STATE_HOME/pawl`, else `~/.local/state/pawl`; `nil` when there is no home.
    package static var usual: String? {
        if let state = variable("XDG_STATE_HOME"), state.hasPrefix("/") { return "\(state)/pawl" }
        return variable("HOME").flatMap { $0.hasPrefix("/") ? "\($0)/.local/state/pawl" : nil }
    }

    private static func variable(_ name: String) -> String? {
        unsafe getenv(name).map { unsafe String(cString: $0) }
    }
}
