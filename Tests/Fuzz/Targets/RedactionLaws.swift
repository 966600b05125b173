@testable import PawlBase
@testable import PawlHTTP

/// No secret survives in an error, a log line or a printed header.
enum RedactionLaws {
    /// The secret that must not appear.
    private static let secret = "S3CR3T"

    static func check(_ input: inout FuzzInput) throws(BrokenLaw) {
        let user = userInfo(input.part())
        let password = userInfo(input.part()) + secret + userInfo(input.part())
        let host = userInfo(input.part()).replacing("@", with: "")
        let path = input.text()
        let (before, after) = (input.text(), input.text())
        try checkAddress("https://\(user):\(password)@\(host)/\(path)?q=\(secret)")
        try checkAddress("https://\(user):\(password)@example.org/a?q=\(secret)#\(secret)")
        let plain = "\(before) http://\(user):\(password)@\(host)/?\(secret) "
        try checkHidden(Redaction.text(plain), plain)
        try checkHeaders(before, after)
        try checkRemoval(before, after)
    }

    /// Characters that user info may contain and still be distinguished from what follows it.
    private static func userInfo(_ bytes: [UInt8]) -> String {
        let allowed = String(decoding: bytes, as: UTF8.self).unicodeScalars.filter { scalar in
            !"/?#\"'<>\\".unicodeScalars.contains(scalar) && !scalar.properties.isWhitespace
        }
        return String(String.UnicodeScalarView(allowed))
    }

    private static func checkHidden(_ shown: String, _ text: String) throws(BrokenLaw) {
        let bytes = Array(shown.utf8)
        let isSeen = bytes.indices.contains { bytes[$0...].starts(with: secret.utf8) }
        try hold(!isSeen, "\(text.debugDescription) is shown as \(shown.debugDescription)")
    }

    private static func checkAddress(_ text: String) throws(BrokenLaw) {
        try checkHidden(Redaction.address(text), text)
        let shown: String
        do throws(Failure) { shown = try WebAddress.parse(text).address.redacted } catch { shown = "\(error)" }
        try checkHidden(shown, text)
    }

    private static func checkHeaders(_ before: String, _ after: String) throws(BrokenLaw) {
        for name in ["Authorization", "COOKIE", "X-\(userInfo(Array(before.utf8)))-Api-Key"] {
            // By scalars: a colon with a combining mark is another character, and still ends the name.
            let line = "\(String(name.unicodeScalars.filter { $0 != ":" })): \(after)\(secret)"
            try checkHidden(Redaction.header(line), line)
        }
    }

    /// libcurl's text about a request with this password.
    private static func checkRemoval(_ before: String, _ after: String) throws(BrokenLaw) {
        guard let address = try? WebAddress.parse("https://example.org/a").address else { return }
        var values = TransferSettings.Values()
        values.credentials = Credentials(user: "u", password: secret)
        let request = TransferRequest(address: address, settings: TransferSettings(values))
        let words = "\(before)\(secret)\(after)"
        try checkHidden(Secrets.removed(from: words, of: request), words)
    }
}
