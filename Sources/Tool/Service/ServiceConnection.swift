import Glibc
import PawlBase
import PawlSystem

/// A connection to the service's Unix socket, for one request.
struct ServiceConnection: ~Copyable {
    let descriptor: Int32
    private let socket: String
    private var buffer: [UInt8] = []

    private init(socket: String) {
        self.socket = socket
        descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    }

    /// Returns `nil` if no service listens on the socket.
    static func open(_ socket: String) throws(Failure) -> ServiceConnection? {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let path = Array(socket.utf8)
        guard path.count < MemoryLayout.size(ofValue: address.sun_path) else {
            throw Failure(
                .badOption, "cannot connect to", at: socket, because: "the path is too long for a Unix socket")
        }
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path) }
        let connection = ServiceConnection(socket: socket)
        let file = connection.descriptor
        let isConnected = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { start in
                unsafe connect(file, start, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
        if isConnected { return connection }
        let number = errno
        if [ENOENT, ECONNREFUSED, ENOTDIR].contains(number) { return nil }
        throw Failure(.cannotOpen, "cannot connect to", at: socket, because: SystemError(number: number).text)
    }

    deinit { close(descriptor) }

    borrowing func send(_ bytes: [UInt8]) throws(Failure) {
        let descriptor = descriptor
        do throws(SystemError) {
            try unsafe bytes.span.bytes.withUnsafeBytes { (buffer) throws(SystemError) in
                try unsafe WholeWrite.send(buffer, to: descriptor)
            }
        } catch { throw lost(error.text) }
    }

    /// Returns the next line without its terminator; `nil` at the end of the connection.
    mutating func line() throws(Failure) -> [UInt8]? {
        var looked = 0
        while true {
            if let end = buffer[looked...].firstIndex(of: UInt8(ascii: "\n")) {
                let line = buffer[..<end]
                buffer = Array(buffer[(end + 1)...])
                return Array(line.last == UInt8(ascii: "\r") ? line.dropLast() : line)
            }
            looked = buffer.count
            guard try fill() else { return nil }
        }
    }

    /// Reads exactly `count` bytes.
    package mutating func bytes(_ count: Int) throws(Failure) -> [UInt8] {
        while buffer.count < count {
            guard try fill() else { throw lost("connection closed in the middle of a response") }
        }
        defer { buffer = Array(buffer[count...]) }
        return Array(buffer[..<count])
    }

    /// Whether a complete line is buffered.
    var hasLine: Bool { buffer.contains(UInt8(ascii: "\n")) }

    /// Reads available bytes, blocking until there are some; returns `false` at the end.
    mutating func fill() throws(Failure) -> Bool {
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        do throws(SystemError) {
            let count = try BoundedRead.some(descriptor, into: &piece)
            buffer += piece[..<count]
            return count > 0
        } catch {
            // A killed service resets its connections, which counts as their end.
            if error.number == ECONNRESET { return false }
            throw lost(error.text)
        }
    }

    func lost(_ why: String) -> Failure {
        Failure(.network, "lost connection to the service at", at: socket, because: why)
    }
}
