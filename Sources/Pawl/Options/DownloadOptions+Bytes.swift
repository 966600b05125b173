import PawlCore

extension DownloadOptions {
    /// Whether both are equal to the last byte: names, logins and paths that are only canonically equivalent, which `==`
    /// takes for equal, are different ones.
    package func hasSameBytes(as other: borrowing DownloadOptions) -> Bool {
        let other = copy other
        return self == other && texts.hasSameBytes(as: other.texts)
            && (attributes.isEmpty || keptAttributes == other.keptAttributes)
    }

    private var texts: [String?] {
        [
            folder, fileName, user, password, netrc, profile, region, endpoint, referer, userAgent,
            cookieFile, proxy,
            noProxy, interface, authorityFile, certificate, key, checksum, openPGPKeyring, minisignKey, range,
            taskDescription,
        ] + mirrors + headers + pinnedPublicKeys + addressOverrides
    }

    private var keptAttributes: [Bytewise<String>: Bytewise<String>] {
        Dictionary(attributes.map { (Bytewise($0.key), Bytewise($0.value)) }) { first, _ in first }
    }
}
