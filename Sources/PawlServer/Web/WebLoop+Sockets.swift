import CWebSockets
import PawlCore

// WebSockets (RFC 6455).
extension WebLoop {
    /// Whether the upgrade is taken.
    func socketIsAskedFor(_ wsi: OpaquePointer) -> Bool {
        let connection = unsafe connection(wsi)
        let request = unsafe WebHead(wsi: wsi).request(connection.id, door: connection.door)
        var refusal = handler.refusal(ofSocket: request)
        if refusal == nil, unsafe WebHead(wsi: wsi).value(WSI_TOKEN_VERSION) != "13" {
            // RFC 6455 §4.4.
            refusal = WebResponse(426)
            refusal?.fields = [("sec-websocket-version", "13")]
        }
        guard var refusal else {
            connection.request = request
            return true
        }
        refusal.closes = true
        _ = sendHead(of: refusal, on: connection)
        return false
    }

    func socketStands(_ wsi: OpaquePointer) {
        let connection = unsafe connection(wsi)
        guard let request = connection.request else { return }
        connection.request = nil
        connection.stage = .socket
        connection.isAnnounced = true
        unsafe lws_set_timeout(wsi, PENDING_TIMEOUT_USER_REASON_BASE, Int32(limits.strangerTime))
        handler.opened(connection.id, request: request)
    }

    /// A part of a message; whether the connection goes on.
    func messageArrived(_ wsi: OpaquePointer, _ bytes: UnsafeRawBufferPointer) -> Bool {
        let connection = unsafe connection(wsi)
        guard connection.arriving.count + bytes.count <= limits.body, unsafe lws_frame_is_binary(wsi) == 0,
            hold(bytes.count, for: connection)
        else {
            return false
        }
        unsafe connection.arriving.append(contentsOf: bytes)
        guard unsafe lws_is_final_fragment(wsi) != 0, unsafe lws_remaining_packet_payload(wsi) == 0 else {
            return true
        }
        let message = connection.arriving
        connection.arriving = []
        connection.letters.append(message.count)
        if connection.letters.count == limits.letters { _ = unsafe lws_rx_flow_control(wsi, 0) }
        handler.received(message, from: connection.id)
        return true
    }

    func answer(_ bytes: [UInt8], on connection: WebConnection) {
        guard !connection.letters.isEmpty else { return }
        if connection.letters.count == limits.letters { _ = unsafe lws_rx_flow_control(connection.wsi, 1) }
        _ = hold(-connection.letters.removeFirst(), for: connection)
        push(bytes, on: connection)
    }

    /// Sends what waits, as much as goes out at once: events come in swarms, and each call costs the system more than
    /// their bytes.
    func sendMessage(_ wsi: OpaquePointer) -> Bool {
        let connection = unsafe connection(wsi)
        guard connection.hasBacklog else {
            if connection.isEnding { unsafe lws_close_reason(wsi, LWS_CLOSE_STATUS_GOINGAWAY, nil, 0) }
            return !connection.isEnding
        }
        var frames: [UInt8] = []
        while frames.count < WebLoop.chunk, let message = connection.dequeue() {
            _ = hold(-message.count, for: connection)
            WebLoop.frame(message, into: &frames)
        }
        // As bytes of HTTP the library sends them as they are; it would make one frame of all.
        guard write(frames, on: connection, as: LWS_WRITE_HTTP) else { return false }
        if connection.hasBacklog || connection.isEnding { _ = unsafe lws_callback_on_writable(wsi) }
        return true
    }

    /// One whole text message of a server's (RFC 6455 §5.2).
    private static func frame(_ message: [UInt8], into bytes: inout [UInt8]) {
        bytes.append(0x81)
        switch message.count {
        case ..<126: bytes.append(UInt8(message.count))
        case ..<65536:
            bytes.append(126)
            bytes += [UInt8(message.count >> 8), UInt8(message.count & 0xFF)]
        default:
            bytes.append(127)
            for shift in stride(from: 56, through: 0, by: -8) {
                bytes.append(UInt8(truncatingIfNeeded: message.count >> shift))
            }
        }
        bytes += message
    }
}
