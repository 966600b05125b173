import CCurl
import PawlCore
import PawlEngine

/// The exchanges whose sinks stopped at the head of a short body and are to be told so.
final class StoppedList {
    var exchanges: [Exchange] = []
}

/// One easy handle and the transfer that it carries at the moment.
///
/// Pooled: the next transfer takes it over.
///
/// The address of an exchange is the context of its handle's callbacks, so it lives at least as long as the handle.
final class Exchange {
    /// How far the answer's head is.
    enum Phase {
        /// Lines come in, or none yet.
        case collecting
        /// A 407 is complete; libcurl may answer it with a second request, so it is judged late.
        case held
        /// The sink has it. Later lines are trailers.
        case delivered
    }

    private(set) var easy: EasyHandle
    private(set) var profile: Profile?
    private(set) var memory: OriginState?
    /// Whether libcurl keeps on this handle what it learnt from a challenge.
    ///
    /// A nonce of one server, sent to another or sent too late, would be answered by a refusal that libcurl
    /// takes for wrong credentials.
    private var hasLoginState = false
    private var hasAuthorization = false
    private var hasLogin = false
    private var bufferSize = 0
    private var hasRange = false

    private(set) var id = TransferID(rawValue: 0)
    private(set) var request: TransferRequest?
    private(set) var isHTTP = true
    /// `nil` when nobody waits for this transfer any more.
    private(set) var sink: (any TransferSink)?
    /// Whether the handle is in the multi handle.
    var isJoined = false
    var isPaused = false
    /// Whether libcurl itself brought the transfer to a good end.
    ///
    /// After any other end 7.88 may keep bytes on the handle that were held back while it was paused, and would give
    /// them to the next transfer.
    var isReusable = false

    var phase = Phase.collecting {
        didSet { easy.isSwallowing = phase == .held }
    }
    /// The lines of the current head as they came; only its storage outlives a transfer.
    var lines: [UInt8] = []
    /// The length of all that came as lines: interim heads, heads that libcurl dealt with, trailers, replies of FTP.
    var lineBytes = 0
    /// What decodes the body; `nil` when it comes as it is.
    var chunks: ChunkDecoder?
    /// Whether the last chunk and its trailers have come.
    var hasLastChunk = false
    /// How many bytes of what libcurl hands over next were dealt with before the sink paused.
    var dealtWith = 0
    /// The file's length as an FTP server told it (213).
    var toldLength: Int64?
    /// The sink stopped at the head of an answer with a short body, which is read to its end for nobody: the
    /// connection stays useful, for the next hop of a redirect above all.
    var isDraining = false
    /// Bytes of body that may still be drained.
    var drainable = 0
    /// How the transfer ends whatever libcurl says: the sink stopped it, or it never was possible.
    var verdict: TransferEnd?

    private let stopped: StoppedList

    init?(stopped: StoppedList) {
        guard let easy = EasyHandle() else { return nil }
        self.stopped = stopped
        self.easy = easy
    }

    /// Takes a transfer.
    ///
    /// What cannot be set up is told by `verdict`.
    func prepare(
        _ request: TransferRequest,
        as id: TransferID,
        sink: any TransferSink,
        profile: Profile,
        memory: OriginState?
    ) {
        take(request, as: id, sink: sink)
        adopt(profile, memory)
        if !takeBufferSize(request.bufferSize) {
            guard let fresh = EasyHandle() else {
                verdict = .failed(TransferFault(.other, "libcurl found no memory"))
                return
            }
            easy = fresh
            self.profile = nil
            self.memory = nil
            adopt(profile, memory)
            _ = takeBufferSize(request.bufferSize)
        }
        easy.clearErrorText()
        easy.set(CURLOPT_URL, request.address.text)
        setRange(request.range)
        setLogin(of: request, profile)
        if let refusal = easy.refusal {
            verdict = .failed(
                TransferFault(refusal: refusal)
            )
        }
    }

