import CCurl
import Glibc
import PawlBase
import PawlHTTP
import PawlSystem

/// The fault that an error of libcurl stands for.
struct CurlErrorMapping {
    package var code: CURLcode
    var text: String
    /// `errno` of the last connection attempt, 0 when there was none.
    var systemError: Int32
    /// The last reply code of the server: HTTP's, FTP's, or 0.
    var reply: Int
    /// Whether the request was for a later part of a file.
    var hasOffset = false

    var kind: TransferFault.Kind {
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST: .nameResolution
        case CURLE_COULDNT_RESOLVE_PROXY: .proxy
        // SOCKS proxies that want an address leave name resolution to the client.
        case CURLE_PROXY: text.hasPrefix("Could not resolve host") ? .nameResolution : .proxy
        case CURLE_COULDNT_CONNECT: connecting
        // The interface does not exist, for instance that of a tunnel that is down.
        case CURLE_INTERFACE_FAILED: .unreachable
        case CURLE_OPERATION_TIMEDOUT: .connectTimeout
        case CURLE_SSL_CONNECT_ERROR: handshake
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER, CURLE_SSL_CACERT_BADFILE,
            CURLE_SSL_CRL_BADFILE, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_CLIENTCERT,
            CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_ENGINE_SETFAILED, CURLE_SSL_ENGINE_INITFAILED, CURLE_USE_SSL_FAILED:
            .tls
        case CURLE_SSL_PINNEDPUBKEYNOTMATCH: .publicKey
        case CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_SSL_SHUTDOWN_FAILED, CURLE_AGAIN: .connectionLost
        case CURLE_RECV_ERROR: receiving
        case CURLE_PARTIAL_FILE: .truncated
        case CURLE_WRITE_ERROR, CURLE_BAD_CONTENT_ENCODING: speaksOfChunks ? .truncated : .other
        case CURLE_UNSUPPORTED_PROTOCOL: .other
        case CURLE_WEIRD_SERVER_REPLY: filing
        case CURLE_REMOTE_FILE_NOT_FOUND: .notFound
        case CURLE_LOGIN_DENIED: .denied
        case CURLE_REMOTE_ACCESS_DENIED, CURLE_FTP_COULDNT_RETR_FILE: filing
        case CURLE_SSH: speaking
        // The port may be another protocol's.
        case CURLE_FAILED_INIT: text.hasPrefix("Failure establishing ssh session") ? .connectionLost : .other
        // REST is the only command that libcurl is given to send and that may not fail.
        case CURLE_FTP_COULDNT_USE_REST, CURLE_QUOTE_ERROR:
            hasOffset && !(400..<500).contains(reply) ? .offsetRefused : refused
        case CURLE_BAD_DOWNLOAD_RESUME, CURLE_RANGE_ERROR, CURLE_FTP_COULDNT_SET_TYPE, CURLE_FTP_WEIRD_PASS_REPLY,
            CURLE_FTP_WEIRD_PASV_REPLY, CURLE_FTP_WEIRD_227_FORMAT, CURLE_FTP_CANT_GET_HOST, CURLE_FTP_PORT_FAILED,
            CURLE_FTP_PRET_FAILED, CURLE_FTP_BAD_FILE_LIST:
            refused
        default: .other
        }
    }

    private var connecting: TransferFault.Kind {
        if let kind = SystemError(number: systemError).kindOfConnecting { return kind }
        // A tunnel that the proxy refused to open is reported with this code too.
        return text.contains("proxy") || text.contains("CONNECT") ? .proxy : .connectionRefused
    }

    /// A handshake that the peer cut short says nothing about certificates, and may succeed on a retry.
    private var handshake: TransferFault.Kind {
        let cut = ["Connection reset", "SSL_ERROR_SYSCALL", "unexpected eof", "Broken pipe"]
        return cut.contains { text.contains($0) } ? .connectionLost : .tls
    }

    /// libssh2's texts for a lost connection differ from version to version.
    private var speaking: TransferFault.Kind {
        let cut = ["banner", "isconnect", "ocket", "ransport"]
        return cut.contains { text.contains($0) } ? .connectionLost : .serverRefused
    }

    private var receiving: TransferFault.Kind {
        if text.contains("CONNECT tunnel") || text.contains("from proxy after CONNECT")
            || text.contains("CONNECT response")
        {
            return .proxy
        }
        if speaksOfChunks { return .truncated }
        if CertificateText.clientCertificate(text) != nil { return .tls }
        return TransferFault.Kind(receiving: systemError)
    }

    private var speaksOfChunks: Bool { text.contains("chunk") }

    /// FTP sends 550 both for a missing file and for one that may not be read; servers do not distinguish them.
    private var filing: TransferFault.Kind {
        switch reply {
        case 550: .notFound
        case 530, 532: .denied
        // RFC 3659 §5: REST is judged when the transfer begins.
        case 501, 551, 554: hasOffset ? .offsetRefused : .commandRefused
        case 400..<600: refused
        default: code == CURLE_REMOTE_ACCESS_DENIED ? .denied : .serverRefused
        }
    }

    private var refused: TransferFault.Kind { (500..<600).contains(reply) ? .commandRefused : .serverRefused }
}

