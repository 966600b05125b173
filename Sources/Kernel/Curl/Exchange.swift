import CCurl
import PawlBase
import PawlSystem

/// One easy handle and its current transfer.
///
/// Pooled: the next transfer reuses it.
///
/// The address of an exchange is the context of its handle's callbacks, so it lives at least as long as the handle.
final class Exchange {
    private(set) var easy: EasyHandle
    private(set) var settings: ConnectionSettings?
    private var hasLogin = false
    private var bufferSize = 0
    private var hasRange = false
    private var hasCommand = false

    private(set) var id = TransferID(rawValue: 0)
    private(set) var request: TransferRequest?
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

    /// Whether the sink has the head that was made of the server's replies.
    var isHeadDelivered = false
    /// The length of all replies.
    var lineBytes = 0
    /// The replies of an FTP server about the file.
    var file = FileReplies(start: 0)
    /// The length of a file that ends before the requested part.
    var refusedLength: Int64?
    /// Why the file could not be fetched, while it is determined whether the path is a folder's.
    private(set) var faultOfFile: TransferFault?
    /// The transfer's end whatever libcurl reports: the sink stopped it, or it cannot be continued.
    var verdict: TransferEnd?

    /// When the transfer was started, if it is measured.
    private(set) var startedAt: Instant?
    /// When its host was looked up, if it waited for that.
    var lookup: LookupTime?

    init() throws(TransferFault) { easy = try EasyHandle() }

    /// Starts a transfer.
    func prepare(
        _ request: TransferRequest, as id: TransferID, sink: any TransferSink, settings: ConnectionSettings
    ) throws(TransferFault) {
        take(request, as: id, sink: sink)
        adopt(settings)
        if !takeBufferSize(request.bufferSize) {
            easy = try EasyHandle()
            self.settings = nil
            adopt(settings)
            _ = takeBufferSize(request.bufferSize)
        }
        easy.clearErrorText()
        easy.set(CURLOPT_URL, request.address.text)
        setRange(request.range)
        setCommand(of: request.listing)
        easy.isPolled = request.address.scheme == .ftp || request.address.scheme == .ftps
        if easy.isPolled { watchFile(of: request) }
        setLogin(of: request, settings)
        if let refusal = easy.refusal { throw TransferFault(refusal: refusal) }
    }

    /// The transfer begins now, with these addresses of its host.
    func begin(with addresses: CurlList?) {
        easy.use(addresses: addresses)
        if lookup != nil, startedAt != nil { startedAt = SystemClock().now }
    }

    /// Prepares another request after a file that the server refused: servers refuse folders, which it is to detect, in the same way.
    ///
    /// Returns `false` where the path cannot be a folder's.
    func looksForFolder(after end: TransferEnd) -> Bool {
        guard case .failed(let fault) = end, faultOfFile == nil, verdict == nil, !isHeadDelivered, let request,
            request.listing == nil, !request.address.path.contains(";type=")
        else { return false }
        switch (request.address.scheme, fault.kind) {
        // The folder is entered, and not listed.
        case (.ftp, .notFound), (.ftps, .notFound): easy.set(CURLOPT_NOBODY, 1)
        // Its listing begins.
        case (.sftp, .notFound), (.sftp, .serverRefused): break
        case _: return false
        }
        faultOfFile = fault
        var address = request.address
        address.path += "/"
        easy.set(CURLOPT_URL, address.text)
        setRange(.whole)
        easy.setCommands(before: [], after: [])
        easy.isPolled = address.scheme != .sftp
        return easy.refusal == nil
    }

    private func take(_ request: TransferRequest, as id: TransferID, sink: any TransferSink) {
        self.id = id
        self.request = request
        self.sink = sink
        isHeadDelivered = false
        lineBytes = 0
        file = FileReplies(start: request.range.offset, known: request.knownLength)
        refusedLength = nil
        if faultOfFile != nil { easy.set(CURLOPT_NOBODY, 0) }
        faultOfFile = nil
        verdict = nil
        isPaused = false
        isReusable = false
        startedAt = request.isMeasured ? SystemClock().now : nil
        lookup = nil
    }

    /// Drops the receiver: nothing is delivered any more.
    func detach() {
        sink = nil
        request = nil
    }

    /// Ends the transfer.
    func retire() {
        detach()
        isPaused = false
    }

    private func adopt(_ settings: ConnectionSettings) {
        guard self.settings !== settings || easy.refusal != nil else { return }
        easy.reset()
        hasLogin = false
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe easy.set(CURLOPT_PRIVATE, pointer: context)
        unsafe easy.set(CURLOPT_WRITEDATA, pointer: context)
        unsafe easy.set(CURLOPT_HEADERDATA, pointer: context)
        unsafe easy.set(CURLOPT_WRITEFUNCTION, receiver: receiveBody)
        unsafe easy.set(CURLOPT_HEADERFUNCTION, receiver: receiveReply)
        settings.apply(to: easy)
        self.settings = settings
        bufferSize = 0
        hasRange = false
        hasCommand = false
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

    private func setLogin(of request: TransferRequest, _ settings: ConnectionSettings) {
        let scheme = request.address.scheme
        let login = request.login ?? settings.usualLogin
        guard login != nil || hasLogin else { return }
        hasLogin = login != nil
        easy.set(CURLOPT_USERNAME, login?.user)
        easy.set(CURLOPT_PASSWORD, login.flatMap { $0.password.isEmpty && scheme == .sftp ? nil : $0.password })
    }

    /// The listing in a form for machines, instead of LIST.
    private func setCommand(of listing: FolderListingForm?) {
        let text = listing == .machine ? "MLSD" : nil
        if text == nil && !hasCommand { return }
        easy.set(CURLOPT_CUSTOMREQUEST, text)
        hasCommand = text != nil
    }

    private func setRange(_ range: RequestedRange) {
        let text = range.fieldValue
        if text == nil && !hasRange { return }
        easy.set(CURLOPT_RANGE, text)
        hasRange = text != nil
    }
}
