/// The caller's header fields that may be sent to an origin that the caller did not name.
///
/// Any field may hold a secret (`X-Api-Key`, `PRIVATE-TOKEN`): only those are sent that do not identify the
/// caller.
package enum RequestField {
    /// Fields that change how the exchange itself works, or that the transport sets; names in lower case.
    ///
    /// The program cannot set them for a request: the response is judged against the range that was requested.
    package static let reserved: Set<String> = framing.union(["accept-encoding", "range", "if-range"])

    /// Fields that change how the exchange itself works, or that libcurl treats specially.
    package static let framing: Set<String> = [
        "host", "connection", "proxy-connection", "keep-alive", "te", "trailer", "transfer-encoding", "content-length",
        "expect", "upgrade",
    ]

    /// `name` is in lower case.
    package static func mayCross(_ name: String) -> Bool {
        name == "accept" || name.hasPrefix("accept-") || name == "user-agent"
    }

    /// A Referer without path and query, and none of a secure address over an unencrypted connection (the
    /// policy `strict-origin` of W3C's Referrer Policy).
    package static func referer(_ text: String, acrossTo scheme: WebAddress.Scheme) -> String? {
        guard let address = try? WebAddress.parse(text).address,
            address.scheme == .http || address.scheme == .https && scheme.isSecure
        else { return nil }
        return "\(address.origin.text)/"
    }
}

/// Text that becomes part of a request: an HTTP field, an FTP command, a proxy's login.
package enum FieldText {
    /// Whether nothing in it can end a line or a C string: no control character but a tab (RFC 9110 §5.5).
    package static func isSafe(_ text: String) -> Bool { !text.utf8.has { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F } }

    /// The reason for refusing an option with unsafe text.
    package static let message = LocalizableMessage(
        "text-with-control-characters", "it contains a line break or another control character")
    package static var flaw: String { message.description }
}
