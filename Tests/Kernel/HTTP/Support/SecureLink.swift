import CTLS
import Glibc
import PawlTestKit

@testable import PawlBase
@testable import PawlHTTP

/// A client and a server in one thread, over a pair of sockets.
final class SecureLink {
    let client: TLSSession
    let server: TLSSession
    private var sockets: [Int32]
    private let relay: Relay?
    private(set) var clientProgress = TLSSession.Progress.wantsRead
    private(set) var serverProgress = TLSSession.Progress.wantsRead

    init(
        _ client: TLSContext, _ server: TLSContext, to target: TLSTarget = .local, resuming ticket: TLSTicket? = nil,
        relay: Relay? = nil
    ) throws {
        let pair = try relay == nil ? Self.pair() : []
        sockets = pair
        self.relay = relay
        let ends = relay?.ends ?? (pair[0], pair[1])
        self.client = try TLSSession(client, over: .socket(ends.0), to: target, resuming: ticket)
        self.server = try TLSSession(server, over: .socket(ends.1), to: nil)
    }

    /// A connection within another one.
    init(_ client: TLSContext, _ server: TLSContext, within link: SecureLink) throws {
        sockets = []
        relay = nil
        self.client = try TLSSession(client, over: .session(link.client), to: .local)
        self.server = try TLSSession(server, over: .session(link.server), to: nil)
    }

    deinit {
        client.close()
        server.close()
        for socket in sockets { close(socket) }
    }

    static func pair() throws(SetupFailure) -> [Int32] {
        var ends: [Int32] = [0, 0]
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard unsafe socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw SetupFailure("socketpair") }
        return ends
    }

    /// Ends the server's side of the transport without a word.
    func cut() { shutdown(sockets[1], Int32(SHUT_RDWR)) }

    /// Closes the server's side of the transport.
    ///
    /// Its number stays in use: the session would say its end on another's socket.
    func dropServer() {
        let unused = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        dup2(unused, sockets[1])
        _ = fcntl(sockets[1], F_SETFD, FD_CLOEXEC)
        close(unused)
    }

    /// Sends bytes that are no records, as many as fit.
    func fillClientsTransport() -> Int {
        let bytes = [UInt8](repeating: 0, count: 1000)
        var filled = 0
        while true {
            let count = unsafe Glibc.send(sockets[0], bytes, bytes.count, Int32(MSG_DONTWAIT))
            guard count > 0 else { return filled }
            filled += count
        }
    }

    /// Takes them away.
    func drainServersTransport(_ count: Int) {
        var bytes = [UInt8](repeating: 0, count: count)
        _ = unsafe recv(sockets[1], &bytes, count, Int32(MSG_WAITALL))
    }

    /// The server's side does not speak TLS.
    func sendPlain(_ bytes: [UInt8]) { _ = unsafe Glibc.send(sockets[1], bytes, bytes.count, 0) }

    /// Calls both once, and carries one piece.
    func step() {
        if !clientProgress.isSettled { clientProgress = client.handshake() }
        if !serverProgress.isSettled { serverProgress = server.handshake() }
        _ = relay?.carry()
    }

    /// Goes on until both are done, one has failed or is held, or nothing moves any more; how far the client is.
    @discardableResult func shake() -> TLSSession.Progress {
        if case .held = clientProgress { clientProgress = .wantsRead }
        var idle = 0
        while idle < 8, !(clientProgress.isSettled && serverProgress.isSettled) {
            if !clientProgress.isSettled { clientProgress = client.handshake() }
            if !serverProgress.isSettled { serverProgress = server.handshake() }
            idle = relay?.carry() == true ? 0 : idle + 1
        }
        return clientProgress
    }

    /// Sends all of it from one side, and reads it on the other one.
    func transfer(_ bytes: [UInt8], toClient: Bool, buffer size: Int = 65_536, isOneEnough: Bool = false) -> [UInt8] {
        let (sender, receiver) = toClient ? (server, client) : (client, server)
        var sent = 0
        var received: [UInt8] = []
        while received.count < bytes.count {
            if sent < bytes.count { sent += sender.send(bytes[sent...]) ?? bytes.count }
            _ = relay?.carry()
            let (result, part) = receiver.receive(size, isOneEnough: isOneEnough)
            received += part
            switch result {
            case .bytes, .nothing: continue
            case .closed, .failed: return received
            }
        }
        return received
    }

    /// The tickets that have arrived.
    func tickets() -> [TLSTicket] {
        _ = client.receive(16)
        return client.takeTickets()
    }
}

extension TLSTarget {
    static let local = TLSTarget(host: "localhost", port: 443)
}

extension TLSSession {
    /// What one call reads.
    func receive(_ size: Int, isOneEnough: Bool = false) -> (ReadResult, [UInt8]) {
        var bytes = [UInt8](repeating: 0, count: size)
        let result = unsafe bytes.withUnsafeMutableBytes { unsafe receive(into: $0, isOneEnough: isOneEnough) }
        guard case .bytes(let count, _) = result else { return (result, []) }
        return (result, Array(bytes[..<count]))
    }

    func send(_ bytes: ArraySlice<UInt8>) -> Int? { unsafe bytes.withUnsafeBytes { unsafe send($0) } }
}

extension TLSSession.Progress {
    var isSettled: Bool {
        switch self {
        case .done, .failed, .held: true
        case .wantsRead, .wantsWrite: false
        }
    }

    var isDone: Bool {
        guard case .done = self else { return false }
        return true
    }

    var fault: TransferFault? {
        guard case .failed(let fault) = self else { return nil }
        return fault
    }

    var question: CertificateQuestion.Kind? {
        guard case .held(let question) = self else { return nil }
        return question.kind
    }
}

/// Carries bytes between a client and a server in small pieces, until so many have gone to one of them.
final class Relay {
    /// For the client and the server.
    let ends: (Int32, Int32)
    private let own: [Int32]
    private let piece: Int
    private let limits: [Int?]
    private(set) var counts = [0, 0]

    /// `toServer`, `toClient`: both connections end after so many bytes of that direction.
    init(piece: Int, toServer: Int? = nil, toClient: Int? = nil) throws(SetupFailure) {
        let (near, far) = (try SecureLink.pair(), try SecureLink.pair())
        ends = (near[0], far[0])
        own = [near[1], far[1]]
        self.piece = piece
        limits = [toServer, toClient]
    }

    deinit { for socket in own + [ends.0, ends.1] { close(socket) } }

    /// Whether bytes have moved.
    func carry() -> Bool {
        var hasMoved = false
        for way in 0..<2 {
            let room = limits[way].map { $0 - counts[way] } ?? .max
            var bytes = [UInt8](repeating: 0, count: min(piece, room))
            let count = unsafe recv(own[way], &bytes, bytes.count, Int32(MSG_DONTWAIT))
            if count > 0 {
                counts[way] += count
                hasMoved = unsafe Glibc.send(own[1 - way], bytes, count, Int32(MSG_NOSIGNAL)) == count
            }
            if counts[way] == limits[way] { for socket in own { shutdown(socket, Int32(SHUT_RDWR)) } }
        }
        return hasMoved
    }
}
