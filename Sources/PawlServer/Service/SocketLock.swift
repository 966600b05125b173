import Glibc
package import PawlCore
import PawlSystem
import Synchronization

/// Ensures that a socket belongs to one service at a time, however the last one ended.
///
/// The lock is on a file of its own beside the socket, since a socket file cannot be locked and is replaced at each start.
package final class SocketLock: Sendable {
    private let descriptor: Mutex<Int32>

    /// Creates the socket's folder if it is missing; throws code 11 when a service has the lock for half a second.
    package init(for socket: String) throws(Failure) {
        try SocketLock.makeFolder(of: socket)
        let file = try SocketLock.open(socket)
        guard LockWait.take({ flock(file, LOCK_EX | LOCK_NB) == 0 }) else {
            close(file)
            throw Failure(
                .alreadyDownloading,
                "cannot serve at",
                at: socket,
                because: "a service is already running there",
                remedy: "'pawl status' shows it, 'pawl stop' stops it"
            )
        }
        descriptor = Mutex(file)
    }

    deinit { release() }

    /// Releases the lock for another service.
    package func release() {
        let file = descriptor.withLock { file in
            defer { file = -1 }
            return file
        }
        guard file >= 0 else { return }
        // Explicitly: a child process being started still has the descriptor, and with it the lock.
        flock(file, LOCK_UN)
        close(file)
    }

    /// Returns when no service runs at the socket.
    package static func waitUntilFree(_ socket: String) throws(Failure) {
        let file = try open(socket)
        while flock(file, LOCK_SH) != 0, errno == EINTR {}
        close(file)
    }

    private static func open(_ socket: String) throws(Failure) -> Int32 {
        let path = socket + ".lock"
        let file = unsafe Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else {
            throw Failure(
                .cannotCreate,
                "cannot create",
                at: path,
                because: SystemError.last.text,
                remedy: "choose another path with --socket"
            )
        }
        return file
    }

    /// Created folders are accessible to their owner only.
    private static func makeFolder(of socket: String) throws(Failure) {
        var path = ""
        for part in socket.pathParts().dropLast() {
            path += "/" + part
            guard unsafe mkdir(path, 0o700) != 0, errno != EEXIST else { continue }
            // An existing folder without search permission fails at the socket itself.
            guard errno != EACCES, errno != EROFS else { continue }
            throw Failure(
                .cannotMakeFolder,
                "cannot create",
                at: path,
                because: SystemError.last.text
            )
        }
    }
}

extension SocketLock {
    /// Waits for the right to start a service at the socket; it lasts until the descriptor is closed.
    ///
    /// A record lock, which does not conflict with the service's own lock on the same file.
    package static func startingTurn(_ socket: String) throws(Failure) -> Int32 {
        try makeFolder(of: socket)
        let file = try open(socket)
        while lockf(file, F_LOCK, 0) != 0, errno == EINTR {}
        return file
    }
}
