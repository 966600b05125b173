import Glibc
import PawlSystem

/// An HTTP/1.1 server for tests, on loopback or a chosen address, with configurable faults.
///
/// One thread a connection, blocking sockets. `stop()` ends everything and waits for the threads.
package final class OriginServer: Sendable {
    struct State {
        var log = RequestLog()
        var resources: [String: Resource] = [:]
        /// Open connections: their socket, and the write end of the pipe that interrupts their waits.
        var connections: [Int: OriginConnection.Handle] = [:]
        var connectionLimit: Int?
        /// How many responses it sends at once, whatever their paths, and what other requests get.
        var places: Int?
        var refusal = Behaviour.SubstituteResponse.status(429)
        var serving = 0
        var isStopping = false
    }

    let state = Monitor(State())
    private let listener: ListeningSocket
    private let address: String
    private let acceptor: SystemThread

    /// Listens at once.
    ///
    /// With an `address` other than loopback it can be reached from other network namespaces.
    package init(address: String = "127.0.0.1", port: UInt16 = 0) throws(SetupFailure) {
        let listener = try ListeningSocket(address: address, port: port)
        let state = state
        self.listener = listener
        self.address = address
        acceptor = SystemThread.start { Self.accept(from: listener, state) }
    }

    /// Runs a test against a server that is always stopped afterwards.
    package static func with<Result>(_ body: (OriginServer) async throws -> Result) async throws -> Result {
        let origin = try OriginServer()
        defer { origin.stop() }
        return try await body(origin)
    }

    package var port: UInt16 { listener.port }

    /// `http://address:port`, without a slash at the end.
    package var root: String { "http://\(address):\(port)" }

    package func url(_ target: String) -> String { root + target }

    /// Closes every connection and waits until all threads are gone.
    ///
    /// Safe to call twice.
    package func stop() {
        let isFirst = state.with { state in
            defer { state.isStopping = true }
            for handle in state.connections.values { handle.interrupt(closing: true) }
            return !state.isStopping
        }
        guard isFirst else { return }
        shutdown(listener.descriptor, Int32(SHUT_RDWR))
        acceptor.join()
        let areGone: Void? = state.wait { $0.connections.isEmpty ? () : nil }
        precondition(areGone != nil, "a connection's thread did not end")
        close(listener.descriptor)
    }

    private static func accept(from listener: ListeningSocket, _ state: Monitor<State>) {
        while let descriptor = listener.accept() {
            guard let handle = OriginConnection.Handle(descriptor: descriptor) else {
                close(descriptor)
                continue
            }
            let number: Int? = state.with { state in
                defer { state.log.connections += 1 }
                guard !state.isStopping, state.connections.count < state.connectionLimit ?? .max else { return nil }
                state.connections[state.log.connections] = handle
                state.log.open = state.connections.count
                state.log.mostOpen = max(state.log.mostOpen, state.log.open)
                return state.log.connections
            }
            guard let number else {
                handle.close(reset: false)
                continue
            }
            // Not joined one by one: removing itself from the table is the last thing that a connection does.
            SystemThread.detached {
                let isReset = OriginConnection(number: number, handle: handle, origin: state).run()
                state.with { state in
                    state.connections[number] = nil
                    state.log.open = state.connections.count
                    handle.close(reset: isReset)
                }
            }
        }
    }
}
