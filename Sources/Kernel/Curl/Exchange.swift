import CCurl
import PawlBase
import PawlSystem

/// The exchanges whose sinks stopped at the header section of a response with a short body, still to be notified.
final class StoppedList { var exchanges: [Exchange] = [] }

/// One easy handle and its current transfer.
///
/// Pooled: the next transfer reuses it.
///
/// The address of an exchange is the context of its handle's callbacks, so it lives at least as long as the handle.
final class Exchange {
    /// The progress of the response's header section.
    enum Phase {
        /// Lines are received, or none yet.
        case collecting
        /// A 407 is complete; libcurl may send a second request for it, so it is judged late.
        case held
        /// The sink has it. Later lines are trailers.
        case delivered
    }

    private(set) var easy: EasyHandle
    private(set) var settings: ConnectionSettings?
    private(set) var originState: OriginState?
    /// Whether libcurl keeps state from a challenge on this handle.
    ///
    /// A nonce sent to another server, or sent too late, would be rejected, which libcurl takes for wrong
    /// credentials.
    private var hasLoginState = false
    private var hasOwnFields = false
    private var hasLogin = false
    private var bufferSize = 0
    private var hasRange = false

    private(set) var id = TransferID(rawValue: 0)
    private(set) var request: TransferRequest?
    private(set) var isHTTP = true
    /// The receiver; `nil` once the transfer is detached.
    private(set) var sink: (any TransferSink)?
    /// Whether the handle is in the multi handle.
    var isJoined = false
    var isPaused = false
    /// Whether libcurl itself ended the transfer successfully.
    ///
    /// After any other end 7.88 may keep bytes on the handle that were held back while it was paused, and would deliver
    /// them to the next transfer.
    var isReusable = false

    var phase = Phase.collecting { didSet { easy.isSwallowing = phase == .held } }
    /// The raw lines of the current header section; only the storage is reused.
    var lines: [UInt8] = []
    /// The length of all lines: interim responses, responses that libcurl handled, trailers, FTP replies.
    var lineBytes = 0
    /// The decoder of a chunked body; `nil` for any other.
    var chunks: ChunkDecoder?
    /// Whether the last chunk and its trailers were received.
    var hasLastChunk = false
    /// The number of bytes of libcurl's next call that were delivered before the sink paused.
    var takenBytes = 0
    /// The replies of an FTP server about the file.
    var file = FileReplies(start: 0)
    /// The length of a file that ends before the requested part.
    var refusedLength: Int64?
    /// Whether the sink stopped at the header section of a response with a short body, which is read and discarded: the
    /// connection can be reused, above all for the next hop of a redirect.
    var isDraining = false
    /// The number of body bytes that may still be drained.
    var drainable = 0
    /// The transfer's end whatever libcurl reports: the sink stopped it, or it cannot be continued.
    var verdict: TransferEnd?

    /// When the transfer was started, if it is measured.
    private(set) var startedAt: Instant?
    /// When its host was looked up, if it waited for that.
    var lookup: LookupTime?

    private let stopped: StoppedList

    init(stopped: StoppedList) throws(TransferFault) {
        easy = try EasyHandle()
        self.stopped = stopped
    }

    /// Starts a transfer.
    func prepare(
        _ request: TransferRequest, as id: TransferID, sink: any TransferSink, settings: ConnectionSettings,
        originState: OriginState?
    ) throws(TransferFault) {
        take(request, as: id, sink: sink)
        adopt(settings, originState)
        if !takeBufferSize(request.bufferSize) {
            easy = try EasyHandle()
            self.settings = nil
            self.originState = nil
            adopt(settings, originState)
            _ = takeBufferSize(request.bufferSize)
        }
        easy.clearErrorText()
        easy.set(CURLOPT_URL, request.address.text)
        setRange(request.range)
        easy.isPolled = request.address.scheme == .ftps
        if request.address.scheme == .ftp || request.address.scheme == .ftps { watchFile(of: request) }
        setLogin(of: request, settings)
        if let refusal = easy.refusal { throw TransferFault(refusal: refusal) }
    }

    /// The transfer begins now, with these addresses of its host.
    func begin(with addresses: HeaderLines?) {
        easy.use(addresses: addresses)
        if lookup != nil, startedAt != nil { startedAt = SystemClock().now }
    }

