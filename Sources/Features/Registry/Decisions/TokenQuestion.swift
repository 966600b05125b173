package import PawlBase

/// What a registry's 401 asks for: a token of a server that it names, or the login itself.
///
/// <https://distribution.github.io/distribution/spec/auth/token/>
package enum TokenQuestion: Hashable, Sendable {
    /// A request for a token.
    package struct Request: Hashable, Sendable {
        package var address: WebAddress
        /// A form for POST; empty for GET.
        package var body: [UInt8]
        package var lines: [String]
    }

    case token(Request)
    /// The value of Authorization.
    case basic(String)

    /// Why none is possible.
    package enum Flaw: Error, Hashable, Sendable {
        /// The challenge is of another scheme, or names no server that may be asked.
        case unusable
        /// It wants a login, and there is none.
        case noLogin
    }

    /// The response to a challenge of the registry at `url`.
    ///
    /// The login goes to the registry's own host and to the host of tokens only if that belongs to it; any other one is
    /// asked without it.
    package init(
        _ challenges: [LoginChallenge], from url: WebAddress, of name: String, _ login: RegistryLogin?
    ) throws(Flaw) {
        if let bearer = challenges.first(where: { $0.scheme == "bearer" }) {
            self = .token(try Self.request(bearer, from: url, of: name, login))
        } else if challenges.contains(where: { $0.scheme == "basic" }) {
            guard let login, login.identityToken == nil else { throw .noLogin }
            self = .basic(Self.basic(login))
        } else {
            throw .unusable
        }
    }

    private static func basic(_ login: RegistryLogin) -> String {
        LoginField.basic(Credentials(user: login.user, password: login.password))
    }

    private static func request(
        _ challenge: LoginChallenge, from url: WebAddress, of name: String, _ login: RegistryLogin?
    ) throws(Flaw) -> Request {
        guard let realm = challenge.parameters["realm"], var address = try? WebAddress.parse(realm).address,
            address.scheme == .https || address.scheme == .http && url.scheme == .http
        else { throw .unusable }
        let known = mayHaveLogin(address, of: url) ? login : nil
        // The challenge of a request for one repository may name no other one.
        let scope = "repository:\(name):pull"
        var fields = [("scope", scope)]
        if let service = challenge.parameters["service"], service.utf8.count <= 1024 {
            fields.insert(("service", service), at: 0)
        }
        if let token = known?.identityToken {
            fields += [("grant_type", "refresh_token"), ("client_id", "pawl"), ("refresh_token", token)]
            let lines = ["Content-Type: application/x-www-form-urlencoded"]
            return Request(address: address, body: Array(form(fields).utf8), lines: lines)
        }
        if let known { fields.append(("account", known.user)) }
        address.query = (address.query.map { $0 + "&" } ?? "") + form(fields)
        return Request(address: address, body: [], lines: known.map { ["Authorization: \(basic($0))"] } ?? [])
    }

    private static func form(_ fields: [(String, String)]) -> String {
        fields.map { "\($0.0)=\(PercentCoding.reversible($0.1.utf8, keepingSlash: false))" }.joined(separator: "&")
    }

    /// The registry's host, the domain that it is below (`gitlab.com` of `registry.gitlab.com`), or Docker Hub's.
    static func mayHaveLogin(_ realm: WebAddress, of url: WebAddress) -> Bool {
        guard realm.scheme == .https || realm.origin == url.origin || RegistryAccess.isLoopback(realm.authority) else {
            return false
        }
        if realm.host == url.host { return true }
        if url.host == RegistryReference.dockerHub { return realm.host == "auth.docker.io" }
        let parent = url.host.utf8.drop { $0 != .dot }.dropFirst()
        return parent.contains(.dot) && parent.elementsEqual(realm.host.utf8)
    }
}

/// A token of a registry, and how long it is good.
package struct RegistryToken: Hashable, Sendable {
    package var text: String
    package var life: Interval

    package static let longest = 64 << 10

    package init(text: String, life: Interval) {
        self.text = text
        self.life = life
    }

    /// `nil` for a document without a token that can be sent.
    package init?(_ document: [UInt8]) {
        guard let root = try? JSON.parse(document), let text = (root["token"] ?? root["access_token"])?.string,
            1...Self.longest ~= text.utf8.count, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else { return nil }
        self.text = text
        let stated = root["expires_in"]?.integer ?? 60
        life = .seconds(Double(min(max(stated, 10), 86_400)))
    }
}
