@testable import PawlBase

/// URLs of proxies, from users and the environment.
enum ProxyLaws {
    static func check(_ input: inout FuzzInput) throws(BrokenLaw) {
        let text = input.text()
        let login = ProxyURL.login(of: text)
        if let plain = ProxyURL.withoutLogin(text) {
            try hold(ProxyURL.login(of: plain) == nil, "a login is left in \(plain)")
            let omitted = (login?.utf8.count ?? 0) + 1
            try hold(plain.utf8.count == text.utf8.count - omitted, "more than the login is omitted: \(plain)")
            try hold(
                ProxyURL.isUsable(plain) || !ProxyURL.isUsable(text), "\(text) can be used, but not without its login")
            try hold(ProxyURL.isSecure(plain) == ProxyURL.isSecure(text), "\(plain) has another scheme")
        } else {
            try hold(login == nil, "the login of \(text) stays")
        }
        guard ProxyURL.isUsable(text), !text.isEmpty else { return }
        let route = ProxyRoute(text, login: nil)
        try hold(
            !route.host.isEmpty && route.host.utf8.allSatisfy { $0 > 0x20 && $0 != 0x40 }, "the host \(route.host)")
        try hold(route.port > 0, "port 0")
        try hold(text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }, "a control character")
        let start = text.unicodeScalars.firstRange(of: "://".unicodeScalars)?.upperBound ?? text.startIndex
        let (scheme, rest) = (String(text[..<start]), String(text[start...]))
        try hold(scheme.isEmpty || ProxyURL.schemes.contains(String(scheme.dropLast(3)).lowercased()), scheme)
        try hold(ProxyURL.isUsable(scheme.uppercased() + rest), "the case of the scheme matters")
        // Whatever follows the authority names no host and no login.
        let authority = String(rest.unicodeScalars.prefix { $0 != "/" && $0 != "?" && $0 != "#" })
        for end in ["", "/", "/a@b", "?@b", "#c@d:0"] {
            let other = scheme + authority + end
            try hold(ProxyURL.isUsable(other), "\(other) is refused")
            try hold(ProxyURL.login(of: other).map { String($0) } == login.map { String($0) }, "login of \(other)")
        }
        if login == nil {
            let known = scheme + "u:p%40@" + rest
            try hold(ProxyURL.isUsable(known), "refused with a login: \(known)")
            try hold(ProxyURL.withoutLogin(known) == text, "the login of \(known) is not what is omitted")
        }
    }
}
