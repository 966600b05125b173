import CCurl
import PawlCore
import PawlEngine

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
        /// A 401 or 407 is complete; libcurl may answer it with a second request, so it is judged late.
        case held
        /// The sink has it. Later lines are trailers.
        case delivered
    }

    let easy: EasyHandle
    private(set) var profile: Profile?
    private(set) var jar: CookieJar?
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

    var phase = Phase.collecting
    /// The lines of the current head as they came; only its storage outlives a transfer.
    var lines: [UInt8] = []
    /// The file's length as an FTP server told it (213).
    var toldLength: Int64?
    /// How the transfer ends whatever libcurl says: the sink stopped it, or it never was possible.
    var verdict: TransferEnd?

    init?() {
        guard let easy = EasyHandle() else { return nil }
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
        jar: CookieJar?
    ) {
        take(request, as: id, sink: sink)
        adopt(profile, jar)
        easy.clearErrorText()
        easy.set(CURLOPT_URL, request.address.text)
        setRange(request.range)
        if bufferSize != request.bufferSize {
            bufferSize = request.bufferSize
            easy.set(CURLOPT_BUFFERSIZE, max(1024, bufferSize))
        }
        if let refusal = easy.refusal {
            verdict = .failed(
                TransferFault(.other, "libcurl refuses an option: \(CurlLibrary.text(of: refusal))")
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
        toldLength = nil
        verdict = nil
        isPaused = false
    }

    /// Forgets the receiver: nothing is delivered any more.
    func detach() {
        sink = nil
        request = nil
    }

    private func adopt(_ profile: Profile, _ jar: CookieJar?) {
        if self.profile !== profile || easy.refusal != nil {
            easy.reset()
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
        if self.jar !== jar {
            unsafe easy.set(CURLOPT_SHARE, pointer: jar?.share)
            self.jar = jar
        }
    }

    private func setRange(_ range: RequestedRange) {
        let text: String?
        switch range {
        case .whole: text = nil
        case .from(let start): text = "\(start)-"
        case .closed(let bytes): text = "\(bytes.start)-\(bytes.end - 1)"
        case .suffix(let count): text = "-\(count)"
        }
        if text == nil && !hasRange { return }
        easy.set(CURLOPT_RANGE, text)
        hasRange = text != nil
    }
}
