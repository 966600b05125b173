package import PawlCore

/// Names one transfer for its whole life; never used twice in a process.
package struct TransferID: Hashable, Sendable {
    package let rawValue: UInt64
    package init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// One request, ready to go out.
package struct TransferRequest: Sendable {
    package var address: WebAddress
    package var range: RequestedRange
    package var connection: ConnectionUse
    /// `true` only when `address.origin` is one that the person named: then credentials, netrc, cookies of the
    /// given file and headers go along; else only headers that tell no secret (`RequestField`).
    package var carriesSecrets: Bool
    /// Whether a redirect led to a host that nobody named, by a connection no less secure: then the entry that a netrc
    /// file has for that very host goes along.
    package var leadsToOtherHost = false
    /// The value of Authorization, of the transport's own making.
    package var authorization: String?
    /// The login of a transfer that is not HTTP, of the transport's own finding.
    package var login: Credentials?
    /// Ask caches on the way to step aside (`Cache-Control: no-cache`, `Pragma: no-cache`).
    package var bypassesCaches: Bool
    /// Receive buffer in bytes; smaller when a rate limit would make large reads bursty.
    package var bufferSize: Int
    package var settings: TransferSettings

    package init(
        address: WebAddress,
        range: RequestedRange = .whole,
        connection: ConnectionUse = .shared,
        carriesSecrets: Bool = true,
        bypassesCaches: Bool = false,
        bufferSize: Int = 512 * 1024,
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

/// What all requests of one download have in common.
///
/// A class, so that ten thousand downloads share one.
package final class TransferSettings: Sendable {
    package struct Values: Sendable, Hashable {
        /// Extra header lines `Name: value`; all but a few count as secrets.
        package var headers: [String] = []
        package var userAgent = ""
        package var referer: String?
        package var credentials: Credentials?
        /// A netrc file; `""` means the user's own.
        package var netrc: String?
        /// A Netscape cookie file to read.
        package var cookieFile: String?
        /// A proxy URL; `nil` leaves it to the environment as curl reads it, `""` switches every proxy off.
        package var proxy: String?
        package var noProxy: String?
        /// The interface, or the address of this machine, that connections go out by; `nil` leaves it to the system.
        package var interface: String?
        package var verifiesPeer = true
        package var authorityFile: String?
        package var certificate: String?
        package var key: String?
        /// Whether keys, netrc files and logins of proxies that belong to the user of this process may be used without
        /// being named.
        package var usesOwnersSecrets = true
        /// Whether no connection goes to this machine or a private network, whatever a name or a redirect says.
        package var deniesPrivateAddresses = false
        /// The longest time for name resolution and connecting together.
        package var connectTimeout = Interval.seconds(30)

        package init() {}
    }

    package let values: Values

    package init(_ values: Values) { self.values = values }
}

/// What the receiver of a chunk answers.
package enum ChunkResult: Hashable, Sendable {
    /// Every byte was taken.
    case taken
    /// Nothing was taken; the transfer stands still until `Transport.resume`, then the same bytes come again.
    case pause
    /// End this transfer; `transferEnded` follows with `.stopped`.
    case stop
}

/// Receives what one transfer brings.
///
/// All calls come on the loop's thread, in the order head, chunks, ended.
package protocol TransferSink: AnyObject {
    /// The final head of this request (no 1xx, no proxy's CONNECT answer, no 401 that the transport answers itself),
    /// before any byte of its body. `false` stops the transfer.
    func transfer(_ id: TransferID, head: ResponseHead) -> Bool
    func transfer(_ id: TransferID, chunk: UnsafeRawBufferPointer) -> ChunkResult
    func transferEnded(_ id: TransferID, _ end: TransferEnd)

    /// Where the next bytes of the body may be put without passing through memory; `nil` asks for chunks.
    ///
    /// The transport need not use it. It asks anew before each time that it does.
    func spliceTarget(_ id: TransferID) -> SpliceTarget?
    /// The next `count` bytes of the body have come and are about to be put where the last `spliceTarget` said.
    func transfer(_ id: TransferID, willSplice count: Int)
    /// The next `count` bytes of the body stand where the last `spliceTarget` said.
    ///
    /// They cannot be refused any more: `.pause` counts as `.taken`.
    func transfer(_ id: TransferID, spliced count: Int) -> ChunkResult
}

extension TransferSink {
    package func spliceTarget(_ id: TransferID) -> SpliceTarget? { nil }
    package func transfer(_ id: TransferID, willSplice count: Int) {}

    package func transfer(_ id: TransferID, spliced count: Int) -> ChunkResult {
        preconditionFailure("a sink that offers a place has to hear what was put there")
    }
}

/// A place in an open file.
package struct SpliceTarget: Hashable, Sendable {
    package var descriptor: Int32
    package var offset: Int64
    /// The most bytes that may be put there.
    package var limit: Int64

    package init(descriptor: Int32, offset: Int64, limit: Int64) {
        self.descriptor = descriptor
        self.offset = offset
        self.limit = limit
    }
}

/// Fetches over the network.
///
/// An instance belongs to one loop thread; only `wake` may be called from elsewhere.
package protocol Transport: AnyObject {
    func start(_ request: TransferRequest, as id: TransferID, sink: any TransferSink)
    /// Ends a transfer at once; nothing more is delivered for it. Allowed inside a sink's callback.
    func cancel(_ id: TransferID)
    /// Lets a paused transfer go on.
    func resume(_ id: TransferID)
    /// Waits until `deadline`, network activity or `wake`, and delivers what came. `nil` waits without end.
    ///
    /// Once it has called a sink it does not wait any more before it returns.
    func perform(until deadline: Instant?)
    var wake: @Sendable () -> Void { get }
}

/// Makes a transport for each loop, on the loop's own thread.
package protocol TransportMaker: Sendable {
    func makeTransport() -> any Transport
}
