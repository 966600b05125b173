/// A supported challenge of the Digest scheme (RFC 7616).
package struct DigestChallenge: Hashable, Sendable {
    /// From the weakest to the strongest.
    package enum Algorithm: Int, Hashable, Sendable, CaseIterable {
        case md5
        case sha256
        case sha512half
    }

    /// Computes a digest of bytes, or `nil` when this system does not support the algorithm.
    package typealias Hash = (Algorithm, [UInt8]) -> [UInt8]?

    package var algorithm = Algorithm.md5
    /// Whether the server reports that only the nonce was too old.
    package var isStale = false
    private var realm: String
    private var nonce: String
    private var opaque: String?
    private var algorithmName: String?
    private var isSession = false
    private var hashesUser = false
    /// `nil` where the server does not support it (RFC 2069).
    private var protection: String?

    /// `nil` when it requires something unsupported.
    package init?(_ challenge: LoginChallenge) {
        let values = challenge.parameters
        guard challenge.scheme == "digest", let realm = values["realm"], let nonce = values["nonce"] else { return nil }
        self.realm = realm
        self.nonce = nonce
        opaque = values["opaque"]
        isStale = values["stale"]?.lowercased() == "true"
        hashesUser = values["userhash"]?.lowercased() == "true"
        algorithmName = values["algorithm"]
        if let name = algorithmName?.lowercased() {
            isSession = name.hasSuffix("-sess")
            switch isSession ? String(name.dropLast(5)) : name {
            case "md5": algorithm = .md5
            case "sha-256": algorithm = .sha256
            case "sha-512-256": algorithm = .sha512half
            default: return nil
            }
        }
        if let offered = values["qop"] {
            let kinds = offered.lowercased().split { $0 == "," || $0 == " " }
            guard let kind = ["auth", "auth-int"].first(where: { kinds.contains(Substring($0)) }) else { return nil }
            protection = kind
        }
        // Sent back unchanged, in a line of their own.
        let echoed = [realm, nonce, opaque, algorithmName].compactMap { $0 }
        guard !echoed.contains(where: { $0.utf8.contains(where: \.isControl) }) else { return nil }
    }

    /// The value of Authorization for a request of `target` without a body; `nil` when the algorithm or the user's name cannot
    /// be used.
    package func response(
        _ login: Credentials, _ method: String = "GET", target: String, clientNonce: String, hash: Hash
    ) -> String? {
        guard !login.user.utf8.contains(where: \.isControl), let user = hex([login.user, realm], hash),
            let response = response(login, [method, target], clientNonce, hash)
        else { return nil }
        var fields = [
            "username=\(Self.quoted(hashesUser ? user : login.user))", "realm=\(Self.quoted(realm))",
            "nonce=\(Self.quoted(nonce))", "uri=\(Self.quoted(target))", "response=\"\(response)\"",
        ]
        if let protection { fields.append("qop=\(protection), nc=\(Self.count)") }
        if protection != nil || isSession { fields.append("cnonce=\(Self.quoted(clientNonce))") }
        if let opaque { fields.append("opaque=\(Self.quoted(opaque))") }
        if let algorithmName { fields.append("algorithm=\(algorithmName)") }
        if hashesUser { fields.append("userhash=true") }
        return "Digest " + fields.joined(separator: ", ")
    }

    /// Each nonce is used once.
    private static let count = "00000001"

    /// RFC 7616 §3.4.1.
    private func response(_ login: Credentials, _ request: [String], _ clientNonce: String, _ hash: Hash) -> String? {
        guard var secret = hex([login.user, realm, login.password], hash) else { return nil }
        if isSession {
            guard let session = hex([secret, nonce, clientNonce], hash) else { return nil }
            secret = session
        }
        var request = request
        if protection == "auth-int" {
            // There is no body, but its digest counts.
            guard let body = hex([""], hash) else { return nil }
            request.append(body)
        }
        guard let request = hex(request, hash) else { return nil }
        guard let protection else { return hex([secret, nonce, request], hash) }
        return hex([secret, nonce, Self.count, clientNonce, protection, request], hash)
    }

    private func hex(_ parts: [String], _ hash: Hash) -> String? {
        hash(algorithm, Array(parts.joined(separator: ":").utf8)).map(Self.hexadecimal)
    }

    private static func quoted(_ text: String) -> String {
        var bytes: [UInt8] = [.quote]
        for byte in text.utf8 {
            if byte == .quote || byte == .backslash { bytes.append(.backslash) }
            bytes.append(byte)
        }
        return String(decoding: bytes + [.quote], as: UTF8.self)
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
