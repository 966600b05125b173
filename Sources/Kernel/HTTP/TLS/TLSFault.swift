import CTLS
import PawlBase
import PawlSystem

/// Why a connection failed, in OpenSSL's numbers: its texts differ from version to version.
struct TLSFault: Hashable {
    /// The first failure; 0 when it was the transport's.
    var library: Int32 = 0
    var reason: Int32 = 0
    var text: String?
    /// Of the server's certificate (`X509_V_…`).
    var problem: Int32 = 0
    /// The server's key is not one of the pinned ones.
    var isWrongKey = false
    /// What the judge decided.
    var isRefused = false
    /// Whether the server requested a certificate, and one was sent.
    var wasRequested = false
    var isIdentified = false
    /// Whether the peer has closed the transport.
    var isClosed = false
    /// `errno` of the transport.
    var systemError: Int32 = 0

    private var isOfTLS: Bool { library == Int32(ERR_LIB_SSL) }

    private var alert: Int32? { isOfTLS && reason > SSL_AD_REASON_OFFSET ? reason - SSL_AD_REASON_OFFSET : nil }

    /// Of a handshake.
    var handshake: TransferFault {
        if isWrongKey { return .keyNotPinned }
        if isRefused { return .certificateRejected }
        if isOfTLS, reason == SSL_R_CERTIFICATE_VERIFY_FAILED, problem != X509_V_OK {
            return TransferFault(.tls, Self.isOfOtherHost(problem) ? CertificateText.ofOtherHost : untrusted)
        }
        if let clientCertificate { return TransferFault(.tls, clientCertificate) }
        if alert == SSL_AD_NO_APPLICATION_PROTOCOL { return .noCommonProtocol }
        let plain = [
            SSL_R_WRONG_VERSION_NUMBER, SSL_R_PACKET_LENGTH_TOO_LONG, SSL_R_HTTP_REQUEST, SSL_R_UNKNOWN_PROTOCOL,
        ]
        if isOfTLS, plain.contains(reason), let text { return TransferFault(.tls, .noTLS(text)) }
        // One that was cut short says nothing about certificates, and may succeed on a retry.
        guard library == 0 || isOfTLS && reason == SSL_R_UNEXPECTED_EOF_WHILE_READING else {
            return TransferFault(.tls, CertificateText.handshakeFailed(why))
        }
        return TransferFault(
            systemError != 0 ? .init(receiving: systemError) : .connectionLost, CertificateText.handshakeFailed(why))
    }

    /// Of an established connection.
    var receiving: TransferFault {
        if isClosed { return .noCloseNotify }
        if systemError != 0 { return TransferFault(receiving: systemError) }
        // With TLS 1.3 it comes after the handshake, instead of a response.
        if let clientCertificate { return TransferFault(.tls, clientCertificate) }
        return TransferFault(.connectionLost, .receivingFailed(why))
    }

    private var why: LocalizableMessage {
        if library == 0, systemError != 0 { return SystemError(number: systemError).message }
        return CertificateText.reason(text ?? (isClosed ? "unexpected eof while reading" : "TLS broke"))
    }

    private var untrusted: LocalizableMessage { CertificateText.untrusted(Self.text(ofProblem: problem)) }

    /// What an alert says about the client's certificate; before TLS 1.3 none says that it is missing.
    private var clientCertificate: LocalizableMessage? {
        guard let alert else { return nil }
        if alert == TLS13_AD_CERTIFICATE_REQUIRED { return CertificateText.clientRequired }
        if isIdentified {
            let others = [SSL_AD_UNKNOWN_CA, SSL_AD_ACCESS_DENIED]
            return (SSL3_AD_BAD_CERTIFICATE...SSL3_AD_CERTIFICATE_UNKNOWN).contains(alert) || others.contains(alert)
                ? CertificateText.clientRejected : nil
        }
        let missing = [SSL3_AD_HANDSHAKE_FAILURE, SSL3_AD_BAD_CERTIFICATE]
        return wasRequested && missing.contains(alert) ? CertificateText.clientRequired : nil
    }

    static func isOfOtherHost(_ problem: Int32) -> Bool {
        problem == X509_V_ERR_HOSTNAME_MISMATCH || problem == X509_V_ERR_IP_ADDRESS_MISMATCH
    }

    static func text(ofProblem problem: Int32) -> String {
        unsafe String(cString: X509_verify_cert_error_string(Int(problem)))
    }

    /// OpenSSL's text for the first failure; `nil` when there was none.
    static var text: String? {
        let error = ERR_peek_error()
        if ERR_GET_LIB(error) == ERR_LIB_SYS { return SystemError(number: ERR_GET_REASON(error)).text }
        return unsafe pawl_tls_reason().map { unsafe String(cString: $0) }
    }
}
