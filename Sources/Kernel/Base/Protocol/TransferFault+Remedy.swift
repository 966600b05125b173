extension TransferFault {
    /// What the user can do about it, other than try again.
    package var remedy: Remedy? {
        switch kind {
        case .tls where concernsClientCertificate: "check \(.option(.certificate)) and \(.option(.key))"
        case .tls where lacksTLS: "check the URL: http:// may be meant, or another port"
        case .tls where lacksAuthorities: "check \(.option(.authorityFile))"
        case .tls: "check the URL and the clock, or set \(.option(.authorityFile))"
        case .publicKey: "make sure that this is the right server before you change \(.option(.pinnedPublicKeys))"
        case .denied: "correct \(.option(.user))"
        case .nameMissing where lacksVersion: "change \(.option(.ipVersion))"
        case .nameResolution, .nameMissing: "check the host's name"
        case .proxy where concernsVariable:
            "correct that variable ('@' in a password is written as %40), or set \(.option(.proxy))"
        case .proxy: "check \(.option(.proxy))"
        case .notFound: "check the URL"
        case .privateAddress: "disable \(.option(.deniesPrivateAddresses)) if this is intended"
        case .other where lacksCurl: "install libcurl.so.4 (Debian's package is libcurl4)"
        case .unreachable, .connectionRefused, .connectTimeout, .connectionLost, .truncated, .serverRefused,
            .offsetRefused, .contentChanged, .malformed, .other:
            nil
        }
    }
}
