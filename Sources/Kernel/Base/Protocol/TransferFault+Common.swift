/// Faults that several parts of the transports report.
extension TransferFault {
    package static let outOfMemory = TransferFault(
        .other, LocalizableMessage("fault-no-memory", "there is not enough memory for the transfer"))
    package static let notHTTP = TransferFault(
        .malformed, LocalizableMessage("fault-not-http", "the response is not HTTP"))
    /// It sent a frame of HTTP/2 instead of a response (RFC 9113 §3.4).
    package static let onlyHTTP2 = TransferFault(
        .malformed, LocalizableMessage("fault-http2-only", "the server speaks HTTP/2 only"))
    /// It sent an alert of TLS instead of a response (RFC 8446 §5.1).
    package static let speaksTLS = TransferFault(
        .malformed, LocalizableMessage("fault-speaks-tls", "the server uses TLS on this port"))
    var concernsTLS: Bool { self == .speaksTLS }
    /// The server's answer to the protocols that the client offers (RFC 7301 §3.2).
    package static let noCommonProtocol = TransferFault(
        .tls, LocalizableMessage("fault-no-common-protocol", "the server has none of the offered versions of HTTP"))
    /// Whether it may be about the version of HTTP.
    var concernsHTTPVersion: Bool { self == .onlyHTTP2 || self == .noCommonProtocol }
    package static let tooLong = TransferFault(
        .malformed, LocalizableMessage("fault-too-long", "the response is longer than what was requested"))
    package static let headNotHTTP = TransferFault(
        .malformed, LocalizableMessage("fault-head-not-http", "the response head is not HTTP"))
    package static let longHead = TransferFault(
        .malformed, LocalizableMessage("fault-long-head", "the response head is longer than the limit"))
    package static let brokenChunks = TransferFault(
        .truncated, LocalizableMessage("fault-chunks-broken", "the chunked framing of the response is broken"))
    package static let bareChunks = TransferFault(
        .truncated,
        LocalizableMessage(
            "fault-chunk-bare-line-feed",
            "a chunk of the response ends with LF instead of CR LF, so its bytes may be wrong"))
    package static let noLastChunk = TransferFault(
        .truncated, LocalizableMessage("fault-no-last-chunk", "the connection was closed before the last chunk"))
    /// FTP or SFTP: a file was requested.
    package static let pathOfFolder = TransferFault(
        .notFound, LocalizableMessage("fault-path-is-folder", "the path names a folder, not a file"))
    var concernsFolder: Bool { self == .pathOfFolder }
    /// SFTP: libcurl reads the file from its beginning then.
    package static let withoutLength = TransferFault(
        .offsetRefused, LocalizableMessage("sftp-length-missing", "it does not report the file's length"))
    package static let noResponse = TransferFault(
        .connectionLost,
        LocalizableMessage("fault-closed-without-response", "the connection was closed without a response"))

    /// The host has no address of the version that is required, which is 4 or 6.
    package static func noAddress(of host: String, version: IPVersion) -> TransferFault {
        TransferFault(
            .nameMissing,
            version == .v4
                ? LocalizableMessage("host-without-ipv4", "\(host) has no IPv4 address")
                : LocalizableMessage("host-without-ipv6", "\(host) has no IPv6 address"))
    }

    /// There is no such host.
    package static func noHost(_ host: String) -> TransferFault {
        TransferFault(.nameMissing, LocalizableMessage("host-not-resolved", "cannot resolve the host name \(host)"))
    }

    /// The resolver was requested repeatedly.
    package static func unresolved(_ host: String) -> TransferFault {
        TransferFault(
            .nameResolution,
            LocalizableMessage(
                "host-not-resolved-now",
                "cannot resolve the host name \(host): DNS did not respond, or reported a failure"))
    }

    /// Whether it is about the client certificate.
    var concernsClientCertificate: Bool { cause.id.hasPrefix("client-certificate-") }

    /// The host's key is not the one that the user knows.
    package static let unknownSSHKey = TransferFault(
        .tls, LocalizableMessage("fault-ssh-key", "the host's SSH key is not in known_hosts, or not the one there"))
    var concernsSSH: Bool { cause.id == Self.unknownSSHKey.cause.id }
    /// Whether the server does not use TLS on this port.
    var lacksTLS: Bool { cause.tellsOfNoTLS }