extension EasyHandle {
    /// The fault of a transfer or a connection attempt that ended with `code`.
    func fault(_ code: CURLcode, of request: TransferRequest?, hasHead: Bool) -> TransferFault {
        // Neither libcurl nor the C library reports it from everywhere.
        if code != CURLE_OK, !hasHead, SystemDescriptors.areUsedUp { return .noDescriptor }
        let said = errorText
        if let known = knownFault(code, of: request) { return known }
        let mapping = CurlErrorMapping(
            code: code, text: said.isEmpty ? CurlLibrary.text(of: code) : said,
            systemError: Int32(truncatingIfNeeded: number(CURLINFO_OS_ERRNO)), reply: number(CURLINFO_RESPONSE_CODE),
            hasOffset: (request?.range.offset ?? 0) > 0)
        var kind = mapping.kind
        if let request, let fault = versionFault(kind, of: request) { return fault }
        if kind == .nameResolution, let host = request?.address.host, HostResolver.shared.isMissing(HostQuery(host)) {
            kind = .nameMissing
        }
        // libcurl does not name the command.
        if code == CURLE_QUOTE_ERROR {
            return TransferFault(
                kind, LocalizableMessage("fault-rest-refused", "REST was refused with \(mapping.reply)"))
        }
        let proxy = request.flatMap(Self.proxy)
        if let request, let fault = proxyFault(kind, mapping.text, of: request) { return fault }
        if code == CURLE_SSL_CERTPROBLEM { return .clientCertificate(Secrets.removed(from: mapping.text, of: request)) }
        if kind == .connectionRefused, let proxy, CurlErrorText.isOf(proxy: proxy, mapping.text) { kind = .proxy }
        return TransferFault(
            kind,
            CurlErrorText.worded(
                Secrets.removed(from: mapping.text, of: request), systemError: mapping.systemError, proxy: proxy,
                mayBypass: request?.settings.values.noProxy != nil || EnvironmentProxy.hasExceptions))
    }

    /// A fault that needs no text of libcurl's: that of an own check, or one that the code names.
    private func knownFault(_ code: CURLcode, of request: TransferRequest?) -> TransferFault? {
        if let denial = denial ?? overrun { return denial }
        if code == CURLE_PEER_FAILED_VERIFICATION, request?.address.scheme == .sftp {
            return .unknownSSHKey
        }
        if code == CURLE_SSL_CACERT_BADFILE { return .unusableAuthorities }
        if code == CURLE_SSL_PINNEDPUBKEYNOTMATCH {
            return .keyNotPinned
        }
        return nil
    }
}

extension EasyHandle {
    /// The proxy that the request may have been sent to.
    private static func proxy(of request: TransferRequest) -> String? {
        guard let given = request.settings.values.proxy else {
            return EnvironmentProxy.text(for: request.address.scheme)
        }
        return given.isEmpty ? nil : given
    }

    /// The fault of a proxy whose URL cannot be used.
    ///
    /// libcurl's text would show it as a whole, with its login.
    private func proxyFault(_ kind: TransferFault.Kind, _ text: String, of request: TransferRequest) -> TransferFault? {
        let isRefused = text.hasPrefix("Unsupported proxy")
        guard request.settings.values.proxy == nil else { return isRefused ? .unusableProxy : nil }
        guard let variable = EnvironmentProxy.variable(for: request.address.scheme),
            // With a sign such as '@' in its password a part of that is looked up as the host.
            isRefused || (kind == .proxy || kind == .nameResolution) && !ProxyURL.isUsable(variable.value)
        else { return nil }
        return .unusableProxy(in: variable.name)
    }

    /// The fault of a host without an address of the version that is required; libcurl reports a literal address of the
    /// other version as a refused connection.
    private func versionFault(_ kind: TransferFault.Kind, of request: TransferRequest) -> TransferFault? {
        let (host, version) = (request.address.host, request.settings.values.ipVersion)
        guard version != .any, kind == .nameResolution || kind == .connectionRefused else { return nil }
        let isMissing =
            NumericAddress.isOne(host)
            ? !version.allows(numericHost: host)
            : kind == .nameResolution && HostResolver.shared.isMissing(HostQuery(host, version))
        return isMissing ? .noAddress(of: host, version: version) : nil
    }
}

extension TransferFault {
    /// A system call failed.
    init(_ what: String, _ error: SystemError) {
        guard !error.message.lacksDescriptors else {
            self = .noDescriptor
            return
        }
        self.init(.other, foreign: "\(what): \(error.text)")
    }

    /// An option that libcurl rejects.
    init(refusal: CURLcode) {
        self.init(.other, foreign: "libcurl rejects an option: \(CurlLibrary.text(of: refusal))")
    }

    /// Lines of FTP, which libcurl does not bound.
    static let longReplies = TransferFault(
        .malformed, LocalizableMessage("fault-replies-too-long", "the server's replies are too long"))
}
