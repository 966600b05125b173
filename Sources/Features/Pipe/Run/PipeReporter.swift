import Glibc
import PawlBase
import PawlGet
import PawlSystem
import Synchronization

/// Shows progress on standard error, and provides metrics.
struct PipeReporter: Sendable {
    var tally = PipeTally()
    private let isTerminal: Bool
    private let isQuiet: Bool
    private let file: String?
    private let listener: MetricsListener?
    private var last: (at: Instant, samples: Int)
    private var due: Instant
    private var hasLine = false

    /// Throws when metrics cannot be provided.
    init(_ configuration: PipeConfiguration, now: Instant) throws(Failure) {
        isTerminal = isatty(STDERR_FILENO) == 1
        isQuiet = configuration.isQuiet
        last = (now, 0)
        switch configuration.metrics {
        case nil: (file, listener) = (nil, nil)
        case .file(let path)?:
            (file, listener) = (path, nil)
            try Self.replace(path, with: PipeTally().metrics(active: 0))
        case .port(let port)?: (file, listener) = (nil, try MetricsListener(port: port))
        }
        due = now
        due = now + period
    }

    /// The interval between updates: of a line on a terminal, of metrics, or of a log.
    private var period: Interval {
        if isTerminal, !isQuiet { return .milliseconds(500) }
        return file != nil || listener != nil ? .seconds(5) : .seconds(60)
    }

    var nextInstant: Instant { due }
    private var nextLine = Interval.zero

    mutating func show(active: Int, now: Instant) {
        guard now >= due else { return }
        due = now + period
        publish(active: active)
        guard !isQuiet else { return }
        nextLine = Interval(nanoseconds: nextLine.nanoseconds + period.nanoseconds)
        guard isTerminal || nextLine >= .seconds(60) else { return }
        nextLine = .zero
        write(line(active: active, now: now), isLast: false)
    }

    /// Prints a line that is not about progress.
    func note(_ text: String) { try? WholeWrite.perform("pawl: \(text)\n".utf8, to: STDERR_FILENO) }

    /// Prints the last line and the reasons of failures, and writes the final metrics.
    mutating func end(now: Instant) {
        publish(active: 0)
        guard !isQuiet else { return }
        if isTerminal { write(line(active: 0, now: now), isLast: true) }
        for line in tally.summary { note(line) }
    }

    private mutating func line(active: Int, now: Instant) -> String {
        let seconds = max((now - last.at).seconds, 0.001)
        let rate = Double(tally.samples - last.samples) / seconds
        last = (now, tally.samples)
        return tally.line(rate: rate, active: active, slowest: isTerminal ? [] : tally.takeSlowest(3))
    }

    private mutating func write(_ line: String, isLast: Bool) {
        var bytes = Array((isTerminal ? "\r\u{1B}[K" : "pawl: ").utf8) + Array(line.utf8)
        if !isTerminal || isLast { bytes.append(UInt8(ascii: "\n")) }
        try? WholeWrite.perform(bytes, to: STDERR_FILENO)
    }

    private func publish(active: Int) {
        guard file != nil || listener != nil else { return }
        let text = tally.metrics(active: active)
        listener?.set(text)
        guard let file else { return }
        // A failure does not end a run that has begun.
        try? Self.replace(file, with: text)
    }

    /// Replaces the metrics file.
    private static func replace(_ file: String, with text: String) throws(Failure) {
        do throws(Failure) {
            // Only the next few seconds need it.
            try AtomicFile.replace(file, with: Array(text.utf8), permissions: 0o644, syncs: false)
        } catch {
            throw Failure(
                .cannotCreate, "cannot write metrics to", at: file, because: error.why,
                remedy: "give --metrics a file in a folder that exists and is writable, or a port")
        }
    }
}

/// Responds to every request on a port of this machine with the latest metrics.
final class MetricsListener: Sendable {
    private let text = Mutex("")
    private let socket: Int32
    /// In seconds, after a connection that could not be accepted.
    private static let pause = 0.1

    init(port: UInt16) throws(Failure) {
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var yes: Int32 = 1
        _ = unsafe setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe bind(socket, $0, size) == 0 }
        }
        guard socket >= 0, isBound, listen(socket, 16) == 0 else {
            let why = SystemError.last.text
            close(socket)
            throw Failure(
                .cannotOpen, "cannot listen on", at: "127.0.0.1:\(port)", because: why,
                remedy: "give --metrics another port, or a file")
        }
        SystemThread.detached("pawl-metrics", blocksSignals: true) { [self] in serve() }
    }

    func set(_ metrics: String) { text.withLock { $0 = metrics } }

    private func serve() {
        while true {
            let connection = accept(socket, nil, nil)
            guard connection >= 0 else {
                if errno == EBADF || errno == EINVAL || errno == ENOTSOCK { return }
                // Without descriptors or memory the connection waits until there are some. Errors of one connection, which
                // accept(2) reports too, end the wait as well.
                if errno != EINTR { SystemThread.sleep(seconds: Self.pause) }
                continue
            }
            var limit = timeval(tv_sec: 2, tv_usec: 0)
            let size = socklen_t(MemoryLayout<timeval>.size)
            _ = unsafe setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &limit, size)
            _ = unsafe setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &limit, size)
            var request = [UInt8](repeating: 0, count: 8192)
            // All requests get the same response.
            if unsafe recv(connection, &request, request.count, 0) > 0 {
                let body = text.withLock { $0 }
                let head =
                    "HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: "
                    + "\(body.utf8.count)\r\nConnection: close\r\n\r\n"
                let bytes = Array((head + body).utf8)
                _ = unsafe send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL))
            }
            close(connection)
        }
    }
}
