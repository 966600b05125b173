import Glibc
package import PawlBase
import PawlSystem
import Synchronization

/// Ensures that a socket belongs to one service at a time, however the last one ended.
///
/// The lock is on a file of its own beside the socket, since a socket file cannot be locked and is replaced at each start.
/// It has the number of the holder's process as text.
package final class SocketLock: Sendable {
    private let descriptor: Mutex<Int32>
    private let socket: String

    /// Creates the socket's folder if it is missing; throws code 11 when a service has the lock for half a second.
    package init(for socket: String) throws(Failure) {
        self.socket = socket
        descriptor = Mutex(try SocketLock.take(socket))
    }

    deinit { release() }

    /// Takes the lock again if its file is not there any more; throws code 11 when another service has taken it meanwhile.
    func renew() throws(Failure) {
        let isThere = descriptor.withLock { file in
            var held = stat()
            var named = stat()
            return unsafe file >= 0 && fstat(file, &held) == 0 && lstat(socket + SocketLock.ending, &named) == 0
                && held.st_dev == named.st_dev && held.st_ino == named.st_ino
        }
        guard !isThere else { return }
        let taken = try SocketLock.take(socket)
        let old = descriptor.withLock { file in
            defer { file = taken }
            return file
        }
        if old >= 0 { close(old) }
    }

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

    /// Returns when no service runs at the socket; throws code 7 if one does after a minute.
    ///
    /// A shutdown that hangs ends sooner, see ``Heartbeat``, unless the process is stopped.
    package static func waitUntilFree(_ socket: String) throws(Failure) {
        let file: Int32
        // The folder may be gone, and with it the lock.
        do throws(Failure) { file = try open(socket + ending) } catch { return }
        defer { close(file) }
        let isFree = LockWait.take(attempts: 6000) {
            if flock(file, LOCK_SH | LOCK_NB) == 0 { return true }
            // A file system without locks, as in `take`.
            return errno != EWOULDBLOCK && errno != EINTR && !isListening(at: socket)
        }
        guard !isFree else { return }
        let number = number(in: file).map { String($0) } ?? "unknown"
        throw Failure(
            .unfinished, "cannot stop", at: "the service at \(socket)",
            because: "its process \(number) has not ended within a minute",
            remedy: "'kill -KILL \(number)' ends it; its downloads resume at the next start")
    }

    private static let ending = ".lock"

    private static func take(_ socket: String) throws(Failure) -> Int32 {
        try makeFolder(of: socket)
        let file = try open(socket + ending)
        let isTaken = LockWait.take {
            if flock(file, LOCK_EX | LOCK_NB) == 0 { return true }
            // A file system without locks, such as some network ones: a process that accepts connections there has it.
            return errno != EWOULDBLOCK && errno != EINTR && !isListening(at: socket)
        }
        guard isTaken else {
            let holder = number(in: file).map { " (process \($0))" } ?? ""
            close(file)
            throw Failure(
                .alreadyDownloading, "cannot serve at", at: socket,
                because: "a service is already running there\(holder)",
                remedy: "'pawl status' shows it, 'pawl stop' stops it")
        }
        let text = Array("\(getpid())\n".utf8)
        _ = ftruncate(file, 0)
        _ = unsafe pwrite(file, text, text.count, 0)
        return file
    }

    /// The number of the process that took the lock last.
    private static func number(in file: Int32) -> pid_t? {
        var bytes = [UInt8](repeating: 0, count: 16)
        let count = unsafe pread(file, &bytes, bytes.count, 0)
        return pid_t(String(decoding: bytes.prefix(max(0, count)).prefix { $0 != 10 }, as: UTF8.self))
    }

    /// Waits for the lock; `false` if the file system has none.
    private static func lock(_ file: Int32, _ kind: Int32) -> Bool {
        retrying { flock(file, kind) } == 0
    }

    private static func open(_ path: String) throws(Failure) -> Int32 {
        let file = unsafe Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else {
            throw Failure(
                .cannotCreate, "cannot create", at: path, because: SystemError.last.text,
                remedy: "choose another path with --socket")
        }
        return file
    }

    /// Whether a process accepts connections there.
    static func isListening(at socket: String) -> Bool {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let path = Array(socket.utf8)
        guard path.count < MemoryLayout.size(ofValue: address.sun_path) else { return false }
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path) }
        let file = Glibc.socket(
            AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
        guard file >= 0 else { return false }
        defer { close(file) }
        let isConnected = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { start in
                unsafe connect(file, start, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
        // Its queue of connections is full.
        return isConnected || errno == EAGAIN
    }

    /// Created folders are accessible to their owner only.
    private static func makeFolder(of socket: String) throws(Failure) {
        var path = ""
        for part in socket.pathParts().dropLast() {
            path += "/" + part
            guard unsafe mkdir(path, 0o700) != 0, errno != EEXIST else { continue }
            // An existing folder without search permission fails at the socket itself.
            guard errno != EACCES, errno != EROFS else { continue }
            throw Failure(.cannotMakeFolder, "cannot create", at: path, because: SystemError.last.text)
        }
    }
}

extension SocketLock {
    /// Waits for the right to start a service at the socket; it lasts until the descriptor is closed.
    ///
    /// On a file of its own: on network file systems, all kinds of locks on one file are the same.
    package static func startingTurn(_ socket: String) throws(Failure) -> Int32 {
        try makeFolder(of: socket)
        let file = try open(socket + ".start")
        _ = lock(file, LOCK_EX)
        return file
    }
}
