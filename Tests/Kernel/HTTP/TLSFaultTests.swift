import CTLS
import Glibc
import Testing

@testable import PawlBase
@testable import PawlHTTP

/// OpenSSL's numbers, as users read them.
@Suite struct TLSFaultTests {
    private static func fault(_ reason: Int32, _ text: String) -> TLSFault {
        TLSFault(library: Int32(ERR_LIB_SSL), reason: reason, text: text)
    }

    private static let handshakes: [(TLSFault, TransferFault.Kind, String)] = [
        (fault(267, "wrong version number"), .tls, "the server does not use TLS on this port (wrong version number)"),
        (fault(156, "http request"), .tls, "the server does not use TLS on this port (http request)"),
        (
            fault(1040, "sslv3 alert handshake failure"), .tls,
            "the TLS handshake failed: ssl/tls alert handshake failure"
        ),
        (
            fault(1040, "ssl/tls alert handshake failure"), .tls,
            "the TLS handshake failed: ssl/tls alert handshake failure"
        ), (fault(1048, "tlsv1 alert unknown ca"), .tls, "the TLS handshake failed: tlsv1 alert unknown ca"),
        (
            fault(294, "unexpected eof while reading"), .connectionLost,
            "the TLS handshake failed: unexpected eof while reading"
        ), (TLSFault(isClosed: true), .connectionLost, "the TLS handshake failed: unexpected eof while reading"),
        (
            TLSFault(systemError: ECONNRESET), .connectionLost, "the TLS handshake failed: Connection reset by peer"
        ), (TLSFault(systemError: EHOSTUNREACH), .unreachable, "the TLS handshake failed: No route to host"),
        // An alert counts although the peer has closed then.
        (
            TLSFault(
                library: Int32(ERR_LIB_SSL), reason: 1070, text: "tlsv1 alert protocol version", isClosed: true,
                systemError: EPIPE), .tls, "the TLS handshake failed: tlsv1 alert protocol version"
        ),
    ]

    @Test(arguments: handshakes.indices) func `a failed handshake`(index: Int) {
        let (fault, kind, text) = Self.handshakes[index]
        #expect(fault.handshake.kind == kind && fault.handshake.text == text)
    }

    @Test(arguments: [
        (X509_V_ERR_HOSTNAME_MISMATCH, "certificate-of-other-host", "its certificate is for another host"),
        (X509_V_ERR_IP_ADDRESS_MISMATCH, "certificate-of-other-host", "its certificate is for another host"),
        (
            X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT, "certificate-not-trusted",
            "its certificate is not trusted: self-signed certificate"
        ),
        (
            X509_V_ERR_CERT_HAS_EXPIRED, "certificate-not-trusted",
            "its certificate is not trusted: certificate has expired"
        ),
        (
            X509_V_ERR_EE_KEY_TOO_SMALL, "certificate-not-trusted",
            "its certificate is not trusted: EE certificate key too weak"
        ),
    ]) func `a certificate that is not trusted`(problem: Int32, id: String, text: String) {
        var fault = Self.fault(SSL_R_CERTIFICATE_VERIFY_FAILED, "certificate verify failed")
        fault.problem = problem
        #expect(fault.handshake.kind == .tls && fault.handshake.cause.id == id && fault.handshake.text == text)
        fault.isRefused = true
        #expect(fault.handshake == .certificateRejected)
        fault.isWrongKey = true
        #expect(fault.handshake == .keyNotPinned)
    }

    /// The id after a request for a certificate: none was sent; one was sent; and without a request.
    private static let alerts: [(alert: Int32, missing: String?, sent: String?, unrequested: String?)] = [
        (116, "client-certificate-required", "client-certificate-required", "client-certificate-required"),
        (40, "client-certificate-required", nil, nil),
        (42, "client-certificate-required", "client-certificate-rejected", nil),
        (43, nil, "client-certificate-rejected", nil), (44, nil, "client-certificate-rejected", nil),
        (45, nil, "client-certificate-rejected", nil), (46, nil, "client-certificate-rejected", nil),
        (48, nil, "client-certificate-rejected", nil), (49, nil, "client-certificate-rejected", nil),
        (70, nil, nil, nil),
    ]

    @Test(arguments: alerts) func `what an alert says about the client's certificate`(
        row: (alert: Int32, missing: String?, sent: String?, unrequested: String?)
    ) {
        var fault = Self.fault(1000 + row.alert, "alert")
        for (wasRequested, isIdentified, id) in [
            (true, false, row.missing), (true, true, row.sent), (false, false, row.unrequested),
        ] {
            (fault.wasRequested, fault.isIdentified) = (wasRequested, isIdentified)
            #expect(fault.handshake.kind == .tls)
            #expect(fault.handshake.cause.id == id ?? "tls-handshake-failed")
            #expect(fault.receiving.kind == (id == nil ? .connectionLost : .tls))
            #expect(fault.receiving.cause.id == id ?? "receiving-failed")
        }
    }

    @Test func `an end while receiving`() {
        var fault = Self.fault(294, "unexpected eof while reading")
        #expect(fault.receiving.text == "receiving failed: unexpected eof while reading")
        fault.systemError = ETIMEDOUT
        #expect(fault.receiving.text == "receiving failed: Connection timed out")
        fault.isClosed = true
        #expect(fault.receiving == .noCloseNotify)
        #expect(TLSFault().receiving.text == "receiving failed: TLS broke")
    }

    /// The sentences that have translations, by their ids.
    @Test(arguments: [
        ("sslv3 alert handshake failure", "tls-alert-handshake"), ("tlsv1 alert unknown ca", "tls-alert-authority"),
        ("certificate has expired", "certificate-expired"), ("unexpected eof while reading", "tls-eof"),
        ("some new reason", "untranslated"),
    ]) func `reasons have ids`(text: String, id: String) { #expect(CertificateText.reason(text).id == id) }
}
