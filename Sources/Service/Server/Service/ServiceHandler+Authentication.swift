import PawlBase
import PawlWeb

// Who a client is: the secret, the login, the Unix socket.
extension ServiceHandler {
    /// Clients of the Unix socket, and those that send `Authorization: Bearer SECRET`.
    func isKnown(_ request: WebRequest) -> Bool {
        guard let secret, request.listener != .local else { return true }
        return ServiceHandler.bearer(in: request).map(secret.admits) ?? false
    }

    private static func bearer(in request: WebRequest) -> String? {
        guard let field = request.fields[.authorization], field.hasPrefix("Bearer ") else { return nil }
        return String(field.dropFirst("Bearer ".count))
    }

    /// Clients of the Unix socket, and those that send the required user name and password (RFC 7617).
    func hasLogin(_ request: WebRequest) -> Bool {
        guard let login, request.listener != .local else { return true }
        return ServiceHandler.login(in: request).map(login.admits) ?? false
    }

    private static func login(in request: WebRequest) -> String? {
        guard let field = request.fields[.authorization], field.lowercased().hasPrefix("basic "),
            let bytes = Base64.decode(field.dropFirst("basic ".count).utf8)
        else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    static func unauthorized(_ way: String) -> WebResponse {
        var response = WebResponse(
            401, text: "this requires \(way == "Bearer" ? "Authorization: Bearer SECRET" : "a user name and password")")
        response.fields = [("www-authenticate", way)]
        response.delay = .seconds(1)
        response.closes = true
        return response
    }

    func recognizes(_ request: WebRequest) -> Bool {
        if request.listener == .local { return true }
        if let login { return ServiceHandler.login(in: request).map(login.recognizes) ?? false }
        guard let secret else { return true }
        return ServiceHandler.bearer(in: request).map(secret.recognizes) ?? false
            || request.path != "/jsonrpc" && request.fields[.cookie] != nil && page.isKnown(request)
    }

    /// Whether the request has the right secret or login in any of their places.
    func showsSecret(_ request: WebRequest) -> Bool {
        if secret == nil, login == nil { return false }
        return recognizes(request) || recognizes(request.body) || recognizes(inQueryOf: request)
    }

    func recognizes(_ beginning: [UInt8]) -> Bool {
        guard let secret else { return login == nil }
        return SecretScan.candidates(in: beginning).contains(where: secret.recognizes)
    }

    /// `GET /jsonrpc` has its parameters in base64.
    func recognizes(inQueryOf request: WebRequest) -> Bool {
        request.value("params").flatMap { Base64.decode($0.utf8) }.map { recognizes($0) } ?? false
    }
}
