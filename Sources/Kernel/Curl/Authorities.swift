import CCurl

/// The certificate authorities that are trusted.
///
/// libcurl reads authorities from a file and from a folder. Wherever there is a file, only the file is used: a caller
/// that names a file trusts nothing else, the system's file holds what its folder holds, and libcurl caches what it
/// has read for the next connection only without a folder (`CURLOPT_CA_CACHE_TIMEOUT`).
struct Authorities {
    /// The value for libcurl; `nil` keeps libcurl's default.
    private let file: String?
    /// Whether the folder is switched off.
    private let isFileAll: Bool

    init(named file: String?) {
        self.file = file ?? Self.systemFile
        isFileAll = self.file != nil || Self.builtInFile != nil
    }

    /// The file that is read for a check beside libcurl's; `nil` for OpenSSL's own defaults.
    var trusted: String? { file ?? Self.builtInFile }

    func apply(to options: EasyHandle) {
        if let file { options.set(CURLOPT_CAINFO, file) }
        if isFileAll { options.set(CURLOPT_CAPATH, nil) }
    }

    /// For a proxy that is itself reached over TLS.
    func applyToProxy(of options: EasyHandle) {
        if let file { options.setWhereBuiltIn(CURLOPT_PROXY_CAINFO, file) }
        if isFileAll { options.setWhereBuiltIn(CURLOPT_PROXY_CAPATH, nil) }
    }

    /// The bundle that libcurl was built to use, if it exists.
    private static let builtInFile: String? = {
        guard let info = unsafe pawl_version(), let path = unsafe info.pointee.cainfo else { return nil }
        let file = unsafe String(cString: path)
        return CurlLibrary.isReadable(file) ? file : nil
    }()

    /// The system's bundle, when libcurl was built without one or its own does not exist.
    private static let systemFile: String? = {
        guard builtInFile == nil else { return nil }
        let usual = [
            "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
            "/etc/ssl/cert.pem",
        ]
        return usual.first(where: CurlLibrary.isReadable)
    }()
}
