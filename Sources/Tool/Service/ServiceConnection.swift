import Glibc
import PawlBase
import PawlSystem

/// How long a client waits for the service.
struct ServicePatience: Sendable {
    /// `nil`: for as long as the service responds at all.
    var limit: Interval?
    /// Whether the service is asked, after some seconds without a byte, if it responds at all.
    var isChecking = true

    /// For calls that the service answers from memory and disk.
    static let usual = ServicePatience(limit: .seconds(300))
    /// For calls that read whole files, and for events.
    static let unlimited = ServicePatience(limit: nil)
    /// Nothing is waited for.
    static let none = ServicePatience(limit: .zero, isChecking: false)

    /// The silence after which the service is asked.
    fileprivate static let silence = Interval.seconds(5)
    /// How long it may take to reply to that.
    fileprivate static let check = ServicePatience(limit: .seconds(10), isChecking: false)
}

/// A connection to the service's Unix socket, for one request.
struct ServiceConnection: ~Copyable {
    let descriptor: Int32
    private let socket: String
    private let isChecking: Bool
    private let deadline: Instant?
    private var buffer: [UInt8] = []

    private static let clock = SystemClock()

    private init(socket: String, _ patience: ServicePatience) {
        self.socket = socket
        isChecking = patience.isChecking
        deadline = patience.limit.map { ServiceConnection.clock.now + $0 }
        descriptor = Glibc.socket(
            AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
    }

    /// Returns `nil` if no service listens on the socket.
    static func open(_ socket: String, _ patience: ServicePatience = .usual) throws(Failure) -> ServiceConnection? {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let path = Array(socket.utf8)
        guard path.count < MemoryLayout.size(ofValue: address.sun_path) else {
            throw Failure(
                .badOption, "cannot connect to", at: socket, because: "the path is too long for a Unix socket")
        }
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path) }
        let connection = ServiceConnection(socket: socket, patience)
        let file = connection.descriptor
        let firstLook = clock.now
        while true {
            let isConnected = unsafe withUnsafePointer(to: &address) { pointer in
                unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { start in
                    unsafe connect(file, start, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
                }
            }
            if isConnected { return connection }
            let number = errno
            if [ENOENT, ECONNREFUSED, ENOTDIR].contains(number) { return nil }
            guard number == EAGAIN else {
                throw Failure(.cannotOpen, "cannot connect to", at: socket, because: SystemError(number: number).text)
            }
            // Its queue of connections is full: it has accepted none for a while.
            let limit = min(patience.limit ?? ServicePatience.silence, ServicePatience.silence)
            guard clock.now < firstLook + limit else { throw connection.unresponsive() }
            _ = poll(nil, 0, 50)
        }
    }

    deinit { close(descriptor) }

    borrowing func send(_ bytes: [UInt8]) throws(Failure) {
        var rest = bytes[...]
        while !rest.isEmpty {
            try wait(for: POLLOUT)
            let count = unsafe rest.withUnsafeBytes {
                unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if ![EINTR, EAGAIN].contains(errno) {
                throw lost(SystemError.last.text)
            }
        }
    }

    /// Takes the next line without its terminator; `nil` if it has not arrived.
    mutating func line() -> [UInt8]? {
        guard let end = buffer.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
        let line = buffer[..<end]
        buffer = Array(buffer[(end + 1)...])
        return Array(line.last == UInt8(ascii: "\r") ? line.dropLast() : line)
    }

    /// Takes exactly `count` bytes; `nil` if they have not arrived.
    mutating func bytes(_ count: Int) -> [UInt8]? {
        guard buffer.count >= count else { return nil }
        defer { buffer = Array(buffer[count...]) }
        return Array(buffer[..<count])
    }

    /// Reads available bytes, waiting until there are some; returns `false` at the end.
    mutating func fill() throws(Failure) -> Bool {
        try wait(for: POLLIN)
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

    // MARK: patience

    /// Waits until the connection is ready; throws if the service does not respond, or takes too long.
    private func wait(for event: Int32) throws(Failure) {
        var isFirst = true
        while true {
            let left = deadline.map { max(.zero, $0 - ServiceConnection.clock.now) }
            // What is there is taken at any time.
            guard isFirst || left != .zero else { throw unresponsive() }
            isFirst = false
            let longest = min(left ?? .seconds(3600), isChecking ? ServicePatience.silence : .seconds(3600))
            var state = pollfd(fd: descriptor, events: Int16(event), revents: 0)
            let found = unsafe poll(&state, 1, Int32(longest.nanoseconds / 1_000_000))
            if found > 0 { return }
            guard found == 0 || errno == EINTR else { throw lost(SystemError.last.text) }
            if found == 0, isChecking { try check() }
        }
    }

    /// Asks the service whether it responds, on a connection of its own.
    private func check() throws(Failure) {
        do throws(Failure) {
            // It has stopped: the end of this connection says so.
            guard var other = try ServiceConnection.open(socket, .check) else { return }
            try other.send(Array("GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".utf8))
            _ = try other.fill()
        } catch { throw unresponsive() }
    }

    /// That it accepts connections, or has, and sends nothing.
    func unresponsive() -> Failure {
        let process = process
        let what = "no response from the Pawl service at"
        guard let process else {
            return Failure(
                .timeout, what, at: socket, because: "it is stopped, or very busy", remedy: "try again later")
        }
        let number = String(process.number)
        return process.isStopped
            ? Failure(
                .timeout, what, at: socket, because: "its process \(number) is stopped",
                remedy: "'kill -CONT \(number)' continues it")
            : Failure(
                .timeout, what, at: socket, because: "its process \(number) is busy, or hangs",
                remedy: "try again later; 'kill -KILL \(number)' ends it, and its downloads resume at the next start")
    }

    /// The process that listens; `nil` if it is in another namespace of processes.
    private var process: ProcessIdentity? {
        // struct ucred: the numbers of process, user and group (unix(7)).
        var peer: [pid_t] = [0, 0, 0]
        var length = socklen_t(peer.count * MemoryLayout<pid_t>.size)
        guard unsafe getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0, peer[0] > 0 else {
            return nil
        }
        return ProcessIdentity(number: peer[0], start: 0)
    }
}
