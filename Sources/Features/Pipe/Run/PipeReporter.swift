import Glibc
import PawlBase
import PawlGet
import PawlSystem
import PawlTerminal
import PawlWeb
import Synchronization

/// Shows progress on standard error, and provides metrics.
struct PipeReporter: Sendable {
    var tally = PipeTally()
    private let isTerminal: Bool
    private let isQuiet: Bool
    private let file: String?
    private let server: MetricsServer?
    private var last: (at: Instant, samples: Int)
    private var due: Instant
    private let began: Instant
    /// How much of the input has results, from 0 to 1, where its length is known.
    var share: Double?
    /// Whether the run was stopped, so that nothing is left to do.
    var isEnding = false

    /// Throws when metrics cannot be provided.
    init(_ configuration: PipeConfiguration, now: Instant) throws(Failure) {
        isTerminal = isatty(STDERR_FILENO) == 1
        isQuiet = configuration.isQuiet
        last = (now, 0)
        switch configuration.metrics {
        case nil: (file, server) = (nil, nil)
        case .file(let path)?:
            (file, server) = (path, nil)
            try Self.replace(path, with: PipeTally().metrics(active: 0))
        case .port(let port)?: (file, server) = (nil, try MetricsServer(port: port))
        }
        (due, began) = (now, now)
        due = now + period
    }

    /// The interval between updates: of a line on a terminal, of metrics, or of a log.
    private var period: Interval {
        if isTerminal, !isQuiet { return .milliseconds(500) }
        return file != nil || server != nil ? .seconds(5) : .seconds(60)
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
    func note(_ text: String) {
        let lines = TerminalState.folded("pawl: \(text)", for: STDERR_FILENO)
        try? WholeWrite.perform((lines.joined(separator: "\n") + "\n").utf8, to: STDERR_FILENO)
    }

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
        let left = share.flatMap { $0 >= 0.01 && $0 < 1 && !isEnding ? (now - began).seconds * (1 - $0) / $0 : nil }
        return tally.line(
            rate: rate, active: active, slowest: isTerminal ? [] : tally.takeSlowest(3),
            percent: share.map { Int($0 * 100) }, left: left.map(NumberFormat.duration),
            width: isTerminal ? TerminalState.size().columns : .max)
    }

    private mutating func write(_ line: String, isLast: Bool) {
        var bytes = Array((isTerminal ? "\r\u{1B}[K" : "pawl: ").utf8) + Array(line.utf8)
        if !isTerminal || isLast { bytes.append(UInt8(ascii: "\n")) }
        try? WholeWrite.perform(bytes, to: STDERR_FILENO)
    }

    private func publish(active: Int) {
        guard file != nil || server != nil else { return }
        let text = tally.metrics(active: active)
        server?.set(text)
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
private final class MetricsServer: WebHandler {
    private let text = Mutex("")

    init(port: UInt16) throws(Failure) {
        var limits = WebLimits()
        (limits.connections, limits.reserve, limits.head, limits.body) = (16, 0, 8192, 0)
        (limits.requestTime, limits.idleTime) = (2, 2)
        let address = ListenAddress.port(address: "127.0.0.1", port: Int(port), certificate: nil, key: nil)
        do throws(Failure) { _ = try WebServer.start(listeningAt: [address], limits: limits, handler: self) } catch {
            throw Failure(
                .cannotOpen, "cannot listen on", at: "127.0.0.1:\(port)", because: error.why,
                remedy: "give --metrics another port, or a file")
        }
    }

    func set(_ metrics: String) { text.withLock { $0 = metrics } }

    func respond(to request: WebRequest, reply: @escaping @Sendable (WebResponse) -> Void) {
        let body = WebResponse.Body.bytes(Array(text.withLock { $0 }.utf8))
        var response = WebResponse(200, contentType: "text/plain; version=0.0.4", body: body)
        response.closes = true
        reply(response)
    }

    func recognizes(_ request: WebRequest) -> Bool { false }
    func recognizes(_ beginning: [UInt8]) -> Bool { false }
    func refusal(ofSocket request: WebRequest) -> WebResponse? { WebResponse(404) }
    func opened(_ socket: ConnectionID, request: WebRequest) {}
    func received(_ message: [UInt8], from socket: ConnectionID) {}
    func closed(_ connection: ConnectionID) {}
}
