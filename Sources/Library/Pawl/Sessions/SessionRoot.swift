#if Queue
import Glibc
import PawlBase
import PawlCore
import PawlStore
import PawlSystem

/// The folder of a background session, with its queue and files; it is held by a program, by the service, or
/// by no process.
///
/// A program holds the session by a lock of its own beside the queue's. It takes that lock first, and then
/// waits for the queue. The service tests the program's lock and never takes it: so a program always has
/// precedence, and a second program is refused at once.
package struct SessionRoot: Sendable, Hashable {
    package let path: String

    package init(of identifier: String, in state: String) { path = "\(state)/\(Self.escaped(identifier))" }

    private init(path: String) { self.path = path }

    /// `$XDG_STATE_HOME/pawl/sessions`, else `~/.local/state/pawl/sessions`; `nil` without a home directory.
    package static var usualState: String? { Environment.pawlState.map { "\($0)/sessions" } }

    /// A path component that never begins with a dot and is unique to the identifier.
    package static func escaped(_ identifier: String) -> String {
        var text = ""
        for byte in identifier.utf8 {
            let isPlain =
                (0x30...0x39 ~= byte) || (0x41...0x5A ~= byte) || (0x61...0x7A ~= byte) || byte == 0x2D
                || (byte == 0x2E && !text.isEmpty)
            let digits = String(byte, radix: 16, uppercase: true)
            text += isPlain ? String(UnicodeScalar(byte)) : "%" + (digits.utf8.count == 1 ? "0" : "") + digits
        }
        return text.isEmpty ? "%" : text
    }

    /// The escaped identifier, the folder's name.
    package var name: String { path.pathParts().last.map { String($0) } ?? path }

    private var programLock: String { "\(path)/.pawl/program.lock" }

    // MARK: for programs

    /// Claims the session for a program, until it is released or the program ends.
    ///
    /// Throws code 11 when a program holds it already.
    package func claim() throws(PawlError) -> SessionClaim {
        do throws(Failure) {
            guard let lock = try FileLock(at: programLock) else {
                throw Failure(
                    .alreadyDownloading, "cannot open the session", at: path,
                    because: "it is already open in this or another program",
                    remedy: "close it there first, or use another identifier")
            }
            // Never 0, and different from the previous run's.
            lock.note(.random(in: 1 ... .max))
            return SessionClaim(lock)
        } catch { throw PawlError(error) }
    }

    /// Waits on its own thread until the queue is not open; `false` when `limit` passed first.
    package func waitUntilFree(until limit: ContinuousClock.Instant) async -> Bool {
        await withCheckedContinuation { continuation in
            SystemThread.detached("pawl-handover", blocksSignals: true) {
                while ContinuousClock.now < limit {
                    SystemThread.sleep(seconds: 0.01)
                    if !isQueueHeld { return continuation.resume(returning: true) }
                }
                continuation.resume(returning: false)
            }
        }
    }

    private var queue: String { DownloadManager.queue(in: path) }

    private var isQueueHeld: Bool { FileLock.look(at: QueueDatabase.lock(of: queue))?.isHeld == true }

    // MARK: for the service

    /// The sessions in a state folder that only their owner can have created.
    ///
    /// A planted session could direct files to any path.
    package static func all(in state: String) -> [SessionRoot] {
        guard isOwn(state) else { return [] }
        return FolderTree.names(in: state).filter { !$0.hasPrefix(".") }.map { SessionRoot(path: "\(state)/\($0)") }
            .filter { isOwn($0.path) }
    }

    /// A folder, not a symbolic link, that only its owner can write to.
    private static func isOwn(_ path: String) -> Bool {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return false }
        return status.st_mode & S_IFMT == S_IFDIR && status.st_uid == geteuid() && status.st_mode & 0o022 == 0
    }

    /// The run of the program that left the session; `nil` while a program holds it, or if none ever did.
    package var leftBy: UInt64? {
        guard let sight = FileLock.look(at: programLock), !sight.isHeld, sight.number != 0 else { return nil }
        return sight.number
    }
}

/// A program's hold on a session, until it is released or deallocated.
package final class SessionClaim: Sendable {
    private let lock: FileLock

    fileprivate init(_ lock: FileLock) { self.lock = lock }

    package func release() { lock.release() }
}
#endif
