extension Behaviour.Login {
    private static let realm = "the ratchet"
    private static let nonce = "0f5c2a9d1e"

    /// The header line that requests credentials.
    var challenge: String {
        switch self {
        case .basic: "WWW-Authenticate: Basic realm=\"\(Self.realm)\""
        case .digest:
            "WWW-Authenticate: Digest realm=\"\(Self.realm)\", nonce=\"\(Self.nonce)\", qop=\"auth\", algorithm=MD5"
        }
    }

    /// Whether the request carries the right credentials.
    func accepts(_ request: Request) -> Bool {
        guard let field = request.header("Authorization") else { return false }
        switch self {
        case .basic(let user, let password): return field == "Basic " + Self.base64(Array("\(user):\(password)".utf8))
        case .digest(let user, let password):
            guard field.hasPrefix("Digest ") else { return false }
            let values = Self.parameters(field.dropFirst(7))
            guard let uri = values["uri"], let count = values["nc"], let client = values["cnonce"] else { return false }
            let first = MessageDigest5.hex("\(user):\(Self.realm):\(password)")
            let second = MessageDigest5.hex("\(request.method):\(uri)")
            let wanted = MessageDigest5.hex("\(first):\(Self.nonce):\(count):\(client):auth:\(second)")
            return values["username"] == user && values["response"] == wanted
        }
    }

    private static func parameters(_ text: Substring) -> [String: String] {
        var values: [String: String] = [:]
        for part in text.split(separator: ",") {
            guard let equals = part.firstIndex(of: "=") else { continue }
            let name = part[..<equals].drop { $0 == " " }
            let value = part[part.index(after: equals)...].filter { $0 != "\"" }
            values[String(name)] = value
        }
        return values
    }

    static func base64(_ bytes: [UInt8]) -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
        var text = ""
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let word = (0..<3).reduce(0) { $0 << 8 | ($1 < group.count ? Int(group[start + $1]) : 0) }
            for index in 0..<4 { text.append(index <= group.count ? alphabet[(word >> (18 - 6 * index)) & 63] : "=") }
        }
        return text
    }
}
