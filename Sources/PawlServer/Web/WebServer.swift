import CWebSockets
import Pawl
package import PawlCore

/// A small HTTP and WebSocket server: libwebsockets on one thread of its own.
///
/// It knows nothing of what is served; a ``WebHandler`` decides.
package final class WebServer: Sendable {
    /// The port of each address that is listened at, in order; 0 for a socket file.
    package let ports: [Int]
    private let mailbox: WebMailbox

    private init(ports: [Int], mailbox: WebMailbox) {
        self.ports = ports
        self.mailbox = mailbox
    }

    /// Listens and starts the thread.
    ///
    /// Throws code 28 when an address cannot be listened at.
    package static func start(
        listeningAt addresses: [WebAddressToListen],
        limits: WebLimits = WebLimits(),
        handler: any WebHandler
    ) async throws(Failure) -> WebServer {
        let mailbox = WebMailbox()
        let started: Result<[Int], Failure> = await withCheckedContinuation { continuation in
            BackgroundThread.start("pawl-web") {
                // What looks at a process that hangs finds it.
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
        }
        return WebServer(ports: try started.get(), mailbox: mailbox)
    }

    /// Sends a text message to a WebSocket, or a piece of a body to a stream; one that has ended takes nothing.
    package func push(_ bytes: [UInt8], to connection: ConnectionID) { push([bytes], to: [connection]) }

    /// Sends the same messages to each of several.
    package func push(_ messages: [[UInt8]], to connections: Set<ConnectionID>) {
        guard !connections.isEmpty, !messages.isEmpty else { return }
        mailbox.post(.push(connections, messages))
    }

    /// How long messages waited for the server's thread, since it was started.
    var latencies: LatencyHistogram { mailbox.latencies }

    /// Whether the server's thread has come round since this was last asked.
    package func takeBeat() -> Bool { mailbox.takeBeat() }

    /// Responds to a WebSocket's oldest message without a response; those of one socket must be in order.
    package func answer(_ bytes: [UInt8], to socket: ConnectionID) { mailbox.post(.answer(socket, bytes)) }

    /// Marks a WebSocket as authenticated, see ``WebLimits/authenticationTimeout``.
    package func markAuthenticated(_ socket: ConnectionID) { mailbox.post(.markAuthenticated(socket)) }

    /// Ends a WebSocket or a stream once everything has been sent.
    package func end(_ connection: ConnectionID) { mailbox.post(.end(connection)) }

    /// Sends what waits to be sent, as far as it is read soon, and closes every connection.
    ///
    /// Returns when the thread has ended.
    package func stop() async {
        await withCheckedContinuation { continuation in
            mailbox.post(.stop { continuation.resume() })
        }
    }
}