    /// Takes a transfer that cannot be: it only has to be told.
    func refuse(
        _ request: TransferRequest,
        as id: TransferID,
        sink: any TransferSink,
        _ fault: TransferFault
    ) {
        take(request, as: id, sink: sink)
        verdict = .failed(fault)
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
        dealtWith = 0
        toldLength = nil
        verdict = nil
        isPaused = false
        isReusable = false
        isDraining = false
    }

    /// Forgets the receiver: nothing is delivered any more.
    func detach() {
        sink = nil
        request = nil
    }

    /// Notes what the transfer that is over leaves on the handle, and that it is over.
    func retire() {
        detach()
        isDraining = false
        isPaused = false
        hasLoginState = easy.number(CURLINFO_PROXYAUTH_AVAIL) != 0
    }

    private func adopt(_ profile: Profile, _ memory: OriginState?) {
        // libcurl would go on sending what it once picked, also to an origin that has not asked for it yet.
        if self.profile !== profile || easy.refusal != nil || hasLoginState {
            // The share goes first: the reset of 7.88 forgets the list of cookie files without freeing it, and
            // taking that list away would also take the share's cookies from the handle.
            unsafe easy.set(CURLOPT_SHARE, pointer: nil)
            self.memory = nil
            easy.set(CURLOPT_COOKIEFILE, nil)
            easy.reset()
            hasLoginState = false
            hasAuthorization = false
            hasLogin = false
            let context = unsafe Unmanaged.passUnretained(self).toOpaque()
            unsafe easy.set(CURLOPT_PRIVATE, pointer: context)
            unsafe easy.set(CURLOPT_WRITEDATA, pointer: context)
            unsafe easy.set(CURLOPT_HEADERDATA, pointer: context)
            unsafe easy.set(CURLOPT_WRITEFUNCTION, receiver: receiveBody)
            unsafe easy.set(CURLOPT_HEADERFUNCTION, receiver: receiveHeader)
            profile.apply(to: easy)
            self.profile = profile
            bufferSize = 0
            hasRange = false
        }
        if self.memory !== memory {
            unsafe easy.set(CURLOPT_SHARE, pointer: memory?.share)
            self.memory = memory
        }
    }

    /// Goes on reading a short body that the sink does not want.
    func drain() {
        isDraining = true
        drainable = Self.longestDrain
        stopped.exchanges.append(self)
    }

    /// libcurl fills its buffer a hundred times before it lets others have a turn; with a larger one it would be away
    /// for so long that nobody looks at timeouts.
    private static let longestRead = 128 * 1024

    /// Sets the receive buffer's size.
    ///
    /// `false` when the handle still holds the buffer of an earlier transfer, as 7.88 lets it do after one that shared
    /// its connection. Such a handle must not be used with another size: it would write beyond that buffer.
    private func takeBufferSize(_ size: Int) -> Bool {
        guard bufferSize != size else { return true }
        bufferSize = size
        return easy.canSet(CURLOPT_BUFFERSIZE, min(max(1024, size), Self.longestRead))
    }

    /// What lets this request in: a field for HTTP, a name and a password for the others.
    private func setLogin(of request: TransferRequest, _ profile: Profile) {
        guard !isHTTP else {
            guard request.authorization != nil || hasAuthorization else { return }
            hasAuthorization = request.authorization != nil
            return easy.set(CURLOPT_HTTPHEADER, profile.lines(with: request.authorization))
        }
        let scheme = request.address.scheme
        let login = request.login ?? profile.usualLogin
        guard login != nil || hasLogin else { return }
        hasLogin = login != nil
        easy.set(CURLOPT_USERNAME, login?.user)
        easy.set(
            CURLOPT_PASSWORD,
            login.flatMap { $0.password.isEmpty && scheme == .sftp ? nil : $0.password }
        )
    }

    private func setRange(_ range: RequestedRange) {
        let text = range.fieldValue
        if text == nil && !hasRange { return }
        easy.set(CURLOPT_RANGE, text)
        hasRange = text != nil
    }
}
