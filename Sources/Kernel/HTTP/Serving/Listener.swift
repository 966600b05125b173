import CPawlSystem
import Glibc
package import PawlBase
package import PawlSystem

/// A socket at which connections arrive; stays open until it is closed.
package struct Listener: Sendable {
    package let descriptor: Int32
    /// 0 for a Unix socket.
    package let port: Int
    /// Of a Unix socket: its path, and what its name stands for.
    private let path: String?
    private let identity: [UInt64]?

    private init(_ descriptor: Int32, port: Int = 0, path: String? = nil) {
        self.descriptor = descriptor
        self.port = port
        self.path = path
        identity = path.flatMap(Self.identity)
    }

    private static func identity(of path: String) -> [UInt64]? {
        var stamp = pawl_stamp()
        return unsafe pawl_stamp(AT_FDCWD, path, 0, &stamp) == 0 ? [stamp.device, stamp.inode] : nil
    }

    /// Listens at this numeric address alone; port 0 stands for any free one.
    ///
    /// Throws code 28 with the system's reason.
    package static func port(_ host: String, _ port: Int, remedy: Remedy) throws(Failure) -> Listener {
        func failure(_ why: String) -> Failure {
            let place = host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
            return Failure(.badOption, "cannot listen at", at: place, because: why, remedy: remedy)
        }
        guard let address = NumericAddress.bytes(of: host) else { throw failure("not a numeric address") }
        let descriptor = unsafe pawl_listen(address, address.count, UInt16(truncatingIfNeeded: port))
        guard descriptor >= 0 else { throw failure(SystemError.last.text) }
        return Listener(descriptor, port: Int(pawl_local_port(descriptor)))
    }

    /// Listens at a Unix socket for its owner alone, in place of a socket that has the name.
    ///
    /// The socket is renamed to its path after its permissions are set and it is listening.
    package static func local(_ path: String, remedy: Remedy) throws(Failure) -> Listener {
        if let kind = AtomicFile.kind(of: path), kind != S_IFSOCK {
            throw Failure(
                .badOption, "cannot listen at", at: path, because: "it exists, and is not a socket", remedy: remedy)
        }
        let folder = path + ".new"
        let made = folder + "/s"
        // Left by a killed process.
        for name in FolderNames.read(folder) { _ = unsafe unlink("\(folder)/\(name)") }
        _ = unsafe rmdir(folder)
        var descriptor: Int32 = -1
        defer {
            _ = unsafe unlink(made)
            _ = unsafe rmdir(folder)
        }
        if unsafe mkdir(folder, 0o700) == 0 { descriptor = unsafe pawl_listen_local(made) }
        guard descriptor >= 0, unsafe chmod(made, 0o600) == 0, unsafe rename(made, path) == 0 else {
            let reason = SystemError.last
            if descriptor >= 0 { _ = Glibc.close(descriptor) }
            throw Failure(
                .badOption, "cannot listen at", at: path,
                because: reason.number == ENAMETOOLONG ? "the path is too long" : reason.text, remedy: remedy)
        }
        return Listener(descriptor, path: path)
    }

    /// The next connection; `nil` when there is none.
    ///
    /// Throws where one waits that cannot be accepted now, for lack of descriptors or memory.
    package func accept() throws(SystemError) -> Int32? {
        let connection = pawl_accept(descriptor)
        if connection >= 0 { return connection }
        guard errno == EAGAIN else { throw .last }
        return nil
    }

    /// Removes a Unix socket as well, unless another service has put its own there.
    package func close() {
        if let path, let identity, Self.identity(of: path) == identity { _ = unsafe unlink(path) }
        _ = Glibc.close(descriptor)
    }
}
