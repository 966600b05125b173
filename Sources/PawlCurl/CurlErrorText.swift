import PawlCore
import PawlSystem

/// Turns the messages of libcurl and OpenSSL into the cause of a failure, without internal codes, times and
/// function names.
enum CurlErrorText {
    static func worded(_ text: String, systemError: Int32) -> String {
        let text = text.split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
        if let reason = reasonOfOpenSSL(text) {
            return plainServers.contains { reason.contains($0) }
                ? "the server does not use TLS on this port (\(reason))"
                : "the TLS handshake failed: \(reason)"
        }
        for (beginning, words) in beginnings where text.hasPrefix(beginning) {
            return words + text.dropFirst(beginning.count)
        }
        for (part, words) in parts where text.contains(part) { return words }
        return connecting(text, systemError) ?? text
    }

    /// OpenSSL's message for a server that responds without TLS.
    private static let plainServers = [
        "wrong version number", "packet length too long", "http request", "unknown protocol",
    ]

    private static let beginnings = [
        ("SSL certificate problem: ", "its certificate is not trusted: "),
        ("SSL certificate verification failed: ", "its certificate is not trusted: "),
        ("Could not resolve host: ", "cannot resolve the host name "),
        ("Could not resolve proxy: ", "cannot resolve the proxy's host name "),
        ("Recv failure: ", "receiving failed: "),
        ("Send failure: ", "sending failed: "),
    ]

    private static let parts = [
        ("no alternative certificate subject name matches", "its certificate is for another host"),
        ("does not match target host name", "its certificate is for another host"),
        ("Empty reply from server", "the connection was closed without a response"),
        ("Received HTTP/0.9 when not allowed", "the response is not HTTP"),
    ]

    /// The last part of `error:0A00010B:SSL routines::wrong version number`.
    private static func reasonOfOpenSSL(_ text: String) -> String? {
        guard let code = text.firstRange(of: "error:"), let end = text.ranges(of: "::").last,
            code.upperBound < end.lowerBound
        else { return nil }
        return String(text[end.upperBound...])
    }

    /// `Failed to connect to HOST port 1 after 0 ms: ...`, `Connection timed out after 10001 milliseconds`.
    private static func connecting(_ text: String, _ systemError: Int32) -> String? {
        if let time = text.firstRange(of: " timed out after "), text.hasSuffix(" milliseconds") {
            let digits = text[time.upperBound...].prefix { $0.isNumber }
            return Int64(digits).map {
                "no connection within \(Interval.milliseconds($0 / 100 * 100).seconds) s"
            }
        }
        let beginning = "Failed to connect to "
        guard text.hasPrefix(beginning), let time = text.firstRange(of: " after ") else { return nil }
        let place = text[..<time.lowerBound].dropFirst(beginning.count).replacing(" over ", with: ", ")
        let cause = SystemError(number: systemError).text
        let why = systemError == 0 ? "" : ": " + cause.prefix(1).lowercased() + cause.dropFirst()
        return "no connection to \(place)\(why)"
    }
}
