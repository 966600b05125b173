import Glibc
import PawlBase

/// A connection that is being established for a request.
final class Connector {
    struct Attempt {
        let id: HTTP1ConnectionID
        let socket: Int32
    }

    var machine: Establishment
    /// Each holds the other until the connection is established or given up.
    let exchange: HTTP1Exchange
    /// The sockets, by the numbers of the attempts.
    var attempts: [Int: Attempt] = [:]
    /// The attempt on which everything else is built.
    var chosen: Int?
    /// With the proxy or, over that, with the host.
    var secure: TLSSession?
    /// What was sent to the proxy and the socket has not accepted.
    var unsent: [UInt8] = []
    /// Whether the proxy has closed its side, which no further event reports.
    var isPeerClosed = false
    /// The lookup that it waits for.
    var lookup: (waiter: HostCache.Waiter, query: HostQuery)?
    /// Of the decisions about certificates, the one that is awaited.
    var question = 0
    /// Whether the handshake with the host resumes a session.
    var isResuming = false
    /// What the handshake with the host has chosen (RFC 7301); `nil` if nothing.
    var chosenProtocol: String?
    /// Whether the host has been judged.
    var isJudged = false

    init(_ terms: ConnectTerms, for exchange: HTTP1Exchange, at now: Instant) {
        machine = Establishment(terms, at: now)
        self.exchange = exchange
    }

    deinit { closeAll() }

    var socket: Int32? { chosen.flatMap { attempts[$0]?.socket } }

    /// Closes the socket of an attempt, and what is built on it.
    func close(_ number: Int) -> HTTP1ConnectionID? {
        guard let attempt = attempts.removeValue(forKey: number) else { return nil }
        if number == chosen {
            chosen = nil
            isPeerClosed = false
            secure?.close()
            secure = nil
            unsent = []
        }
        _ = Glibc.close(attempt.socket)
        return attempt.id
    }

    private func closeAll() { for number in attempts.keys { _ = close(number) } }

    /// Sends to the proxy; what cannot be sent is reported by the next read.
    func send(_ bytes: [UInt8]) {
        unsent += bytes
        sendRest()
    }

    func sendRest() {
        guard let socket else { return }
        while !unsent.isEmpty {
            let count = unsafe unsent.withUnsafeBytes { bytes in
                unsafe (secure.map { unsafe $0.send(bytes) } ?? PlainSocket.send(bytes, to: socket)) ?? bytes.count
            }
            guard count > 0 else { return }
            unsent.removeFirst(count)
        }
    }

    /// Reads what the proxy has sent.
    func receive(into buffer: UnsafeMutableRawBufferPointer) -> ReadResult {
        guard let socket else { return .closed }
        return unsafe secure?.receive(into: buffer, isOneEnough: false)
            ?? PlainSocket.receive(from: socket, into: buffer)
    }
}

/// The decision of a judge, on its way to the thread of the connection.
struct CertificateVerdict: Sendable {
    let id: TransferID
    let question: Int
    let decision: CertificateDecision
}
