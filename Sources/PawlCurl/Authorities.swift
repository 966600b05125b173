import CCurl

/// Whose certificates are trusted.
///
/// libcurl reads authorities from a file and from a folder. The file is all that is meant wherever there is one:
/// who names a file trusts nobody else, the system's file holds what its folder holds, and libcurl keeps what it
/// has read for the next connection only without a folder (`CURLOPT_CA_CACHE_TIMEOUT`).
struct Authorities {
    /// Goes to libcurl; `nil` where its own choice holds.
    private let file: String?
    /// Whether no folder is to be looked at.
    private let isFileAll: Bool

    init(named file: String?) {
        self.file = file ?? Self.systemFile
        isFileAll = self.file != nil || Self.builtInFile != nil
    }

    func apply(to options: EasyHandle) {
        if let file { options.set(CURLOPT_CAINFO, file) }
        if isFileAll { options.set(CURLOPT_CAPATH, nil) }
    }

    /// For a proxy that is itself reached over TLS.
    func applyToProxy(of options: EasyHandle) {
        if let file { options.setWhereBuiltIn(CURLOPT_PROXY_CAINFO, file) }
        if isFileAll { options.setWhereBuiltIn(CURLOPT_PROXY_CAPATH, nil) }
    }

    /// The bundle that libcurl was built to use, where it is there.
    private static let builtInFile: String? = {
        guard let info = unsafe pawl_version(), let path = unsafe info.pointee.cainfo else { return nil }
        let file = unsafe String(cString: path)
        return CurlLibrary.isReadable(file) ? file : nil
    }()

    /// The system's bundle, when libcurl was built without one or its own is not there.
    private static let systemFile: String? = {
        guard builtInFile == nil else { return nil }
        let usual = [
            "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
            "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem",
        ]
        return usual.first(where: CurlLibrary.isReadable)
    }()
}
