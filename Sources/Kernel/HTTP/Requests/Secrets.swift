package import PawlBase

/// Removes secrets from libcurl's error texts.
package enum Secrets {
    package static func removed(from text: String, of request: TransferRequest?) -> String {
        // First, since the words of a text may end within a secret.
        var clean = text
        for secret in request.map(secrets) ?? environmentLogins where secret.utf8.count >= 3 {
            clean = replacing(secret, in: clean)
        }
        return Redaction.text(clean)
    }

    /// Those of the proxies that libcurl finds in the environment.
    private static var environmentLogins: [String] {
        [WebAddress.Scheme.http, .https].compactMap { EnvironmentProxy.text(for: $0) }.compactMap {
            ProxyURL.login(of: $0).map(String.init)
        }
    }

    private static func secrets(of request: TransferRequest) -> [String] {
        let values = request.settings.values
        var secrets: [String] = []
        if let query = request.address.query { secrets.append(query) }
        if let credentials = values.credentials { secrets.append(credentials.password) }
        let proxy = values.proxy ?? EnvironmentProxy.text(for: request.address.scheme)
        if let login = proxy.flatMap(ProxyURL.login) { secrets.append(String(login)) }
        if let login = request.ownLogin { secrets.append(login.password) }
        for line in values.headers + request.fields where Redaction.isSecret(name: HeaderLine.name(of: line)) {
            guard let colon = line.firstIndex(of: ":") else { continue }
            secrets.append(String(line[line.index(after: colon)...].drop { $0 == " " }))
        }
        return secrets
    }

    /// Works on bytes: as a Swift `Character`, a secret's end followed by a combining mark does not match the secret.
    private static func replacing(_ secret: String, in text: String) -> String {
        var result: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.first {
            let isSecret = rest.starts(with: secret.utf8)
            result += isSecret ? Array(Redaction.mark.utf8) : [byte]
            rest = rest.dropFirst(isSecret ? secret.utf8.count : 1)
        }
        return String(decoding: result, as: UTF8.self)
    }
}
