import PawlBase

/// Writes the status line and header section of a response (RFC 9112 §4).
enum ResponseHeadWriter {
    /// Without a length the body ends with the connection.
    package static func bytes(of response: WebResponse, closes: Bool) -> [UInt8] {
        var text = "HTTP/1.1 \(response.status) \(reason(response.status))\r\n"
        var fields = response.fields
        if let type = response.contentType { fields.append(("content-type", type)) }
        if closes { fields.append(("connection", "close")) }
        // These two never have a body, and a 204 must not have a Content-Length (RFC 9110 §8.6).
        if let length = response.length, response.status != 204, response.status != 304 {
            fields.append(("content-length", String(length)))
        }
        for (name, value) in fields { text += "\(name.lowercased()): \(plain(value))\r\n" }
        return Array((text + "\r\n").utf8)
    }

    /// The response that opens a WebSocket; `accept` proves that the key was read (RFC 6455 §4.2.2).
    static func switching(accept: String) -> [UInt8] {
        Array(
            "HTTP/1.1 101 \(reason(101))\r\nupgrade: websocket\r\nconnection: Upgrade\r\nsec-websocket-accept: \(accept)\r\n\r\n"
                .utf8)
    }

    static let interimContinue = Array("HTTP/1.1 100 \(reason(100))\r\n\r\n".utf8)

    /// A value never ends its line, whatever its source.
    private static func plain(_ value: String) -> String {
        guard value.utf8.has({ $0 < 0x20 || $0 == 0x7F }) else { return value }
        return String(String.UnicodeScalarView(value.unicodeScalars.filter { $0.value >= 32 && $0.value != 127 }))
    }

    private static func reason(_ status: Int) -> String { HTTPStatus.reason(of: status) ?? "Status" }
}
