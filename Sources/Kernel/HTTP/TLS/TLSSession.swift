import CTLS
import Glibc
package import PawlBase

/// What reading from a connection brought.
package enum ReadResult: Hashable {
    /// `isLast`: nothing more is available until the next event, except the end if the peer has closed.
    case bytes(Int, isLast: Bool)
    case closed
    case nothing
    case failed(TransferFault)
}

/// A TLS connection, of a client or a server: OpenSSL handles the records, directly on the socket or on the session below.
///
/// Bytes may be buffered, decrypted or read ahead, while the socket has none; also when a handshake ends. So reading continues
/// until the socket was found empty and nothing is buffered; an event of the socket reports all that arrives after that.
@safe package final class TLSSession {
    package enum Transport {
        /// Stays its owner's, who closes it after the session.
        case socket(Int32)
        /// That with a proxy, which is closed together with this one.
        case session(TLSSession)
    }

    package enum Progress {
        /// With the protocol that ALPN has chosen.
        case done(protocol: String?)
        case wantsRead
        case wantsWrite
        /// It goes on after `decide`.
        case held(CertificateQuestion)
        case failed(TransferFault)
    }

    private let state: UnsafeMutablePointer<pawl_tls_session>
    private let context: TLSContext
    private let below: TLSSession?
    /// `nil` for a server's side.
    private let target: TLSTarget?
    private var hold = HandshakeHold()
    private var isEstablished = false
    /// Why the handshake failed.
    private var failure: TransferFault?
    /// How reading ended; reported again by every later read.
    private var ending: ReadResult?
    /// Whether reading goes on only when something can be written.
    package private(set) var wantsWrite = false

    /// Never freed.
    private nonisolated(unsafe) static let line =  // nothing changes it, and OpenSSL's own counts are atomic
        unsafe pawl_tls_make_bio_method(pawl_tls_read, pawl_tls_write, pawl_tls_control)

    /// Nothing is sent before `handshake`.
    package init(
        _ context: TLSContext, over transport: Transport, to target: TLSTarget?, resuming ticket: TLSTicket? = nil
    ) throws(TransferFault) {
        self.context = context
        self.target = target
        unsafe state = .allocate(capacity: 1)
        unsafe state.initialize(to: pawl_tls_session())
        switch transport {
        case .socket(let socket):
            below = nil
            unsafe state.pointee.socket = socket
        case .session(let session):
            below = session
            unsafe state.pointee.below = session.state
        }
        if let target, let trust = context.trust {
            unsafe state.pointee.host = strdup(target.name)
            unsafe state.pointee.is_numeric = target.isNumeric ? 1 : 0
            unsafe state.pointee.trust = trust.raw
            unsafe state.pointee.pins = UnsafePointer(context.pins)
            unsafe state.pointee.pin_count = Int32(context.settings.pins.count)
            unsafe state.pointee.verifies = context.settings.verifies ? 1 : 0
            unsafe state.pointee.holds_server = target.isJudged ? 1 : 0
            unsafe state.pointee.holds_client = target.isJudged && context.settings.certificate == nil ? 1 : 0
        }
        guard unsafe pawl_tls_open(state, context.raw, Self.line) == 1 else { throw .outOfMemory }
        guard let target else { return }
        let wire = TLSTarget.wire(target.protocols)
        _ = unsafe SSL_set_alpn_protos(connection, wire, UInt32(wire.count))
        if let ticket { unsafe pawl_tls_resume(connection, ticket.raw) }
    }

    deinit {
        close()
        unsafe state.deallocate()
    }

    /// Goes on with the handshake; called at its beginning, after each event of the transport and after `decide`.
    package func handshake() -> Progress {
        if let failure { return .failed(failure) }
        // An event meanwhile changes nothing.
        if hold.isHeld { return .wantsRead }
        switch unsafe pawl_tls_shake(state) {
        case PAWL_TLS_DONE:
            isEstablished = true
            unsafe state.pointee.holds_client = 0
            let name = negotiated
            if name == "h2" { unsafe pawl_tls_forbid_renegotiation(connection) }
            return .done(protocol: name)
        case PAWL_TLS_LATER: return .wantsRead
        case PAWL_TLS_WRITE_LATER: return .wantsWrite
        case PAWL_TLS_HELD_SERVER:
            hold.hold(forClient: false)
            return .held(question(.server(chain: chain, problem: problem)))
        case PAWL_TLS_HELD_CLIENT:
            hold.hold(forClient: true)
            return .held(question(.client))
        case _:
            let fault = fault.handshake
            failure = fault
            return .failed(fault)
        }
    }

    /// Carries out a judge's decision.
    package func decide(_ decision: CertificateDecision) {
        guard hold.isHeld, failure == nil else { return }
        let isForClient = hold.isForClient
        hold.decide(decision)
        guard isForClient else {
            let order = hold.isRefused ? PAWL_TLS_REFUSED : hold.isAccepted ? PAWL_TLS_ACCEPTED : PAWL_TLS_AS_VERIFIED
            unsafe state.pointee.decision = Int32(order)
            return
        }
        unsafe state.pointee.holds_client = 0
        if hold.isRefused { failure = .certificateRejected }
        guard let (file, key) = hold.identity else { return }
        if unsafe pawl_tls_use_files(nil, state.pointee.connection, file, key) != 1 {
            failure = .clientCertificate(TLSFault.text ?? "")
        }
    }

    /// The settings for further requests to the server of a connection that a judge has accepted.
    package func accepted(_ values: TransferSettings.Values) -> TransferSettings.Values {
        let key = unsafe withUnsafeBytes(of: &state.pointee.key) { unsafe Array($0) }
        return hold.settings(values, key: key)
    }

    /// Sends close_notify where possible and frees what belongs to the connection.
    package func close() {
        guard unsafe connection != nil else { return }
        let isUsable: Bool
        if case .failed? = ending { isUsable = false } else { isUsable = isEstablished }
        isEstablished = false
        ending = ending ?? .closed
        failure = failure ?? .noCloseNotify
        unsafe pawl_tls_end(state, isUsable ? 1 : 0)
        below?.close()
    }

    /// Reads the available bytes: one record, or as many as the buffer holds.
    package func receive(into buffer: UnsafeMutableRawBufferPointer, isOneEnough: Bool) -> ReadResult {
        var done = 0
        wantsWrite = false
        // After it, OpenSSL reports the peer's proper end.
        if ending == nil, let failure { ending = .failed(failure) }
        while done < buffer.count, ending == nil {
            var count = 0
            let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
            switch unsafe pawl_tls_take(state, rest.baseAddress, rest.count, &count) {
            case PAWL_TLS_DONE: done += count
            case PAWL_TLS_LATER: return done > 0 ? .bytes(done, isLast: true) : .nothing
            case PAWL_TLS_WRITE_LATER:
                wantsWrite = true
                return done > 0 ? .bytes(done, isLast: true) : .nothing
            case PAWL_TLS_CLOSE_NOTIFY: ending = .closed
            case _: ending = .failed(fault.receiving)
            }
            if isOneEnough || isEmpty { break }
        }
        return done > 0 ? .bytes(done, isLast: ending == nil && isEmpty) : ending ?? .nothing
    }

    /// Whether the last read of the socket left nothing, there or buffered.
    private var isEmpty: Bool { unsafe state.pointee.is_dry != 0 && pawl_tls_has_more(handle) == 0 }

    /// Sends the front of `bytes` and returns its length; `nil` when nothing can be sent any more.
    package func send(_ bytes: UnsafeRawBufferPointer) -> Int? {
        guard isEstablished else { return nil }
        var count = 0
        switch unsafe pawl_tls_give(state, bytes.baseAddress, bytes.count, &count) {
        case PAWL_TLS_DONE: return count
        case PAWL_TLS_LATER, PAWL_TLS_WRITE_LATER: return 0
        case _: return nil
        }
    }

    /// What the server has issued since the last time, the newest first; after the handshake and each read there may be more.
    package func takeTickets() -> [TLSTicket] {
        var tickets: [TLSTicket] = []
        while let ticket = unsafe pawl_tls_take_ticket(state) { unsafe tickets.append(TLSTicket(ticket)) }
        return tickets
    }
}

