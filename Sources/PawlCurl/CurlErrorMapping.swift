import CCurl
import Glibc
import PawlCore

/// What libcurl says about a failure, and what kind of fault that is.
struct CurlErrorMapping {
    var code: CURLcode
    var text: String
    /// `errno` of the last connection attempt, 0 when there was none.
    var systemError: Int32
    /// The last reply code of the server: HTTP's, FTP's, or 0.
    var reply: Int
    var isHTTP: Bool
    /// Whether the answer had begun.
    var hasHead: Bool

    var kind: TransferFault.Kind {
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST: .nameResolution
        case CURLE_COULDNT_RESOLVE_PROXY: .proxy
        // SOCKS proxies that want an address leave the name to us.
        case CURLE_PROXY: text.hasPrefix("Could not resolve host") ? .nameResolution : .proxy
        case CURLE_COULDNT_CONNECT: connecting
        // It is not there, as a tunnel's that is down.
        case CURLE_INTERFACE_FAILED: .unreachable
        case CURLE_OPERATION_TIMEDOUT: .connectTimeout
        case CURLE_SSL_CONNECT_ERROR: handshake
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER,
            CURLE_SSL_CACERT_BADFILE,
            CURLE_SSL_CRL_BADFILE, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_PINNEDPUBKEYNOTMATCH,
            CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_CLIENTCERT, CURLE_SSL_ENGINE_NOTFOUND,
            CURLE_SSL_ENGINE_SETFAILED, CURLE_SSL_ENGINE_INITFAILED, CURLE_USE_SSL_FAILED:
            .tls
        case CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_SSL_SHUTDOWN_FAILED, CURLE_AGAIN: .connectionLost
        case CURLE_RECV_ERROR: receiving
        case CURLE_PARTIAL_FILE: .truncated
        case CURLE_HTTP2, CURLE_HTTP2_STREAM, CURLE_HTTP3, CURLE_QUIC_CONNECT_ERROR:
            hasHead ? .truncated : .connectionLost
        case CURLE_WRITE_ERROR, CURLE_BAD_CONTENT_ENCODING: speaksOfChunks ? .truncated : .other
        // An answer of another protocol, HTTP/0.9 or a broken status line: whatever was asked for was supported.
        case CURLE_UNSUPPORTED_PROTOCOL: isHTTP ? .malformed : .other
        case CURLE_WEIRD_SERVER_REPLY: isHTTP ? .malformed : filing
        case CURLE_REMOTE_FILE_NOT_FOUND: .notFound
        case CURLE_LOGIN_DENIED: .denied
        case CURLE_REMOTE_ACCESS_DENIED, CURLE_FTP_COULDNT_RETR_FILE: filing
        case CURLE_SSH: speaking
        case CURLE_BAD_DOWNLOAD_RESUME, CURLE_RANGE_ERROR, CURLE_FTP_COULDNT_USE_REST,
            CURLE_FTP_COULDNT_SET_TYPE, CURLE_FTP_WEIRD_PASS_REPLY, CURLE_FTP_WEIRD_PASV_REPLY,
            CURLE_FTP_WEIRD_227_FORMAT, CURLE_FTP_CANT_GET_HOST, CURLE_FTP_PORT_FAILED, CURLE_FTP_PRET_FAILED,
            CURLE_FTP_BAD_FILE_LIST, CURLE_QUOTE_ERROR:
            .serverRefused
        default: .other
        }
    }

    private var connecting: TransferFault.Kind {
        switch systemError {
        // A firewall of this machine says EPERM or EACCES.
        case ENETUNREACH, EHOSTUNREACH, ENETDOWN, EHOSTDOWN, EADDRNOTAVAIL, ENONET, EPERM, EACCES:
            .unreachable
        case EMFILE, ENFILE, ENOBUFS, ENOMEM: .other
        case ETIMEDOUT: .connectTimeout
        case ECONNRESET, EPIPE, ECONNABORTED: .connectionLost
        case ECONNREFUSED: .connectionRefused
        default:
            // A tunnel that the proxy would not open is told with this code too.
            text.contains("proxy") || text.contains("CONNECT") ? .proxy : .connectionRefused
        }
    }

    /// A handshake that the peer cut short says nothing about certificates, and may work the next time.
    private var handshake: TransferFault.Kind {
        let cut = ["Connection reset", "SSL_ERROR_SYSCALL", "unexpected eof", "Broken pipe"]
        return cut.contains { text.contains($0) } ? .connectionLost : .tls
    }

    /// libssh2's words for a connection that ended under it differ from version to version.
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
        switch systemError {
        case ENETUNREACH, EHOSTUNREACH, ENETDOWN: return .unreachable
        default: return .connectionLost
        }
    }

    private var speaksOfChunks: Bool { text.contains("chunk") }

    /// FTP says 550 for a file that is not there and for one that may not be read; servers do not tell which.
    private var filing: TransferFault.Kind {
        switch reply {
        case 550: .notFound
        case 530, 532: .denied
        case 400..<600: .serverRefused
        default: code == CURLE_REMOTE_ACCESS_DENIED ? .denied : .serverRefused
        }
    }
}

extension TransferFault {
    /// An option that libcurl does not take.
    init(refusal: CURLcode) {
        self.init(.other, "libcurl refuses an option: \(CurlLibrary.text(of: refusal))")
    }
}
