/// The response to a request.
package struct WebResponse: Sendable {
    package enum Body: Sendable {
        case bytes([UInt8])
        /// A range of an open file.
        case file(WebFile)
        /// Pieces sent by ``WebServer/push(_:to:)``, until the connection ends.
        case stream
    }

    package var status: Int
    package var contentType: String?
    package var fields: [(name: String, value: String)] = []
    package var body: Body
    /// Whether the connection ends with this response.
    package var closes = false
    /// Its client has authenticated, or no secret is required.
    package var isForKnown = false
    /// How long it is delayed before it is sent.
    package var delay: Duration?

    var isStream: Bool {
        if case .stream = body { true } else { false }
    }

    /// The length of the body in bytes; `nil` for a stream.
    var length: Int64? {
        switch body {
        case .bytes(let bytes): Int64(bytes.count)
        case .file(let file): file.length
        case .stream: nil
        }
    }

    package init(_ status: Int, contentType: String? = nil, body: Body = .bytes([])) {
        self.status = status
        self.contentType = contentType
        self.body = body
    }

    package init(_ status: Int, text: String) {
        self.init(status, contentType: "text/plain; charset=utf-8", body: .bytes(Array((text + "\n").utf8)))
    }
}

/// Handles requests and messages.
///
/// Called on the server's thread: it must return quickly, and respond from another thread if it takes time.
package protocol WebHandler: AnyObject, Sendable {
    /// `reply` is called once, on any thread, now or later.
    func respond(to request: WebRequest, reply: @escaping @Sendable (WebResponse) -> Void)
    /// Whether a request's header section presents the secret, or none is required.
    func recognizes(_ request: WebRequest) -> Bool
    /// Whether the beginning of a body or message contains the secret.
    func recognizes(_ beginning: [UInt8]) -> Bool
    /// A WebSocket is requested; returning a response refuses it.
    func refusal(ofSocket request: WebRequest) -> WebResponse?
    /// A WebSocket was opened.
    func opened(_ socket: ConnectionID, request: WebRequest)
    /// A complete text message.
    func received(_ message: [UInt8], from socket: ConnectionID)
    /// A WebSocket or a stream has ended, from either side.
    func closed(_ connection: ConnectionID)
}
