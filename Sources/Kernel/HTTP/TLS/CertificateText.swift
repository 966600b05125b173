import Glibc
package import PawlBase
import PawlSystem

/// OpenSSL's reasons for ending a handshake or not accepting a certificate, in sentences.
package enum CertificateText {
    /// The text of an alert is the same in all versions of OpenSSL.
    package static func reason(_ text: String) -> LocalizableMessage {
        let text = text.replacing("sslv3 alert", with: "ssl/tls alert")
        return known[text] ?? LocalizableMessage(untranslated: text)
    }

    package static func untrusted(_ reason: String) -> LocalizableMessage {
        LocalizableMessage("certificate-not-trusted", "its certificate is not trusted: \(self.reason(reason))")
    }

    package static let ofOtherHost = LocalizableMessage(
        "certificate-of-other-host", "its certificate is for another host")
    static let clientRequired = LocalizableMessage(
        "client-certificate-required", "the server requires a client certificate")
    static let clientRejected = LocalizableMessage(
        "client-certificate-rejected", "the server rejects the client certificate")

    package static func handshakeFailed(_ why: LocalizableMessage) -> LocalizableMessage {
        LocalizableMessage("tls-handshake-failed", "the TLS handshake failed: \(why)")
    }

    /// What says that the handshake failed, for whatever reason.
    fileprivate static let idOfFailedHandshake = handshakeFailed(LocalizableMessage(untranslated: "")).id

    /// What an alert of the server says about the client's certificate (RFC 8446 §6.2), in a text of libcurl's.
    package static func clientCertificate(_ text: String) -> LocalizableMessage? {
        if text.contains("alert certificate required") { return clientRequired }
        let alerts = ["bad certificate", "certificate unknown", "certificate expired", "certificate revoked"]
        return alerts.contains { text.contains("alert \($0)") } ? clientRejected : nil
    }

    private static let known = Dictionary(
        [
            LocalizableMessage("certificate-expired", "certificate has expired"),
            LocalizableMessage("certificate-early", "certificate is not yet valid"),
            LocalizableMessage("certificate-self-signed", "self-signed certificate"),
            LocalizableMessage("certificate-chain-self-signed", "self-signed certificate in certificate chain"),
            LocalizableMessage("certificate-no-issuer", "unable to get local issuer certificate"),
            LocalizableMessage("certificate-issuer-missing", "unable to get issuer certificate"),
            LocalizableMessage("certificate-first-unverified", "unable to verify the first certificate"),
            LocalizableMessage("certificate-revoked", "certificate revoked"),
            LocalizableMessage("certificate-untrusted", "certificate not trusted"),
            LocalizableMessage("certificate-rejected", "certificate rejected"),
            LocalizableMessage("certificate-authority-invalid", "invalid CA certificate"),
            LocalizableMessage("certificate-purpose", "unsupported certificate purpose"),
            LocalizableMessage("certificate-signature", "certificate signature failure"),
            LocalizableMessage("certificate-chain-long", "certificate chain too long"),
            LocalizableMessage("certificate-host", "hostname mismatch"),
            LocalizableMessage("certificate-address", "IP address mismatch"),
            LocalizableMessage("certificate-key-short", "EE certificate key too weak"),
            LocalizableMessage("certificate-digest-weak", "CA signature digest algorithm too weak"),
            LocalizableMessage("tls-alert-handshake", "ssl/tls alert handshake failure"),
            LocalizableMessage("tls-alert-version", "tlsv1 alert protocol version"),
            LocalizableMessage("tls-alert-name", "tlsv1 unrecognized name"),
            LocalizableMessage("tls-alert-internal", "tlsv1 alert internal error"),
            LocalizableMessage("tls-alert-authority", "tlsv1 alert unknown ca"),
            LocalizableMessage("tls-version-unsupported", "unsupported protocol"),
            LocalizableMessage("tls-key-short", "dh key too small"),
            LocalizableMessage("tls-eof", "unexpected eof while reading"),
        ].map { ($0.description, $0) }, uniquingKeysWith: { first, _ in first })
}

extension TransferFault {
    /// None of the keys that were given for the server.
    package static let keyNotPinned = TransferFault(
        .publicKey,
        LocalizableMessage("fault-key-not-pinned", "the server's public key is not one of the pinned ones"))
    /// The decision of a judge.
    package static let certificateRejected = TransferFault(
        .tls, LocalizableMessage("fault-certificate-rejected", "the program does not accept the certificate"))
    package static let noCloseNotify = TransferFault(
        .connectionLost,
        LocalizableMessage("fault-no-close-notify", "the connection was closed without TLS close_notify"))

    /// Whether the server ended the handshake, which may be its answer to the protocols that the client offers.
    var mayMeanNoCommonProtocol: Bool {
        self == .noCommonProtocol || kind == .connectionLost && cause.id == CertificateText.idOfFailedHandshake
    }

    /// A failed read from a connection's socket.
    package init(receiving error: Int32) {
        self.init(Kind(receiving: error), .receivingFailed(SystemError(number: error).message))
    }
}

extension TransferFault.Kind {
    /// A failed read with that `errno`.
    package init(receiving error: Int32) {
        switch error {
        case ENETUNREACH, EHOSTUNREACH, ENETDOWN: self = .unreachable
        case _: self = .connectionLost
        }
    }
}

extension LocalizableMessage {
    package static func receivingFailed(_ why: LocalizableMessage) -> LocalizableMessage {
        LocalizableMessage("receiving-failed", "receiving failed: \(why)")
    }
}
