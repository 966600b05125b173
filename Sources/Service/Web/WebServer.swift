package import PawlBase
import PawlHTTP
import PawlSystem

/// A small HTTP and WebSocket server: on a dedicated thread.
///
/// The content is up to a ``WebHandler``.
package final class WebServer: Sendable {
    /// The port of each listening address, in order; 0 for a Unix socket.
    package let ports: [Int]
    private let mailbox: WebMailbox

    private init(ports: [Int], mailbox: WebMailbox) {
        self.ports = ports
        self.mailbox = mailbox
    }

    /// Listens and starts the thread.
    ///
    /// Throws code 28 when it cannot listen at an address.
    package static func start(
        listeningAt addresses: [ListenAddress], limits: WebLimits = WebLimits(), handler: any WebHandler
    ) throws(Failure) -> WebServer {
        let mailbox = WebMailbox()
        var listeners: [WebListener] = []
        do throws(Failure) {
            for address in addresses { listeners.append(try WebListener(address)) }
            try SystemThread.launch("pawl-web", blocksSignals: true) { [listeners] in
                WebLoop(limits: limits, handler: handler, mailbox: mailbox).run(listeners)
            }
        } catch {
            for each in listeners { each.listener.close() }
            throw error
        }
        return WebServer(ports: listeners.map(\.listener.port), mailbox: mailbox)
    }

    /// Sends a text message to a WebSocket, or a piece of a body to a stream; ignored if it has ended.
    package func push(_ bytes: [UInt8], to connection: ConnectionID) { push([bytes], to: [connection]) }

    /// Sends the same messages to several connections.
    package func push(_ messages: [[UInt8]], to connections: Set<ConnectionID>) {
        guard !connections.isEmpty, !messages.isEmpty else { return }
        mailbox.post(.push(connections, messages))
    }

    /// The delays of messages to the server's thread since its start.
    package var latencies: LatencyHistogram { mailbox.latencies }

    /// Whether the server's thread has sent a heartbeat since the last call.
    package func takeBeat() -> Bool { mailbox.takeBeat() }

    /// Responds to a WebSocket's oldest pending message; responses of one socket must be in order.
    package func respond(with bytes: [UInt8], to socket: ConnectionID) { mailbox.post(.response(socket, bytes)) }

    /// Marks a WebSocket as authenticated, see ``WebLimits/authenticationTimeout``.
    package func markAuthenticated(_ socket: ConnectionID) { mailbox.post(.markAuthenticated(socket)) }

    /// Ends a WebSocket or a stream once everything has been sent.
    package func end(_ connection: ConnectionID) { mailbox.post(.end(connection)) }

    /// Listens at a Unix socket as well, in place of its last one if that is gone; returns whether it does.
    package func listen(atSocket path: String) async -> Bool {
        await withCheckedContinuation { continuation in
            mailbox.post(.listen(path) { continuation.resume(returning: $0) })
        }
    }

    /// Sends pending data, as far as clients read it soon, and closes all connections.
    ///
    /// Returns when the thread has ended.
    package func stop() async {
        await withCheckedContinuation { continuation in mailbox.post(.stop { continuation.resume() }) }
    }
}

/// Handles requests and messages.
///
/// Called on the server's thread: it must return quickly, and respond from another thread if it takes time.
package protocol WebHandler: AnyObject, Sendable {
    /// `reply` is called once, on any thread, now or later.
    func respond(to request: WebRequest, reply: @escaping @Sendable (WebResponse) -> Void)
    /// Whether a request's header section presents the secret, or none is required.
    func recognizes(_ request: WebRequest) -> Bool
    /// Whether the beginning of a body or message contains the secret.
    func recognizes(_ beginning: [UInt8]) -> Bool
    /// A WebSocket is requested; returning a response refuses it.
    func refusal(ofSocket request: WebRequest) -> WebResponse?
    /// A WebSocket was opened.
    func opened(_ socket: ConnectionID, request: WebRequest)
    /// A complete text message.
    func received(_ message: [UInt8], from socket: ConnectionID)
    /// A WebSocket or a stream has ended, from either side.
    func closed(_ connection: ConnectionID)
}

/// A latency histogram with the buckets of Prometheus.
package struct LatencyHistogram: Hashable, Sendable {
    /// Upper bounds of the buckets in seconds; longer values are in `count` alone.
    package static let steps = [0.001, 0.005, 0.02, 0.1, 0.5, 2]

    /// The count of each bucket, not cumulative.
    package private(set) var counts = [Int](repeating: 0, count: steps.count)
    package private(set) var count = 0
    package private(set) var sum = 0.0

    mutating func note(_ delay: Duration) {
        let seconds = delay / .seconds(1)
        count += 1
        sum += seconds
        if let step = LatencyHistogram.steps.firstIndex(where: { seconds <= $0 }) { counts[step] += 1 }
    }
}
