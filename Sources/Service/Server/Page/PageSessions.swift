import PawlBase
import PawlWeb
import Synchronization

/// The logged-in browsers: those that presented the secret or a one-time code have a cookie.
///
/// Scripts cannot read the cookie, and no other site's page can make a browser send it (RFC 6265bis §5.2).
final class PageSessions: Sendable {
    private struct State {
        var key: Secret?
        /// Codes that have not been used, and until when they may be.
        var codes: [(code: Secret, end: ContinuousClock.Instant)] = []
    }

    private let secret: Secret?
    private let keyFile: String
    private let state: Mutex<State>

    /// The key of the cookies is in a file of its own, so that browsers stay logged in when the service restarts.
    init(secret: Secret?, keyFile: String, notice: (String) -> Void) throws(Failure) {
        self.secret = secret
        self.keyFile = keyFile
        state = Mutex(State(key: secret == nil ? nil : Secret(try SecretFile.text(at: keyFile, notice: notice))))
    }

    /// Whether a request has a valid cookie, or none is required.
    ///
    /// Pages of other ports of this machine count as the same site: a browser that names the origin must send ours.
    func isKnown(_ request: WebRequest) -> Bool {
        guard secret != nil, request.listener != .local else { return true }
        guard PageSessions.isOurs(request.fields[.origin], host: request.fields[.host]),
            let key = state.withLock({ $0.key })
        else { return false }
        let name = PageSessions.cookieName(request)
        return PageSessions.cookies(request.fields[.cookie] ?? "", named: name).contains(where: key.equals)
    }

    private static func isOurs(_ origin: String?, host: String?) -> Bool {
        guard let origin else { return true }
        guard let host else { return false }
        return origin == "http://" + host || origin == "https://" + host
    }

    /// The values of this name, compared as bytes: other services of this machine may have many cookies.
    private static func cookies(_ field: String, named name: String) -> [String] {
        let start = Array((name + "=").utf8)
        return field.utf8.split(separator: UInt8(ascii: ";")).compactMap { pair in
            let pair = pair.drop { $0 == UInt8(ascii: " ") }
            return pair.starts(with: start) ? String(pair.dropFirst(start.count)) : nil
        }
    }

    /// Ports share their cookies, so two services of one machine need two names.
    private static func cookieName(_ request: WebRequest) -> String {
        let port = (request.fields[.host] ?? "").split(separator: ":").last.flatMap { Int($0) }
        return "pawl-\(port ?? 0)"
    }

    // MARK: logging in and out

    /// A code that logs one browser in, within a minute.
    ///
    /// `nil` if no login is required.
    func makeCode() -> String? {
        let code = PageSessions.dice()
        guard secret != nil, let kept = Secret(code) else { return nil }
        let now = ContinuousClock.now
        state.withLock { state in
            state.codes.removeAll { $0.end < now }
            state.codes.append((kept, now + .seconds(60)))
        }
        return code
    }

    /// The cookie in exchange for the secret or an unused code; `nil` otherwise.
    func cookie(for word: String, _ request: WebRequest) -> String? {
        guard let secret else { return nil }
        guard use(word) || secret.admits(word) else { return nil }
        let key = (try? SecretFile.text(at: keyFile)) ?? PageSessions.dice()
        state.withLock { $0.key = Secret(key) }
        return PageSessions.field(request, key, seconds: 400 * 86_400)
    }

    /// Whether this is an unused code, which it is not any more then.
    func use(_ word: String) -> Bool {
        let now = ContinuousClock.now
        return state.withLock { state in
            state.codes.removeAll { $0.end < now }
            guard let index = state.codes.firstIndex(where: { $0.code.equals(word) }) else { return false }
            state.codes.remove(at: index)
            return true
        }
    }

    /// Ends the sessions of all browsers; returns the field that deletes this one's cookie.
    func end(_ request: WebRequest) -> String {
        SecretFile.remove(at: keyFile)
        state.withLock { $0.key = nil }
        return PageSessions.field(request, "", seconds: 0)
    }

    private static func field(_ request: WebRequest, _ value: String, seconds: Int) -> String {
        let secure = request.listener == .port(isSecure: true) ? "; Secure" : ""
        return "\(cookieName(request))=\(value); Path=/; Max-Age=\(seconds); HttpOnly; SameSite=Strict\(secure)"
    }

    private static func dice() -> String {
        (0..<4).map { _ in String(UInt32.random(in: 0 ... .max) | 1 << 31, radix: 16) }.joined()
    }
}
