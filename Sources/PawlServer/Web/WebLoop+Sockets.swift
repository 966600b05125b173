import CWebSockets
import PawlCore

// WebSockets (RFC 6455).
extension WebLoop {
    /// Whether the upgrade is taken.
    func socketIsAskedFor(_ wsi: OpaquePointer) -> Bool {
        let connection = unsafe connection(wsi)
        let request = unsafe WebHead(wsi: wsi).request(connection.id, door: connection.door)
        guard let refusal = handler.refusal(ofSocket: request) else {
            connection.request = request
            return true
        }
        _ = unsafe lws_return_http_status(wsi, UInt32(refusal.status), nil)
        return false
    }

    func socketStands(_ wsi: OpaquePointer) {
        let connection = unsafe connection(wsi)
        guard let request = connection.request else { return }
        connection.request = nil
        connection.stage = .socket
        connection.isAnnounced = true
        handler.opened(connection.id, request: request)
    }

    /// A part of a message; whether the connection goes on.
    func messageArrived(_ wsi: OpaquePointer, _ bytes: UnsafeRawBufferPointer) -> Bool {
        let connection = unsafe connection(wsi)
        guard connection.arriving.count + bytes.count <= limits.body, unsafe lws_frame_is_binary(wsi) == 0
        else {
            return false
        }
        unsafe connection.arriving.append(contentsOf: bytes)
        guard unsafe lws_is_final_fragment(wsi) != 0, unsafe lws_remaining_packet_payload(wsi) == 0 else {
            return true
        }
        let message = connection.arriving
        connection.arriving = []
        handler.received(message, from: connection.id)
        return true
    }

    func sendMessage(_ wsi: OpaquePointer) -> Bool {
        let connection = unsafe connection(wsi)
        guard let message = connection.dequeue() else { return !connection.isEnding }
        guard write(message, on: connection, as: LWS_WRITE_TEXT) else { return false }
        if connection.hasBacklog || connection.isEnding { _ = unsafe lws_callback_on_writable(wsi) }
        return true
    }
}
