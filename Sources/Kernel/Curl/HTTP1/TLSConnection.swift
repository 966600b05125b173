import CCurl
import CTLS
import Glibc
import PawlBase
import PawlHTTP

/// A TLS connection that libcurl has established: OpenSSL handles the records, directly on the socket.
///
/// Bytes may be buffered, decrypted or read ahead, while the socket has none. So reading continues until the
/// socket was found empty and nothing is buffered; an event of the socket reports all that arrives after that.
@safe final class TLSConnection {
    let socket: Int32
    private let connection: UnsafeMutableRawPointer
    private let line: UnsafeMutablePointer<SocketBIO>
    private let easy: EasyHandle
    /// `nil` when closed.
    private var multi: MultiHandle?
    /// How reading ended; reported again by every later read.
    private var ending: HTTP1Socket.ReadResult?

    /// Takes the connection of `easy`, which is in `multi`; `fault` is that of a code of libcurl.
    init?(_ easy: EasyHandle, in multi: MultiHandle, fault: (CURLcode) -> TransferFault) {
        // libcurl reveals its TLS state only after a read or a write; nothing but an alert arrives before the request.
        var byte: UInt8 = 0
        var count = 0
        let code = unsafe pawl_easy_recv(easy.raw, &byte, 1, &count)
        guard count == 0, let socket = easy.socket, let connection = unsafe pawl_easy_get_tls(easy.raw) else {
            return nil
        }
        let line = UnsafeMutablePointer<SocketBIO>.allocate(capacity: 1)
        unsafe line.initialize(to: SocketBIO(socket: socket))
        guard unsafe pawl_tls_set_bio(connection, SocketBIO.kind, line) != 0 else {
            unsafe line.deallocate()
            return nil
        }
        self.socket = socket
        unsafe self.connection = connection
        unsafe self.line = line
        self.easy = easy
        self.multi = multi
        if code == CURLE_RECV_ERROR { ending = .failed(fault(code)) }
    }

    deinit {
        close()
        unsafe line.deallocate()
    }

    /// The negotiated version, such as `TLSv1.3`.
    var version: String? { unsafe pawl_tls_used_version(connection).map { unsafe String(cString: $0) } }
    /// The negotiated cipher's name.
    var cipher: String? { unsafe pawl_tls_used_cipher(connection).map { unsafe String(cString: $0) } }

    /// Makes libcurl send close_notify to the peer and close the socket.
    func close() {
        multi?.remove(easy)
        multi = nil
    }

    /// Reads the available bytes: one record, or as many as the buffer holds.
    func receive(into buffer: UnsafeMutableRawBufferPointer, isOneEnough: Bool) -> HTTP1Socket.ReadResult {
        var done = 0
        while done < buffer.count, ending == nil {
            var count = 0
            let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
            switch unsafe pawl_tls_receive(connection, rest.baseAddress, rest.count, &count) {
            case PAWL_TLS_DONE: done += count
            case PAWL_TLS_LATER: return done > 0 ? .bytes(done, isLast: true) : .nothing
            case PAWL_TLS_CLOSE_NOTIFY: ending = .closed
            default: ending = .failed(fault)
            }
            if isOneEnough || isEmpty { break }
        }
        return done > 0 ? .bytes(done, isLast: ending == nil && isEmpty) : ending ?? .nothing
    }

    /// Whether the last read of the socket left nothing, there or buffered.
    private var isEmpty: Bool { unsafe line.pointee.isDry && pawl_tls_has_more(connection) == 0 }

    /// Sends the front of `bytes` and returns its length; `nil` when nothing can be sent any more.
    func send(_ bytes: UnsafeRawBufferPointer) -> Int? {
        var count = 0
        switch unsafe pawl_tls_send(connection, bytes.baseAddress, bytes.count, &count) {
        case PAWL_TLS_DONE: return count
        case PAWL_TLS_LATER: return 0
        default: return nil
        }
    }

    private var fault: TransferFault {
        switch unsafe line.pointee.end {
        case .none:
            let reason = unsafe pawl_tls_reason().map { unsafe String(cString: $0) } ?? "TLS broke"
            if let cause = CertificateText.clientCertificate(reason) { return TransferFault(.tls, cause) }
            return TransferFault(.connectionLost, .receivingFailed(CertificateText.reason(reason)))
        case .closed: return .noCloseNotify
        case .failed(let error): return TransferFault(receiving: error)
        }
    }
}

/// A socket as an OpenSSL BIO.
private struct SocketBIO {
    enum End {
        case none
        case closed
        case failed(Int32)
    }

    let socket: Int32
    /// Whether it had less than requested; later bytes raise a new event (epoll(7)).
    var isDry = false
    var end = End.none

    init(socket: Int32) { self.socket = socket }

    /// Created once and never freed.
    nonisolated(unsafe) static let kind = unsafe pawl_tls_make_bio_method(  // OpenSSL's own counts are atomic
        { bio, bytes, count in
            let line = unsafe pawl_tls_context(bio).assumingMemoryBound(to: SocketBIO.self)
            return unsafe line.pointee.receive(bio, bytes, count)
        },
        { bio, bytes, count in
            let line = unsafe pawl_tls_context(bio).assumingMemoryBound(to: SocketBIO.self)
            return unsafe line.pointee.send(bio, bytes, count)
        }, { _, command, _, _ in command == pawl_tls_flush ? 1 : 0 })

    private mutating func receive(_ bio: OpaquePointer?, _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int32) -> Int32
    {
        unsafe pawl_tls_expect_more(bio, -1)
        while true {
            let count = unsafe recv(socket, bytes, Int(size), Int32(MSG_DONTWAIT))
            isDry = count < Int(size)
            if count > 0 { return Int32(count) }
            if count == 0 {
                end = .closed
                return 0
            }
            if errno == EINTR { continue }
            if errno == EAGAIN { unsafe pawl_tls_expect_more(bio, 1) } else { end = .failed(errno) }
            return -1
        }
    }

    private func send(_ bio: OpaquePointer?, _ bytes: UnsafePointer<CChar>?, _ size: Int32) -> Int32 {
        unsafe pawl_tls_expect_more(bio, -1)
        while true {
            let count = unsafe Glibc.send(socket, bytes, Int(size), Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
            if count >= 0 { return Int32(count) }
            if errno == EINTR { continue }
            if errno == EAGAIN { unsafe pawl_tls_expect_more(bio, 0) }
            return -1
        }
    }
}
