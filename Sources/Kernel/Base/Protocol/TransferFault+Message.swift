extension TransferFault {
    /// The cause; a foreign text is translated by the kind of the fault.
    package var message: LocalizableMessage {
        guard cause.isForeign else { return cause }
        return switch kind {
        case .nameResolution: LocalizableMessage("fault-name-resolution", "\(text)")
        case .nameMissing: LocalizableMessage("fault-name-missing", "\(text)")
        case .unreachable: LocalizableMessage("fault-unreachable", "\(text)")
        case .connectionRefused: LocalizableMessage("fault-connection-refused", "\(text)")
        case .connectTimeout: LocalizableMessage("fault-connect-timeout", "\(text)")
        case .connectionLost: LocalizableMessage("fault-connection-lost", "\(text)")
        case .truncated: LocalizableMessage("fault-truncated", "\(text)")
        case .tls: LocalizableMessage("fault-tls", "\(text)")
        case .publicKey: LocalizableMessage("fault-public-key", "\(text)")
        case .proxy: LocalizableMessage("fault-proxy", "\(text)")
        case .notFound: LocalizableMessage("fault-not-found", "\(text)")
        case .denied: LocalizableMessage("fault-denied", "\(text)")
        case .serverRefused, .commandRefused: LocalizableMessage("fault-server-refused", "\(text)")
        case .malformed: LocalizableMessage("fault-malformed", "\(text)")
        case .privateAddress: LocalizableMessage("fault-private-address", "\(text)")
        case .offsetRefused: LocalizableMessage("fault-offset-refused", "\(text)")
        case .contentChanged: LocalizableMessage("fault-content-changed", "\(text)")
        case .other: cause
        }
    }
}

extension LocalizableMessage {
    /// A response without data for so many seconds.
    package static func noData(for seconds: String) -> LocalizableMessage {
        LocalizableMessage("silent-no-data", "no data for \(seconds) s")
    }
}

extension TransferFault {
    /// What the user can do about it, other than try again.
    package var remedy: Remedy? {
        switch kind {
        case .tls where concernsHTTPVersion, .malformed where concernsHTTPVersion:
            "use an https URL of a server that offers HTTP/2 by ALPN, and allow HTTP/2"
        case .malformed where concernsTLS: "check the URL: https:// may be meant, or another port"
        case .tls where concernsProxy: "check \(.option(.proxy)) and \(.option(.authorityFile))"
        case .tls where concernsClientCertificate: "check \(.option(.certificate)) and \(.option(.key))"
        case .tls where lacksTLS: "check the URL: a scheme without TLS (http, ftp) may be meant, or another port"
        case .tls where lacksAuthorities: "check \(.option(.authorityFile))"
        case .tls where concernsSSH:
            "compare its key with 'ssh-keyscan HOST', then connect once with ssh, or correct known_hosts"
        case .tls: "check the URL and the clock, or set \(.option(.authorityFile))"
        case .publicKey: "make sure that this is the right server before you change \(.option(.pinnedPublicKeys))"
        case .denied: "correct \(.option(.user))"
        case .nameMissing where lacksVersion: "change \(.option(.ipVersion))"
        case .nameResolution, .nameMissing: "check the host's name"
        case .proxy where concernsVariable:
            "correct that variable ('@' in a password is written as %40), or set \(.option(.proxy))"
        case .proxy: "check \(.option(.proxy)), or the variable http_proxy or https_proxy that names it"
        case .notFound where concernsFolder: "end the URL with / and download it recursively"
        case .notFound: "check the URL"
        case .privateAddress: "disable \(.option(.deniesPrivateAddresses)) if this is intended"
        case .other where lacksNetrc: "check \(.option(.netrc))"
        case .other where lacksCookies: "check \(.option(.cookieFile))"
        case .other where lacksCurl: "install libcurl.so.4 (Debian's package is libcurl4)"
        case .unreachable, .connectionRefused, .connectTimeout, .connectionLost, .truncated, .serverRefused,
            .commandRefused, .offsetRefused, .contentChanged, .malformed, .other:
            nil
        }
    }
}
