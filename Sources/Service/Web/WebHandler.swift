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