    private func take(_ request: TransferRequest, as id: TransferID, sink: any TransferSink) {
        self.id = id
        self.request = request
        isHTTP = request.address.scheme == .http || request.address.scheme == .https
        self.sink = sink
        phase = .collecting
        lines.removeAll(keepingCapacity: true)
        lineBytes = 0
        chunks = nil
        hasLastChunk = false
        takenBytes = 0
        file = FileReplies(start: request.range.offset, known: request.knownLength)
        refusedLength = nil
        verdict = nil
        isPaused = false
        isReusable = false
        isDraining = false
        startedAt = request.isMeasured ? SystemClock().now : nil
        lookup = nil
    }

    /// Drops the receiver: nothing is delivered any more.
    func detach() {
        sink = nil
        request = nil
    }

    /// Ends the transfer and notes what state it leaves on the handle.
    func retire() {
        detach()
        isDraining = false
        isPaused = false
        hasLoginState = easy.number(CURLINFO_PROXYAUTH_AVAIL) != 0
    }

    private func adopt(_ settings: ConnectionSettings, _ originState: OriginState?) {
        // libcurl would keep sending the scheme it once picked, also to an origin that has not requested it yet.
        if self.settings !== settings || easy.refusal != nil || hasLoginState {
            // The share goes first: the reset of 7.88 forgets the list of cookie files without freeing it, and
            // taking that list away would also take the share's cookies from the handle.
            unsafe easy.set(CURLOPT_SHARE, pointer: nil)
            self.originState = nil
            easy.set(CURLOPT_COOKIEFILE, nil)
            easy.reset()
            hasLoginState = false
            hasOwnFields = false
            hasLogin = false
            let context = unsafe Unmanaged.passUnretained(self).toOpaque()
            unsafe easy.set(CURLOPT_PRIVATE, pointer: context)
            unsafe easy.set(CURLOPT_WRITEDATA, pointer: context)
            unsafe easy.set(CURLOPT_HEADERDATA, pointer: context)
            unsafe easy.set(CURLOPT_WRITEFUNCTION, receiver: receiveBody)
            unsafe easy.set(CURLOPT_HEADERFUNCTION, receiver: receiveHeader)
            settings.apply(to: easy)
            self.settings = settings
            bufferSize = 0
            hasRange = false
        }
        if self.originState !== originState {
            unsafe easy.set(CURLOPT_SHARE, pointer: originState?.share)
            self.originState = originState
        }
    }

    /// Keeps reading a short body that the sink does not want.
    func drain() {
        isDraining = true
        drainable = HTTP1Limits.longestDrain
        stopped.exchanges.append(self)
    }

    /// libcurl fills its buffer a hundred times before other transfers get a turn; with a larger buffer that takes so
    /// long that timeouts are missed.
    private static let longestRead = 128 * 1024

    /// Sets the receive buffer's size.
    ///
    /// Returns `false` when the handle still holds the buffer of an earlier transfer, as 7.88 does after one that
    /// shared its connection. Such a handle must not be used with another size: it would write beyond that buffer.
    private func takeBufferSize(_ size: Int) -> Bool {
        guard bufferSize != size else { return true }
        bufferSize = size
        return easy.canSet(CURLOPT_BUFFERSIZE, min(max(1024, size), Self.longestRead))
    }

    /// Sets the request's credentials: a field for HTTP, a user name and password for other schemes.
    private func setLogin(of request: TransferRequest, _ settings: ConnectionSettings) {
        guard !isHTTP else {
            let own = request.fields + (request.authorization.map { ["Authorization: \($0)"] } ?? [])
            guard !own.isEmpty || hasOwnFields else { return }
            hasOwnFields = !own.isEmpty
            return settings.applyFields(own, to: easy)
        }
        let scheme = request.address.scheme
        let login = request.login ?? settings.usualLogin
        guard login != nil || hasLogin else { return }
        hasLogin = login != nil
        easy.set(CURLOPT_USERNAME, login?.user)
        easy.set(CURLOPT_PASSWORD, login.flatMap { $0.password.isEmpty && scheme == .sftp ? nil : $0.password })
    }

    private func setRange(_ range: RequestedRange) {
        let text = range.fieldValue
        if text == nil && !hasRange { return }
        easy.set(CURLOPT_RANGE, text)
        hasRange = text != nil
    }
}
