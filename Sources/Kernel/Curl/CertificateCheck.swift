import CCurl
import CTLS
import PawlBase

/// A connection that is made only to see the server's certificates, and what the judge says of them.
///
/// The request itself is made over another connection, on which libcurl accepts only the key that was judged.
@safe final class CertificateCheck {
    let easy: EasyHandle
    let request: TransferRequest
    let sink: any TransferSink
    let judge: CertificateJudge
    /// Set by OpenSSL when the server requests a certificate.
    private let isRequested: UnsafeMutablePointer<Int32>
    /// The key that was seen, as libcurl's option has it.
    private(set) var key: String?
    private(set) var problem: String?
    /// What was decided about the server, while its request for a certificate is pending.
    var decided: TransferSettings.Values?

    init(
        _ request: TransferRequest, _ sink: any TransferSink, _ judge: @escaping CertificateJudge
    ) throws(TransferFault) {
        easy = try EasyHandle()
        self.request = request
        self.sink = sink
        self.judge = judge
        unsafe isRequested = .allocate(capacity: 1)
        unsafe isRequested.initialize(to: 0)
        let settings = try ConnectionSettings(for: request)
        easy.reset()
        settings.apply(to: easy)
        var address = request.address
        address.path = "/"
        address.query = nil
        easy.set(CURLOPT_URL, address.text)
        easy.set(CURLOPT_CONNECT_ONLY, 1)
        easy.set(CURLOPT_FRESH_CONNECT, 1)
        easy.set(CURLOPT_HTTP_VERSION, pawl_http_version_1_1)
        // Judged here, with the same authorities; nothing is sent before.
        easy.set(CURLOPT_SSL_VERIFYPEER, 0)
        easy.set(CURLOPT_SSL_VERIFYHOST, 0)
        unsafe easy.set(contextFunction: prepareCheck)
        unsafe easy.set(CURLOPT_SSL_CTX_DATA, pointer: Unmanaged.passUnretained(self).toOpaque())
        if let refusal = easy.refusal { throw TransferFault(refusal: refusal) }
    }

    deinit { unsafe isRequested.deallocate() }

    /// Whether the server has requested a certificate and none was given.
    var requestsCertificate: Bool {
        unsafe isRequested.pointee != 0 && request.settings.values.certificate == nil && request.carriesSecrets
    }

    fileprivate func prepare(_ context: UnsafeMutableRawPointer) {
        let file = Authorities(named: request.settings.values.authorityFile).trusted
        unsafe pawl_tls_load_authorities(context, file)
        // Only where there is none: libcurl sets a given one before this.
        if request.settings.values.certificate == nil { unsafe pawl_tls_note_request(context, isRequested) }
    }

    /// Reads the certificates of the finished handshake; `nil` when libcurl does not reveal them.
    func question() -> CertificateQuestion? {
        // libcurl reveals its TLS state only after a read or a write.
        var byte: UInt8 = 0
        var read = 0
        _ = unsafe pawl_easy_recv(easy.raw, &byte, 1, &read)
        guard let connection = unsafe pawl_easy_get_tls(easy.raw) else { return nil }
        var chain: [[UInt8]] = []
        while let bytes = unsafe certificate(connection, Int32(chain.count)) { chain.append(bytes) }
        guard !chain.isEmpty else { return nil }
        let host = request.address.host
        problem = unsafe pawl_tls_problem(connection, host).map { unsafe String(cString: $0) }
        var digest = [UInt8](repeating: 0, count: Int(PAWL_TLS_LONGEST_DIGEST))
        let length = unsafe pawl_tls_key_digest(connection, &digest)
        guard length > 0 else { return nil }
        key = "sha256//" + Base64.encode(Array(digest.prefix(Int(length))))
        return question(.server(chain: chain, problem: problem))
    }

    func question(_ kind: CertificateQuestion.Kind) -> CertificateQuestion {
        CertificateQuestion(host: request.address.host, port: request.address.origin.port, kind: kind)
    }

    private func certificate(_ connection: UnsafeMutableRawPointer, _ index: Int32) -> [UInt8]? {
        let length = unsafe pawl_tls_certificate(connection, index, nil, 0)
        guard length > 0 else { return nil }
        var bytes = [UInt8](repeating: 0, count: Int(length))
        return unsafe pawl_tls_certificate(connection, index, &bytes, length) == length ? bytes : nil
    }
}

/// libcurl's callback for the context of a check.
private let prepareCheck: curl_ssl_ctx_callback = { _, context, check in
    guard let context = unsafe context, let check = unsafe check else { return CURLE_OK }
    unsafe Unmanaged<CertificateCheck>.fromOpaque(check).takeUnretainedValue().prepare(context)
    return CURLE_OK
}

/// What a judge decided.
struct CertificateVerdict: Sendable {
    var id: TransferID
    var isForClient: Bool
    var decision: CertificateDecision
}
