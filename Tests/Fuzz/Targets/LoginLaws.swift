@testable import PawlBase
@testable import PawlTerminal

/// Challenges of servers: a reply cannot break out of its field.
enum LoginLaws {
    static func check(_ input: inout FuzzInput) throws(BrokenLaw) {
        let challenges = LoginChallenge.parse(input.text())
        let login = Credentials(user: input.text(), password: input.text())
        let target = "/" + input.text().filter { $0.isASCII && $0 > " " && $0 != "\u{7F}" }
        for challenge in challenges {
            try hold(!challenge.scheme.isEmpty, "a challenge without a scheme")
            guard let digest = DigestChallenge(challenge) else { continue }
            let reply = digest.response(login, target: target, clientNonce: "c") { _, bytes in
                [UInt8(truncatingIfNeeded: bytes.count), bytes.last ?? 0]
            }
            guard let reply else { continue }
            try hold(!reply.utf8.contains(where: \.isControl), "a control character in \(reply)")
            // A server that parses by the RFC finds its own values again.
            guard let again = LoginChallenge.parse(reply).first else {
                throw BrokenLaw(description: "its own reply is invalid: \(reply)")
            }
            try hold(again.scheme == "digest", "another scheme: \(reply)")
            for name in ["realm", "nonce", "opaque"] {
                let same = again.parameters[name] == challenge.parameters[name]
                try hold(same, "another \(name): \(reply)")
            }
            try hold(again.parameters["uri"] == target, "another target: \(reply)")
        }
        let basic = LoginField.basic(login).dropFirst("Basic ".count)
        let bytes = Array("\(login.user):\(login.password)".utf8)
        try hold(Base64.decode(basic.utf8) == bytes, "base64 of \(bytes)")
    }
}

/// Netrc files: a valid entry is found, for its host and no other.
enum NetrcLaws {
    static func check(_ input: inout FuzzInput) throws(BrokenLaw) {
        guard input.flag() else {
            let netrc = Netrc(parsing: input.rest())
            for host in ["example.org", "::1", "no", ""] { _ = netrc.login(for: host, orDefault: true) }
            return
        }
        var file: [UInt8] = []
        var known: [String: Credentials] = [:]
        while !input.isEmpty {
            let host = String(decoding: input.part().filter { $0.isLetter || $0 == .dot }, as: UTF8.self).lowercased()
            let login = Credentials(user: input.text(), password: input.text())
            let end = input.flag() ? "\r\n" : "\n"
            guard !host.isEmpty else { continue }
            file += "machine \(host)\(end) login ".utf8 + quoted(login.user)
            file += " password ".utf8 + quoted(login.password) + Array(end.utf8)
            if known[host] == nil { known[host] = login }
        }
        let netrc = Netrc(parsing: file)
        for (host, login) in known {
            try hold(netrc.login(for: host, orDefault: false) == login, "the login for \(host)")
        }
        try hold(netrc.login(for: "other-1", orDefault: true) == nil, "a login for another host")
    }

    private static func quoted(_ text: String) -> [UInt8] {
        var bytes: [UInt8] = [.quote]
        for byte in text.utf8 {
            if byte == .quote || byte == .backslash { bytes.append(.backslash) }
            bytes += byte == .lineFeed ? Array("\\n".utf8) : [byte]
        }
        return bytes + [.quote]
    }
}

/// Cookies: a valid cookie is parsed.
enum CookieLaws {
    static func check(_ input: inout FuzzInput) throws(BrokenLaw) {
        guard input.flag() else {
            guard let cookie = SetCookie(parsing: String(decoding: input.rest(), as: UTF8.self)) else { return }
            let texts = [cookie.name, cookie.value, cookie.path ?? "", cookie.domain ?? ""]
            try hold(!texts.contains { $0.utf8.contains(where: \.isControl) }, "a control character")
            try hold(!cookie.name.isEmpty && cookie.path?.utf8.first ?? .slash == .slash, "name or path")
            try hold(cookie.maximumAge ?? 0 >= 0, "an age below zero")
            return
        }
        func token(_ bytes: [UInt8]) -> String { String(decoding: bytes.filter(\.isTokenCharacter), as: UTF8.self) }
        let (name, value, path) = ("n" + token(input.part()), token(input.part()), "/" + token(input.part()))
        let cookie = SetCookie(parsing: "\(name)=\(value); Max-Age=0; path=\(path); SECURE")
        try hold(cookie?.name == name && cookie?.value == value && cookie?.path == path, "\(name)=\(value)")
        try hold(cookie?.maximumAge == 0 && cookie?.isSecure == true, "\(name)=\(value)")
    }
}

/// Cookie jars: what is written is read again, and a server's cookies go to its own domain.
enum CookieJarLaws {
    static func check(_ input: inout FuzzInput) throws(BrokenLaw) {
        let now = UnixTime(seconds: 1_700_000_000)
        let hosts = [
            "www.evil.example", "evil.example", "a.www.evil.example", "victim.example", "127.0.0.1", "example",
        ]
        let addresses = hosts.flatMap { host in
            [WebAddress.Scheme.http, .https].map {
                WebAddress(scheme: $0, host: host, port: 80, path: "/in/page", query: nil)
            }
        }
        var jar = CookieJar()
        if input.flag() {
            let setter = addresses[Int(input.byte() % 6)]
            while !input.isEmpty { jar.store([input.text()], from: setter, now: now) }
            for address in addresses where address.host == "victim.example" || NumericAddress.isOne(address.host) {
                try hold(jar.field(for: address, now: now) == nil, "a cookie of \(setter.host) for \(address.host)")
            }
        } else {
            jar = CookieJar(netscape: input.rest())
        }
        let lines = jar.lines
        for line in lines {
            try hold(line.utf8.count { $0 == .tab } == 6 && FieldText.isSafe(line), "not a line: \(line)")
        }
        let again = CookieJar(netscape: Array(lines.joined(separator: "\n").utf8))
        try hold(again.lines.hasSameBytes(as: lines), "other lines: \(lines), \(again.lines)")
        for address in addresses {
            guard let field = jar.field(for: address, now: now) else { continue }
            try hold(!field.utf8.contains(where: \.isControl), "a control character in \(field)")
            try hold(field.utf8.count <= CookieJar.Limit.field, "a field of \(field.utf8.count) bytes")
            try hold(again.field(for: address, now: now) == field, "another field: \(field)")
        }
    }
}