    /// The file of certificate authorities that was given cannot be used.
    package static let unusableAuthorities = TransferFault(
        .tls,
        LocalizableMessage(
            "fault-authority-file", "the file of certificate authorities is missing or has no certificates (PEM)"))

    /// The netrc file that the user named cannot be read.
    package static func unreadable(netrc path: String) -> TransferFault {
        TransferFault(.other, LocalizableMessage("fault-netrc-file", "cannot read the netrc file \(path)"))
    }

    /// The cookie file that the user named cannot be read.
    package static func unreadable(cookies path: String) -> TransferFault {
        TransferFault(.other, LocalizableMessage("fault-cookie-file", "cannot read the cookie file \(path)"))
    }

    var lacksNetrc: Bool { cause.id == Self.unreadable(netrc: "").cause.id }
    var lacksCookies: Bool { cause.id == Self.unreadable(cookies: "").cause.id }
    var lacksAuthorities: Bool { cause.id == Self.unusableAuthorities.cause.id }

    /// libcurl is not installed, or its file cannot be loaded; `reason` is the dynamic linker's.
    package static func withoutCurl(_ reason: String) -> TransferFault {
        TransferFault(.other, LocalizableMessage("fault-libcurl-missing", "libcurl cannot be loaded: \(reason)"))
    }

    /// The proxy's URL in that environment variable cannot be used.
    package static func unusableProxy(in variable: String) -> TransferFault {
        TransferFault(
            .proxy,
            LocalizableMessage(
                "proxy-variable-unusable",
                "the environment variable \(variable) is not the URL of a proxy: it must be \(ProxyURL.form)"))
    }

    var concernsVariable: Bool { cause.id == Self.unusableProxy(in: "").cause.id }

    /// The proxy's host name could not be resolved.
    package static func causeOfUnresolved(proxy host: String) -> LocalizableMessage {
        LocalizableMessage("proxy-not-resolved", "cannot resolve the proxy's host name \(host)")
    }

    package var concernsNameOfProxy: Bool { cause.id == Self.causeOfUnresolved(proxy: "").id }

    /// The given proxy's URL cannot be used.
    package static let unusableProxy = TransferFault(
        .proxy, LocalizableMessage("proxy-unusable", "the proxy's URL cannot be used: it must be \(ProxyURL.form)"))

    /// Whether the proxy's URL was refused before anything was sent.
    var hasUnusableProxy: Bool { concernsVariable || cause.id == Self.unusableProxy.cause.id }

    /// The certificate or the key of the user cannot be used; `reason` is OpenSSL's or libcurl's.
    package static func clientCertificate(_ reason: String) -> TransferFault {
        let why =
            switch reason {
            case "key values mismatch": LocalizableMessage("client-key-mismatch", "they do not belong together")
            case "no start line": LocalizableMessage("client-file-empty", "the file has no certificate in PEM form")
            case "unsupported": LocalizableMessage("client-key-missing", "the file has no private key in PEM form")
            case _: LocalizableMessage(untranslated: reason)
            }
        return TransferFault(
            .tls,
            LocalizableMessage(
                "client-certificate-unusable", "the client certificate or its key cannot be used: \(why)"))
    }

    var lacksCurl: Bool { cause.id == "fault-libcurl-missing" }

    /// Whether the host has an address of another version.
    var lacksVersion: Bool { ["host-without-ipv4", "host-without-ipv6"].contains(cause.id) }

    /// The connection ended within the response's header section.
    package static func closedInHead(_ kind: Kind) -> TransferFault {
        TransferFault(
            kind, LocalizableMessage("fault-closed-in-head", "the connection was closed within the response head"))
    }
}

extension LocalizableMessage {
    /// The server does not use TLS on this port; `reason` is OpenSSL's.
    package static func noTLS(_ reason: String) -> LocalizableMessage {
        LocalizableMessage("tls-not-spoken", "the server does not use TLS on this port (\(reason))")
    }

    /// Whether it says that.
    package var tellsOfNoTLS: Bool { id == Self.noTLS("").id }
}
