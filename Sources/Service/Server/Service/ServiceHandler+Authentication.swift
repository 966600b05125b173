import PawlBase
import PawlWeb

// Who a client is: the secret, the login, the Unix socket.
//
// `admits…` decide whether a request is answered, and count wrong attempts. Calls also have the secret among their
// parameters, which `RPCDispatcher` checks. `recognizes…` and `showsSecret` count nothing and permit nothing: they give a
// request larger limits and its place in a queue, and a foreign host name a hearing (`RequestPolicy`).
extension ServiceHandler {
    /// For what is no call: clients of the Unix socket, and those that send `Authorization: Bearer SECRET`.
    func admitsBearer(_ request: WebRequest) -> Bool {
        guard let secret, request.listener != .local else { return true }
        return ServiceHandler.credentials("bearer", in: request).map(secret.admits) ?? false
    }

    /// For every request but WebSockets of the page: clients of the Unix socket, and those that send the required user name and
    /// password (RFC 7617).
    func admitsLogin(_ request: WebRequest) -> Bool {
        guard let login, request.listener != .local else { return true }
        return ServiceHandler.login(in: request).map(login.admits) ?? false
    }

    private static func login(in request: WebRequest) -> String? {
        credentials("basic", in: request).flatMap { Base64.decode($0.utf8) }.map { String(decoding: $0, as: UTF8.self) }
    }

    /// What follows the scheme, whose case does not matter (RFC 9110, 11.1 and 11.4).
    static func credentials(_ scheme: String, in request: WebRequest) -> String? {
        guard let field = request.fields[.authorization], let end = field.firstIndex(of: " "),
            field[..<end].lowercased() == scheme
        else { return nil }
        return String(field[end...].drop { $0 == " " })
    }

    static func unauthorized(_ way: String) -> WebResponse {
        var response = WebResponse(
            401, text: "this requires \(way == "Bearer" ? "Authorization: Bearer SECRET" : "a user name and password")")
        response.fields = [("www-authenticate", way)]
        response.delay = .seconds(1)
        response.closes = true
        return response
    }

    /// Whether the header section has the right login if one is required, else the right secret or cookie.
    ///
    /// A request has one Authorization: where a login is required, one with the secret instead is refused.
    func recognizes(_ request: WebRequest) -> Bool {
        if request.listener == .local { return true }
        if let login { return ServiceHandler.login(in: request).map(login.recognizes) ?? false }
        guard let secret else { return true }
        return ServiceHandler.credentials("bearer", in: request).map(secret.recognizes) ?? false
            || request.path != "/jsonrpc" && request.fields[.cookie] != nil && page.isKnown(request)
    }

    /// Whether the request has the right secret or login in any of their places.
    func showsSecret(_ request: WebRequest) -> Bool {
        if secret == nil, login == nil { return false }
        return recognizes(request) || recognizes(request.body) || recognizes(inQueryOf: request)
    }

    /// Whether the beginning of a message has the right secret.
    func recognizes(_ beginning: [UInt8]) -> Bool {
        guard let secret else { return login == nil }
        return SecretScan.candidates(in: beginning).contains(where: secret.recognizes)
    }

    /// `GET /jsonrpc` has its parameters in base64.
    func recognizes(inQueryOf request: WebRequest) -> Bool {
        request.value("params").flatMap { Base64.decode($0.utf8) }.map { recognizes($0) } ?? false
    }
}
