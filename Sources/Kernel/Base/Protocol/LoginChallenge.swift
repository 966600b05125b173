/// One challenge of a WWW-Authenticate field (RFC 9110 §11.6.1): a scheme and its parameters.
package struct LoginChallenge: Hashable, Sendable {
    /// In lower case.
    package var scheme: String
    /// Names in lower case; of two equal ones the first counts.
    package var parameters: [String: String] = [:]

    init(scheme: String) { self.scheme = scheme }

    /// The challenges of a response, in the server's order of preference: a proxy's (407) or the origin's.
    package static func all(in head: ResponseHead) -> [LoginChallenge] {
        let name: StaticString = head.status == 407 ? "proxy-authenticate" : "www-authenticate"
        return head.fields.filter { $0.name.utf8.isCaseInsensitively(name) }.flatMap { parse($0.value) }
    }

    /// Parses a list in which commas separate challenges as well as the parameters of one.
    package static func parse(_ field: String) -> [LoginChallenge] {
        var challenges: [LoginChallenge] = []
        var scanner = FieldScanner(field)
        while !scanner.isAtEnd {
            scanner.skipBlanks()
            let word = scanner.token()
            guard !word.isEmpty else {
                scanner.skip(1)
                continue
            }
            let rest = scanner.rest
            scanner.skipBlanks()
            if scanner.take(.equals) {
                scanner.skipBlanks()
                let value = scanner.take(.quote) ? scanner.quotedString() : Array(scanner.token())
                let name = String(decoding: word.map(\.lowercased), as: UTF8.self)
                guard let last = challenges.indices.last, challenges[last].parameters[name] == nil else { continue }
                challenges[last].parameters[name] = String(field: value)
            } else {
                challenges.append(LoginChallenge(scheme: String(decoding: word.map(\.lowercased), as: UTF8.self)))
                if rest.first?.isBlank != true { _ = scanner.take(upTo: .comma) }
            }
        }
        return challenges
    }
}

/// The credentials field of a request.
package enum LoginField {
    /// The value of Authorization for the Basic scheme (RFC 7617).
    package static func basic(_ login: Credentials) -> String {
        "Basic " + Base64.encode(Array("\(login.user):\(login.password)".utf8))
    }
}

/// How often a request is repeated with a login: for the first challenge, and for a nonce that was too old.
package struct LoginAttempts: Hashable, Sendable {
    private var count = 0
    private static let most = 2

    package init() {}

    /// Whether the request is a response to a challenge.
    package var isRetry: Bool { count > 0 }

    /// Whether it is repeated for these challenges.
    package mutating func take(_ challenges: [LoginChallenge]) -> Bool {
        if isRetry {
            let isStale = challenges.compactMap(DigestChallenge.init).contains(where: \.isStale)
            guard isStale, count < Self.most else { return false }
        }
        count += 1
        return true
    }
}
