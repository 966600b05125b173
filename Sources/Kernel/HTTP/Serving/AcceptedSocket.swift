import CPawlSystem
import CTLS
import Glibc
package import PawlBase

/// The socket of a client's connection, with TLS or without, and the output that it has not taken yet.
///
/// Its poller reports changes only, so it notes for each direction whether trying may succeed: nothing has shown otherwise since the
/// last event.
@safe package final class AcceptedSocket {
    package let descriptor: Int32
    private let context: TLSContext?
    /// Made when the client has sent something: one that is silent takes no memory for TLS.
    private var secure: TLSSession?
    /// Whether bytes can be exchanged; with TLS, after the handshake.
    package private(set) var isEstablished: Bool
    private var canRead = false
    private var canWrite = true
    /// Whether reading goes on only when something can be written.
    private var awaitsRoom = false
    private var isPeerClosed = false
    private var isOpen = true
    private var output: [UInt8] = []
    private var start = 0

    /// Takes ownership of the descriptor; `context` is for TLS.
    package init(_ descriptor: Int32, _ context: TLSContext?) {
        self.descriptor = descriptor
        self.context = context
        isEstablished = context == nil
    }

    deinit { close() }

    package func note(_ event: PollEvent) {
        canRead = canRead || event.canRead
        canWrite = canWrite || event.canWrite
        isPeerClosed = isPeerClosed || event.hasPeerClosed
    }

    /// Whether the client is on this machine, as far as its address tells; a proxy on this machine is, too.
    package var isFromLoopback: Bool { pawl_has_near_peer(descriptor) }

    // MARK: input

    /// Whether reading may bring something.
    package var mayRead: Bool { canRead && (canWrite || !awaitsRoom) }

    /// The number of bytes that were read; 0 when there are none now, `nil` at the end.
    ///
    /// Before there are any, each call is a step of the handshake.
    package func receive(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
        guard isEstablished else { return shake() }
        let result =
            unsafe secure?.receive(into: buffer, isOneEnough: false)
            ?? PlainSocket.receive(from: descriptor, into: buffer)
        awaitsRoom = secure?.wantsWrite ?? false
        switch result {
        case .bytes(let count, let isLast):
            canRead = !isLast || isPeerClosed || awaitsRoom
            return count
        case .nothing:
            if awaitsRoom { canWrite = false } else { canRead = false }
            return 0
        case .closed, .failed: return nil
        }
    }

    private func shake() -> Int? {
        guard let context, let session = secure ?? (try? TLSSession(context, over: .socket(descriptor), to: nil)) else {
            return nil
        }
        secure = session
        awaitsRoom = false
        switch session.handshake() {
        case .done: isEstablished = true
        case .wantsRead: canRead = false
        case .wantsWrite: (awaitsRoom, canWrite) = (true, false)
        case .held, .failed: return nil
        }
        return 0
    }

    // MARK: output

    /// The number of bytes that wait for the socket.
    package var unsent: Int { output.count - start }
    package var isFlushed: Bool { output.isEmpty }

    /// Sends the bytes, and keeps what the socket does not take now; `false` when nothing can be sent any more.
    package func send(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard isFlushed else {
            unsafe output.append(contentsOf: bytes)
            return true
        }
        guard let sent = unsafe put(bytes) else { return false }
        unsafe output = Array(bytes[sent...])
        return true
    }

    /// Sends more of what waits; `false` when nothing can be sent any more.
    package func flush() -> Bool {
        guard !isFlushed, canWrite else { return true }
        let sent = unsafe output.withUnsafeBytes { unsafe put(UnsafeRawBufferPointer(rebasing: $0[start...])) }
        guard let sent else { return false }
        start += sent
        if start == output.count { (output, start) = ([], 0) }
        return true
    }

    /// Writes until the socket is full: only then does it report that it has room again.
    private func put(_ bytes: UnsafeRawBufferPointer) -> Int? {
        var done = 0
        while done < bytes.count, canWrite {
            let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[done...])
            let result =
                if let secure { unsafe secure.send(rest) } else { unsafe PlainSocket.send(rest, to: descriptor) }
            guard let count = result else { return nil }
            done += count
            canWrite = count > 0
        }
        return done
    }

    /// Shuts down sending; what the client still sends can be read, so that the kernel does not send a reset, which would discard
    /// the last response.
    package func endSending() {
        secure?.close()
        secure = nil
        _ = shutdown(descriptor, Int32(SHUT_WR))
    }

    package func close() {
        guard isOpen else { return }
        isOpen = false
        secure?.close()
        _ = Glibc.close(descriptor)
    }
}

/// A stream without TLS, with the results of `TLSSession`.
package enum PlainSocket {
    package static func receive(from socket: Int32, into buffer: UnsafeMutableRawBufferPointer) -> ReadResult {
        while true {
            let count = unsafe recv(socket, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
            // A short read emptied the socket (epoll(7)); later bytes raise a new event.
            if count > 0 { return .bytes(count, isLast: count < buffer.count) }
            if count == 0 { return .closed }
            if errno != EINTR { return errno == EAGAIN ? .nothing : .failed(TransferFault(receiving: errno)) }
        }
    }

    /// The number of bytes sent; 0 when the socket is full, `nil` when nothing can be sent any more.
    package static func send(_ bytes: UnsafeRawBufferPointer, to socket: Int32) -> Int? {
        while true {
            let count = unsafe Glibc.send(socket, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
            if count >= 0 { return count }
            if errno != EINTR { return errno == EAGAIN ? 0 : nil }
        }
    }
}

/// SHA-1 (RFC 3174), which the handshake of WebSockets needs.
package enum SHA1 {
    package static func digest(of bytes: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: Int(PAWL_TLS_LONGEST_DIGEST))
        let count = unsafe pawl_tls_digest(Int32(PAWL_TLS_SHA1), bytes, bytes.count, &digest)
        return Array(digest.prefix(Int(count)))
    }
}
