import CTLS
import PawlTestKit

@testable import PawlBase
@testable import PawlHTTP

/// An authority, and contexts of clients that trust it and of servers with its certificates.
struct TLSBench {
    let authority: TestAuthority

    /// One for all tests: each of its certificates takes two runs of a program.
    private static let shared = Result { () throws(SetupFailure) in try TestAuthority() }

    init() throws(SetupFailure) { authority = try Self.shared.get() }

    func client(_ adjust: (inout TLSSettings) -> Void = { _ in }) throws(TransferFault) -> TLSContext {
        var settings = TLSSettings()
        settings.authorities = authority.authority
        adjust(&settings)
        return try TLSContext.client(settings)
    }

    /// `version`: the only one that the server supports.
    func server(
        _ files: (certificate: String, key: String)? = nil, version: Int32? = nil, protocols: [String] = [],
        requestsCertificate: Bool = false
    ) throws(TransferFault) -> TLSContext {
        let (certificate, key) = files ?? (authority.certificate, authority.key)
        let context = try TLSContext.server(certificate: certificate, key: key, protocols: protocols)
        if let version {
            unsafe SSL_CTX_ctrl(context.raw, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(version), nil)
            unsafe SSL_CTX_ctrl(context.raw, SSL_CTRL_SET_MAX_PROTO_VERSION, Int(version), nil)
        }
        if requestsCertificate {
            unsafe SSL_CTX_set_verify(context.raw, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
            unsafe SSL_CTX_load_verify_file(context.raw, authority.authority)
        }
        return context
    }

    /// A connection over which the handshake is done as far as it goes.
    func link(
        _ client: TLSContext? = nil, _ server: TLSContext? = nil, to target: TLSTarget = .local,
        resuming ticket: TLSTicket? = nil
    ) throws -> SecureLink {
        let link = try SecureLink(client ?? self.client(), server ?? self.server(), to: target, resuming: ticket)
        link.shake()
        return link
    }

    /// The pin of the key in a certificate's file.
    func pin(of certificate: String) throws -> String {
        let program = "openssl x509 -in \"$0\" -noout -pubkey | openssl pkey -pubin -outform der"
        let digest = program + " | openssl dgst -sha256 -binary | openssl base64 -A"
        let run = try PawlProcess.run("/bin/sh", ["-c", digest, certificate])
        return "sha256//" + run.output
    }
}

/// The versions that are supported.
let supportedVersions = [TLS1_2_VERSION, TLS1_3_VERSION]
