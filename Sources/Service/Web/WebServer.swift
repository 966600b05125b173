import CWebSockets
package import PawlBase
import PawlSystem

/// A small HTTP and WebSocket server: libwebsockets on a dedicated thread.
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
    ) async throws(Failure) -> WebServer {
        let mailbox = WebMailbox()
        let started: Result<[Int], Failure> = await withCheckedContinuation { continuation in
            let body: @Sendable () -> Void = {
                // The name is visible in debuggers and process listings.
                unsafe pawl_web_name_thread("pawl-web")
                let loop = WebLoop(limits: limits, handler: handler, mailbox: mailbox)
                do throws(Failure) {
                    let ports = try loop.listen(at: addresses)
                    continuation.resume(returning: .success(ports))
                } catch {
                    loop.destroy()
                    return continuation.resume(returning: .failure(error))
                }
                loop.run()
            }
            do throws(Failure) { try SystemThread.launch("pawl-web", body) } catch {
                continuation.resume(returning: .failure(error))
            }
        }
        return WebServer(ports: try started.get(), mailbox: mailbox)
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
