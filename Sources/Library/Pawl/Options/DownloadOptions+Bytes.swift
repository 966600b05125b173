import PawlBase

extension DownloadOptions {
    /// Whether both are equal to the last byte: names, logins and paths that are only canonically equivalent, which `==`
    /// takes for equal, are different ones.
    package func hasSameBytes(as other: borrowing DownloadOptions) -> Bool {
        let other = copy other
        return self == other && hasSameTexts(as: other) && hasSameLists(as: other)
            && (attributes.isEmpty || keptAttributes == other.keptAttributes)
    }

    // Property by property: each download of a list is compared with the one before, and a list of them would be allocated.

    private func hasSameTexts(as other: DownloadOptions) -> Bool {
        Self.areSame(folder, other.folder) && Self.areSame(fileName, other.fileName) && Self.areSame(user, other.user)
            && Self.areSame(password, other.password) && Self.areSame(netrc, other.netrc)
            && Self.areSame(profile, other.profile) && Self.areSame(region, other.region)
            && Self.areSame(endpoint, other.endpoint) && Self.areSame(referer, other.referer)
            && Self.areSame(userAgent, other.userAgent) && Self.areSame(cookieFile, other.cookieFile)
            && Self.areSame(proxy, other.proxy) && Self.areSame(noProxy, other.noProxy)
            && Self.areSame(interface, other.interface) && Self.areSame(authorityFile, other.authorityFile)
            && Self.areSame(certificate, other.certificate) && Self.areSame(key, other.key)
            && Self.areSame(checksum, other.checksum) && Self.areSame(openPGPKeyring, other.openPGPKeyring)
            && Self.areSame(minisignKey, other.minisignKey) && Self.areSame(range, other.range)
            && Self.areSame(taskDescription, other.taskDescription)
    }

    private func hasSameLists(as other: DownloadOptions) -> Bool {
        Self.areAll(mirrors, other.mirrors) && Self.areAll(headers, other.headers)
            && Self.areAll(pinnedPublicKeys, other.pinnedPublicKeys)
            && Self.areAll(addressOverrides, other.addressOverrides)
    }

    private static func areSame(_ left: String?, _ right: String?) -> Bool {
        guard let left, let right else { return left == nil && right == nil }
        return left.hasSameBytes(as: right)
    }

    private static func areAll(_ left: [String], _ right: [String]) -> Bool { left.elementsEqual(right, by: areSame) }

    private var keptAttributes: [Bytewise<String>: Bytewise<String>] {
        Dictionary(attributes.map { (Bytewise($0.key), Bytewise($0.value)) }) { first, _ in first }
    }
}
