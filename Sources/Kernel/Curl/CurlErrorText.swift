import PawlBase
import PawlHTTP
import PawlSystem

/// Turns the messages of libcurl and OpenSSL into the cause of a failure, without internal codes, times and
/// function names.
enum CurlErrorText {
    /// `proxy`: the one that the request may have been sent to, as it was given; `mayBypass`: whether some hosts are
    /// connected to without it.
    static func worded(
        _ text: String, systemError: Int32, proxy: String? = nil, mayBypass: Bool = false
    ) -> LocalizableMessage {
        let text = text.split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
        if let reason = reasonOfOpenSSL(text) {
            if let cause = CertificateText.clientCertificate(reason) { return cause }
            return plainServers.contains { reason.contains($0) }
                ? .noTLS(reason)
                : CertificateText.handshakeFailed(CertificateText.reason(reason))
        }
        return beginning(of: text) ?? certificate(text) ?? response(text) ?? late(text, mayBypass ? nil : proxy)
            ?? connecting(text, systemError, proxy) ?? LocalizableMessage(untranslated: text)
    }

    /// OpenSSL's message for a server that responds without TLS.
    private static let plainServers = [
        "wrong version number", "packet length too long", "http request", "unknown protocol",
    ]

    private static func beginning(of text: String) -> LocalizableMessage? {
        func rest(_ beginnings: String...) -> String? {
            beginnings.first { text.hasPrefix($0) }.map { String(text.dropFirst($0.count)) }
        }
        if let why = rest("SSL certificate problem: ", "SSL certificate verification failed: ") {
            return CertificateText.untrusted(why)
        }
        if let host = rest("Could not resolve host: ") { return TransferFault.noHost(host).cause }
        if let host = rest("Could not resolve proxy: ") { return TransferFault.causeOfUnresolved(proxy: host) }
        if let why = rest("Recv failure: ") { return .receivingFailed(SystemError.message(of: why)) }
        if let why = rest("Send failure: ") {
            return LocalizableMessage("sending-failed", "sending failed: \(SystemError.message(of: why))")
        }
        if let why = rest("Failure establishing ssh session: ") {
            let why = why.firstRange(of: ", ").map { String(why[$0.upperBound...]) } ?? why
            return LocalizableMessage("ssh-session-failed", "no SSH session with the server: \(why)")
        }
        if let reply = rest("RETR response: ") {
            return reply == "550"
                ? LocalizableMessage("ftp-file-missing", "there is no such file, or it may not be read (reply 550)")
                : LocalizableMessage("ftp-file-refused", "the server refuses the file with reply \(reply)")
        }
        if text == "Server denied you to change to the given directory" {
            return LocalizableMessage("ftp-folder-missing", "there is no such folder, or it may not be entered")
        }
        if let status = rest("CONNECT tunnel failed, response ") {
            return TransferFault.tunnelRefused(status).cause
        }
        return nil
    }

    private static func certificate(_ text: String) -> LocalizableMessage? {
        let parts = ["no alternative certificate subject name matches", "does not match target host name"]
        guard parts.contains(where: { text.contains($0) }) else { return nil }
        return CertificateText.ofOtherHost
    }

    private static func response(_ text: String) -> LocalizableMessage? {
        if text.contains("Empty reply from server") { return TransferFault.noResponse.cause }
        return text.contains("Received HTTP/0.9 when not allowed") ? TransferFault.notHTTP.cause : nil
    }

    /// The last part of `error:0A00010B:SSL routines::wrong version number`.
    private static func reasonOfOpenSSL(_ text: String) -> String? {
        guard let code = text.firstRange(of: "error:"), let end = text.ranges(of: "::").last,
            code.upperBound < end.lowerBound
        else { return nil }
        return String(text[end.upperBound...])
    }

    /// `Connection timed out after 10001 milliseconds`.
    private static func late(_ text: String, _ proxy: String?) -> LocalizableMessage? {
        guard let time = text.firstRange(of: " timed out after "), text.hasSuffix(" milliseconds") else { return nil }
        let digits = text[time.upperBound...].prefix { $0.isNumber }
        guard let limit = Int64(digits).map({ Interval.milliseconds($0 / 100 * 100) }) else { return nil }
        guard let proxy else { return .noConnection(within: limit) }
        return .noConnection(byProxy: ProxyURL.place(of: proxy), within: limit)
    }

    /// `Failed to connect to HOST port 1 after 0 ms: ...`.
    private static func connecting(_ text: String, _ systemError: Int32, _ proxy: String?) -> LocalizableMessage? {
        guard let target = target(of: text) else { return nil }
        let place = place(target, proxy)
        guard systemError != 0 else { return LocalizableMessage("no-connection", "no connection to \(place)") }
        return .noConnection(to: place, because: SystemError(number: systemError).cause)
    }

    /// Whether the text is of a connection to the proxy that failed.
    static func isOf(proxy: String, _ text: String) -> Bool {
        target(of: text).flatMap(hostAndPort).map { ProxyURL.isPlace(proxy, host: $0.host, port: $0.port) } ?? false
    }

    /// `HOST port 1`, in newer versions followed by ` over ADDRESS`.
    private static func target(of text: String) -> Substring? {
        let beginning = "Failed to connect to "
        guard text.hasPrefix(beginning), let time = text.firstRange(of: " after ") else { return nil }
        return text[..<time.lowerBound].dropFirst(beginning.count)
    }

    private static func hostAndPort(_ target: Substring) -> (host: Substring, port: Substring)? {
        guard let middle = target.firstRange(of: " port ") else { return nil }
        return (target[..<middle.lowerBound], target[middle.upperBound...].prefix { $0.isNumber })
    }

    private static func place(_ text: Substring, _ proxy: String?) -> LocalizableMessage {
        if let proxy, let (host, port) = hostAndPort(text), ProxyURL.isPlace(proxy, host: host, port: port) {
            return .place(ofProxy: ProxyURL.place(of: proxy))
        }
        let parts = text.replacing(" over ", with: ", ")
        guard let middle = parts.firstRange(of: " port ") else {
            return LocalizableMessage(untranslated: String(parts))
        }
        return .place(parts[..<middle.lowerBound], port: parts[middle.upperBound...])
    }
}
