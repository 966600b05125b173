import Synchronization

/// The identity of one transfer; never used twice in a process.
package struct TransferID: Hashable, Sendable {
    package let rawValue: UInt64
    package init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// One request, ready to go out.
package struct TransferRequest: Sendable {
    package var address: WebAddress
    /// The method of HTTP; whatever it is, a request that a reused connection lost is sent again.
    package var method = "GET"
    package var body: [UInt8] = []
    package var range: RequestedRange
    package var connection: ConnectionUse
    /// `true` only when `address.origin` was given by the user: then credentials, netrc, cookies of the given
    /// file and headers are sent; else only headers without secrets (`RequestField`).
    package var carriesSecrets: Bool
    /// Whether a redirect led to a host that was not given, over a connection no less secure: then the netrc
    /// entry of that host is used.
    package var leadsToOtherHost = false
    /// The value of Authorization, set by the transport.
    package var authorization: String?
    /// The value of Proxy-Authorization, for an HTTP proxy that reads the request; set by the transport.
    package var proxyAuthorization: String?
    /// Header lines of this request alone, which replace those of the same name.
    package var fields: [String] = []
    /// The located address for which this is requested, with the access of the settings.
    package var object: WebAddress?
    /// A login for this request, which precedes that of the settings.
    package var ownLogin: Credentials?
    /// The login of a transfer other than HTTP, set by the transport.
    package var login: Credentials?
    /// Bypass caches (`Cache-Control: no-cache`, `Pragma: no-cache`).
    package var bypassesCaches: Bool
    /// The length that an FTP server's file had before.
    package var knownLength: Int64?
    /// Receive buffer in bytes; smaller when a rate limit would make large reads bursty.
    package var bufferSize: Int
    /// Whether the receiver gets the transfer's timing.
    package var isMeasured = false
    /// Who judges the certificates of its connection; `nil` for the trust store alone.
    package var judge: CertificateJudge?
    /// Whether the listing of a folder is wanted, in which form; the address ends with a slash.
    package var listing: FolderListingForm?
    package var settings: TransferSettings

    package init(
        address: WebAddress, range: RequestedRange = .whole, connection: ConnectionUse = .shared,
        carriesSecrets: Bool = true, bypassesCaches: Bool = false, bufferSize: Int = 512 * 1024,
        settings: TransferSettings
    ) {
        self.address = address
        self.range = range
        self.connection = connection
        self.carriesSecrets = carriesSecrets
        self.bypassesCaches = bypassesCaches
        self.bufferSize = bufferSize
        self.settings = settings
    }
}

extension TransferRequest {
    /// Asks a WebDAV server for the members of the collection, and for what it knows of their content.
    package mutating func askForProperties() {
        method = "PROPFIND"
        // The body is sent over HTTP/1.1.
        connection = .separate
        fields += ["Depth: 1", "Content-Type: application/xml; charset=utf-8"]
        body = Array(
            """
            <?xml version="1.0" encoding="utf-8"?>
            <propfind xmlns="DAV:" xmlns:oc="http://owncloud.org/ns"><prop><resourcetype/><getcontentlength/>\
            <getlastmodified/><getetag/><oc:checksums/></prop></propfind>
            """.utf8)
    }
}

/// The forms in which file servers list a folder.
package enum FolderListingForm: Hashable, Sendable {
    /// WebDAV's PROPFIND (RFC 4918 §9.1), one level deep.
    case properties
    /// FTP's MLSD (RFC 3659 §7), which not every server has.
    case machine
    /// FTP's LIST, and the listing of SFTP: lines for people.
    case plain
}

/// Settings common to all requests of one download.
///
/// A class, so that ten thousand downloads share one.
package final class TransferSettings: Sendable {
    package struct Values: Sendable, Hashable {
        /// Extra header lines `Name: value`; all but a few count as secrets.
        @Bytewise package var headers: [String] = []
        @Bytewise package var userAgent = ""
        @Bytewise package var referer: String? = nil
        package var credentials: Credentials?
        /// Where what located addresses name is requested.
        package var accesses: [LocatedScheme: ObjectAccess] = [:]
        /// A netrc file; `""` means the user's own.
        @Bytewise package var netrc: String? = nil
        /// A Netscape cookie file to read.
        @Bytewise package var cookieFile: String? = nil
        /// A proxy URL; `nil` uses the environment as curl does, `""` disables all proxies.
        @Bytewise package var proxy: String? = nil
        @Bytewise package var noProxy: String? = nil
        /// A login for the proxy, which replaces that of its URL.
        package var proxyLogin: Credentials?
        /// The interface, or the local address, of outgoing connections; `nil` for the system's choice.
        @Bytewise package var interface: String? = nil
        package var ipVersion = IPVersion.any
        /// Whether the digest of the representation is requested (Want-Repr-Digest, RFC 9530 §4).
        package var wantsDigest = false
        package var verifiesPeer = true
        @Bytewise package var authorityFile: String? = nil
        /// The only key that the server may have, as libcurl's option has it, after a judge has seen it.
        @Bytewise package var acceptedKey: String? = nil
        @Bytewise package var certificate: String? = nil
        /// `sha256//` and Base64 of a server's public key; of several, one has to match.
        @Bytewise package var pinnedPublicKeys: [String] = []
        /// Where to connect instead of resolving names.
        package var addressOverrides: [AddressOverride] = []
        @Bytewise package var key: String? = nil
        /// Whether keys, netrc files and proxy logins of the user of this process may be used without being
        /// given.
        package var usesOwnersSecrets = true
        /// Whether connections to this machine or a private network are refused, whatever a name resolves to
        /// or a redirect says.
        package var deniesPrivateAddresses = false
        /// Whether requests go to thousands of hosts; then their addresses are cached for a short time only.
        package var usesManyHosts = false
        /// Whether requests go over HTTP/1.1 also where a server has nothing but HTTP/2.
        package var usesHTTP1Only = false
        /// The maximum time for name resolution and connecting together.
        package var connectTimeout = Interval.seconds(30)

        package init() {}
    }

    /// Makes a key of these settings that stays unique when they are gone.
    package let id: SettingsID
    package let values: Values

    private static let count = Atomic<UInt64>(0)

    package init(_ values: Values) {
        id = SettingsID(rawValue: Self.count.add(1, ordering: .relaxed).newValue)
        self.values = values
    }
}

/// Decides about a question about certificates once, from any thread; called on the loop's thread, it returns at once.
package typealias CertificateJudge =
    @Sendable (CertificateQuestion, @escaping @Sendable (CertificateDecision) -> Void) -> Void

/// The receiver's result for a chunk.
package enum ChunkResult: Hashable, Sendable {
    /// Every byte was taken.
    case taken
    /// Nothing was taken; the transfer is suspended until `Transport.resume`, then the same bytes are
    /// delivered again.
    case pause
    /// End this transfer; `transferEnded` follows with `.stopped`.
    case stop
}

/// The receiver of one transfer.
///
/// All calls come on the loop's thread, in the order head, chunks, ended.
package protocol TransferSink: AnyObject {
    /// What was measured until the response began; before its head, for a measured request.
    func transfer(_ id: TransferID, timing: TransferTiming)
    /// So many more bytes of a request that has a body were sent.
    func transfer(_ id: TransferID, sent count: Int)
    /// The final response head of this request (no 1xx, no response of a proxy to CONNECT, no 401 that the
    /// transport handles itself), before any byte of its body. `false` stops the transfer; then the transport may
    /// read a short body on, for the next request of its connection.
    func transfer(_ id: TransferID, head: ResponseHead) -> Bool
    func transfer(_ id: TransferID, chunk: UnsafeRawBufferPointer) -> ChunkResult
    /// Whether the next chunk would have to wait; then the transfer is suspended as by `.pause`.
    ///
    /// A transport that asks before it reads leaves the bytes in the socket instead of holding them.
    func holdsBack(_ id: TransferID) -> Bool
    func transferEnded(_ id: TransferID, _ end: TransferEnd)

    /// Where the next bytes of the body may be put without passing through memory; `nil` requests chunks.
    ///
    /// The transport need not use it. It calls this again before each use.
    func spliceTarget(_ id: TransferID) -> SpliceTarget?
    /// The next `count` bytes of the body have arrived and are about to be put into the last `spliceTarget`.
    func transfer(_ id: TransferID, willSplice count: Int)
    /// The next `count` bytes of the body are in the last `spliceTarget`.
    ///
    /// They cannot be refused: `.pause` counts as `.taken`.
    func transfer(_ id: TransferID, spliced count: Int) -> ChunkResult
}

extension TransferSink {
    package func transfer(_ id: TransferID, timing: TransferTiming) {}
    package func transfer(_ id: TransferID, sent count: Int) {}
    package func holdsBack(_ id: TransferID) -> Bool { false }
    package func spliceTarget(_ id: TransferID) -> SpliceTarget? { nil }
    package func transfer(_ id: TransferID, willSplice count: Int) {}

    package func transfer(_ id: TransferID, spliced count: Int) -> ChunkResult {
        preconditionFailure("a sink with a splice target must handle spliced bytes")
    }
}

/// A place in an open file.
package struct SpliceTarget: Hashable, Sendable {
    package var descriptor: Int32
    package var offset: Int64
    /// The maximum number of bytes that may be put there.
    package var limit: Int64

    package init(descriptor: Int32, offset: Int64, limit: Int64) {
        self.descriptor = descriptor
        self.offset = offset
        self.limit = limit
    }
}

/// Network transfers.
///
/// An instance belongs to one loop thread, which waits on its poller between `begin` and `work`.
package protocol Transport: AnyObject {
    func start(_ request: TransferRequest, as id: TransferID, sink: any TransferSink)
    /// Ends a transfer at once, with its connection unless others share it; nothing more is delivered for it. Allowed inside a sink's callback.
    func cancel(_ id: TransferID)
    /// Resumes a paused transfer.
    func resume(_ id: TransferID)
    /// Sends what was started, and resumes what was to be resumed.
    ///
    /// Returns when `work` is due without an event of the poller: `.past` if a sink was called, or if there is work
    /// already.
    func begin() -> Instant?
    /// Handles the events that the poller found and what is due, and delivers what arrived.
    func work()
    /// Closes the connections that no request uses.
    func closeIdle()
}

extension Transport { package func closeIdle() {} }

/// Makes a transport for each loop, on the loop's own thread.
package protocol TransportMaker: Sendable { func makeTransport(on poller: any Poller) -> any Transport }

extension ConnectionKey {
    package init(_ request: TransferRequest, by route: ProxyRoute? = nil) {
        self.init(
            request.address.origin, route: route, interface: request.settings.values.interface,
            ipVersion: request.settings.values.ipVersion, settings: request.settings.id,
            overridesAddresses: !request.settings.values.addressOverrides.isEmpty,
            carriesSecrets: request.carriesSecrets)
    }
}

/// The use of connections by a transfer.
package enum ConnectionUse: Hashable, Sendable {
    /// May share an HTTP/2 connection with others or wait for one: many files.
    case shared
    /// Its own TCP connection, HTTP/1.1: segments of one file.
    case separate
}
