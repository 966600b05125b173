import CTLS
import Glibc
package import PawlBase
import Synchronization

/// What connections trust, and how they identify themselves.
package struct TLSSettings: Hashable, Sendable {
    /// A file whose authorities replace the system's.
    @Bytewise package var authorities: String? = nil
    package var verifies = true
    /// `sha256//` and Base64 of a server's public key, which counts also where certificates are not verified; of several, one
    /// has to match.
    package var pins: [String] = []
    /// PEM; the key may be in the same file.
    @Bytewise package var certificate: String? = nil
    @Bytewise package var key: String? = nil

    package init() {}

    /// The server's own, or those of a proxy, which has another key and is not shown a certificate.
    ///
    /// A client certificate identifies the user: it is sent only where other secrets are.
    package init(_ values: TransferSettings.Values, carriesSecrets: Bool, isProxy: Bool = false) {
        authorities = values.authorityFile
        verifies = values.verifiesPeer
        guard !isProxy else { return }
        pins = values.acceptedKey.map { [$0] } ?? values.pinnedPublicKeys
        guard carriesSecrets else { return }
        certificate = values.certificate
        key = values.key
    }
}

/// An OpenSSL context, which does not change: the loops share it.
@safe package final class TLSContext: Sendable {
    nonisolated(unsafe) let raw: OpaquePointer  // OpenSSL counts its references atomically
    let settings: TLSSettings
    /// `nil` for servers.
    let trust: TrustStore?
    /// The digests of the keys that a server may have, one after another.
    nonisolated(unsafe) let pins: UnsafeMutablePointer<UInt8>  // nothing changes them
    /// The protocols that a server supports, as ALPN has them, with a zero.
    private nonisolated(unsafe) let protocols: UnsafeMutablePointer<UInt8>  // nothing changes them

    /// A record of the usual size.
    private static let record = 16 * 1024 + 256
    static let digestLength = 32

    init(_ settings: TLSSettings, _ trust: TrustStore?, protocols names: [String] = []) throws(TransferFault) {
        guard let raw = unsafe pawl_tls_make_context(trust == nil ? 1 : 0) else { throw .outOfMemory }
        unsafe self.raw = raw
        self.settings = settings
        self.trust = trust
        // One that is no digest matches no key.
        let digests = settings.pins.flatMap { pin in
            let digest = pin.hasPrefix("sha256//") ? Base64.decode(pin.utf8.dropFirst(8)) : nil
            return digest?.count == Self.digestLength ? digest ?? [] : [UInt8](repeating: 0, count: Self.digestLength)
        }
        unsafe pins = .allocate(capacity: max(1, digests.count))
        unsafe pins.initialize(from: digests, count: digests.count)
        let wire = TLSTarget.wire(names) + [0]
        unsafe protocols = .allocate(capacity: wire.count)
        unsafe protocols.initialize(from: wire, count: wire.count)
        let pointer = unsafe UnsafeMutableRawPointer(raw)
        // A server has many connections that bring little.
        unsafe pawl_tls_read_ahead(pointer, trust == nil ? Self.record : 4 * Self.record)
        unsafe CipherOrder.preferShortKeys(in: pointer)
        if let trust { unsafe SSL_CTX_set1_cert_store(raw, trust.raw.pointee.store) }
        if !names.isEmpty { unsafe SSL_CTX_set_alpn_select_cb(raw, pawl_tls_choose, protocols) }
        guard let certificate = settings.certificate else { return }
        guard unsafe pawl_tls_use_files(raw, nil, certificate, settings.key) == 1 else {
            throw .clientCertificate(TLSFault.text ?? "")
        }
    }

    deinit {
        unsafe SSL_CTX_free(raw)
        unsafe pins.deallocate()
        unsafe protocols.deallocate()
    }

    /// For a server with that certificate; `protocols` are in its order of preference.
    package static func server(
        certificate: String, key: String?, protocols: [String] = []
    ) throws(TransferFault) -> TLSContext {
        var settings = TLSSettings()
        (settings.certificate, settings.key) = (certificate, key)
        return try TLSContext(settings, nil, protocols: protocols)
    }

    private struct Key: Hashable {
        let settings: TLSSettings
        let trust: ObjectIdentifier
        let certificate: FileStamp?
        let key: FileStamp?
    }

    private static let known = Mutex<[Key: TLSContext]>([:])
    private static let limit = 64

    /// For clients; the first one takes 2 ms, and later ones less.
    package static func client(_ settings: TLSSettings) throws(TransferFault) -> TLSContext {
        let trust: TrustStore
        do throws(TransferFault) { trust = try TrustStore.find(settings.authorities) } catch {
            guard !settings.verifies else { throw error }
            trust = try TrustStore(bundle: nil)
        }
        let key = Key(
            settings: settings, trust: ObjectIdentifier(trust),
            certificate: settings.certificate.flatMap(FileStamp.init),
            key: settings.key.flatMap(FileStamp.init))
        return try known.withLock { known throws(TransferFault) in
            if let found = known[key] { return found }
            // Connections retain the context that they use.
            if known.count >= limit { known = [:] }
            let context = try TLSContext(settings, trust)
            known[key] = context
            return context
        }
    }
}

/// The server that a connection leads to.
package struct TLSTarget: Hashable, Sendable {
    /// As in the URL, without brackets.
    package var host: String
    package var port: UInt16
    /// What is offered by ALPN (RFC 7301), the preferred one first.
    package var protocols: [String]
    /// Whether the handshake waits for decisions about certificates.
    package var isJudged: Bool

    package init(host: String, port: UInt16, protocols: [String] = ["http/1.1"], isJudged: Bool = false) {
        self.host = host
        self.port = port
        self.protocols = protocols
        self.isJudged = isJudged
    }

    /// The host as certificates have it: without the dot of an absolute name and without a zone.
    var name: String {
        if host.utf8.contains(.colon) { return String(host.prefix { $0 != "%" }) }
        return host.utf8.last == .dot ? String(host.dropLast()) : host
    }

    /// Numeric hosts are not sent to the server (RFC 6066 §3).
    var isNumeric: Bool { NumericAddress.isOne(name) }

    /// Names with their lengths before them.
    static func wire(_ protocols: [String]) -> [UInt8] {
        protocols.flatMap { [UInt8(truncatingIfNeeded: $0.utf8.count)] + Array($0.utf8) }
    }
}