extension TLSSession {
    /// `nil` when closed.
    var connection: OpaquePointer? { unsafe state.pointee.connection }
    private var handle: UnsafeMutableRawPointer? { unsafe connection.map { unsafe UnsafeMutableRawPointer($0) } }

    /// The negotiated version, such as `TLSv1.3`.
    package var version: String? {
        guard isEstablished else { return nil }
        return unsafe pawl_tls_used_version(handle).map { unsafe String(cString: $0) }
    }

    /// The negotiated cipher's name.
    package var cipher: String? {
        guard isEstablished else { return nil }
        return unsafe pawl_tls_used_cipher(handle).map { unsafe String(cString: $0) }
    }

    package var isResumed: Bool { isEstablished ? unsafe SSL_session_reused(connection) == 1 : false }

    private var negotiated: String? {
        var name: UnsafePointer<UInt8>?
        var length: UInt32 = 0
        unsafe SSL_get0_alpn_selected(connection, &name, &length)
        guard let name = unsafe name else { return nil }
        return unsafe String(decoding: UnsafeBufferPointer(start: name, count: Int(length)), as: UTF8.self)
    }

    private func question(_ kind: CertificateQuestion.Kind) -> CertificateQuestion {
        CertificateQuestion(host: target?.host ?? "", port: target?.port ?? 0, kind: kind)
    }

    /// The server's certificates in DER form, its own first.
    private var chain: [[UInt8]] {
        var chain: [[UInt8]] = []
        while true {
            let length = unsafe pawl_tls_certificate(handle, Int32(chain.count), nil, 0)
            guard length > 0 else { return chain }
            var bytes = [UInt8](repeating: 0, count: Int(length))
            guard unsafe pawl_tls_certificate(handle, Int32(chain.count), &bytes, length) == length else {
                return chain
            }
            chain.append(bytes)
        }
    }

    /// Why the chain, or its certificate for this host, is not trusted.
    private var problem: String? {
        let problem = unsafe state.pointee.problem
        if problem == X509_V_OK { return nil }
        return TLSFault.isOfOtherHost(problem)
            ? "the certificate is not for this host" : TLSFault.text(ofProblem: problem)
    }

    private var fault: TLSFault {
        let state = unsafe self.state.pointee
        let readError = unsafe state.read_error
        return unsafe TLSFault(
            library: ERR_GET_LIB(ERR_peek_error()), reason: ERR_GET_REASON(ERR_peek_error()), text: TLSFault.text,
            problem: state.problem, isWrongKey: state.is_wrong_key != 0, isRefused: hold.isRefused,
            wasRequested: state.was_requested != 0, isIdentified: SSL_get_certificate(state.connection) != nil,
            isClosed: state.is_closed != 0,
            systemError: readError == 0 && !isEstablished ? state.send_error : readError)
    }
}
