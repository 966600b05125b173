import CCurl
import PawlBase
import PawlSystem

/// Owns one easy handle and its error buffer.
@safe final class EasyHandle {
    let raw: UnsafeMutableRawPointer
    private let errorBuffer: UnsafeMutablePointer<CChar>
    /// The first option that libcurl rejected since the last `reset`.
    private(set) var refusal: CURLcode?
    /// Retained for as long as libcurl may use them.
    private var lines: CurlList?
    private var overrides: CurlList?
    private var addresses: CurlList?
    private var commands: (before: CurlList, after: CurlList)?
    /// The text of an address that was denied, see ``denyPrivateAddresses()``.
    var deniedAddress: String?
    /// Whether its multi handle counts it as busy.
    var isBusy = false
    /// Whether libcurl is also called without an event, until ``endPolling()``: before the data of FTP, 7.88 watches no socket and
    /// sets no timeout when the reply to EPSV is there at once, and not the control connection of FTPS while the TLS handshake
    /// of the data connection is unfinished, which the server begins only after the commands.
    var isPolled = false
    /// A count of what libcurl reads without reporting it.
    private var swallowed = SwallowedBytes()
    private var replyWait: ReplyWait?
    /// The sockets of its multi handle.
    var sockets = CurlSockets()

    init() throws(TransferFault) {
        try CurlLibrary.start()
        guard let raw = unsafe pawl_easy_init() else { throw .outOfMemory }
        unsafe self.raw = raw
        unsafe errorBuffer = .allocate(capacity: pawl_error_size)
        unsafe errorBuffer.initialize(repeating: 0, count: pawl_error_size)
    }

    deinit {
        unsafe pawl_easy_cleanup(raw)
        unsafe errorBuffer.deallocate()
    }

    /// Resets every option to libcurl's default.
    ///
    /// Connections and the cookie share stay.
    func reset() {
        use(addresses: nil)
        unsafe pawl_easy_reset(raw)
        refusal = nil
        lines = nil
        overrides = nil
        commands = nil
        deniedAddress = nil
        swallowed = SwallowedBytes()
        replyWait = nil
        note(unsafe pawl_easy_set_pointer(raw, CURLOPT_ERRORBUFFER, errorBuffer))
        note(unsafe pawl_easy_set_watch(raw, noteProgress, noteSocket, context))
    }

    private var context: UnsafeMutableRawPointer { unsafe Unmanaged.passUnretained(self).toOpaque() }

    /// From now on every step of the transfer follows an event.
    func endPolling() {
        if isPolled, isBusy { sockets.polled -= 1 }
        isPolled = false
    }

    /// Bounds how long libcurl waits for an FTP server's reply without returning.
    func limitReplies(to patience: Interval) { replyWait = ReplyWait(patience: min(patience, .seconds(10))) }

    /// Makes libcurl report what its other callbacks omit: unterminated lines of an FTP server.
    func watchReplies() { note(unsafe pawl_easy_set_debug(raw, noteRemark, context)) }

    /// Why libcurl was stopped; `nil` while what it has read unreported is within the limit.
    var overrun: TransferFault? { swallowed.fault ?? replyWait?.fault }

    private var localPort: Int { number(CURLINFO_LOCAL_PORT) }

    /// Whether libcurl may continue reading.
    fileprivate func mayContinue(received: Int64) -> Bool {
        swallowed.noteReading(round: sockets.round)
        replyWait?.note(round: sockets.round, received: received, at: SystemClock().now)
        return overrun == nil
    }

    fileprivate func endReplies() {
        swallowed.noteEndlessLine()
        sockets.cut(localPort: localPort)
    }

    func set(_ option: CURLoption, _ value: Int) { note(unsafe pawl_easy_set_long(raw, option, value)) }

    /// Sets an option whose rejection the caller can handle.
    func canSet(_ option: CURLoption, _ value: Int) -> Bool {
        unsafe pawl_easy_set_long(raw, option, value) == CURLE_OK
    }

    /// Sets an option of a feature; a build without the feature could not use it anyway.
    func setWhereBuiltIn(_ option: CURLoption, _ value: Int) {
        noteUnlessMissing(unsafe pawl_easy_set_long(raw, option, value))
    }

    func setWhereBuiltIn(_ option: CURLoption, _ value: String?) {
        noteUnlessMissing(unsafe pawl_easy_set_string(raw, option, value))
    }

    /// libcurl copies the text.
    func set(_ option: CURLoption, _ value: String?) { note(unsafe pawl_easy_set_string(raw, option, value)) }

    func set(_ option: CURLoption, _ lines: CurlList) {
        self.lines = lines
        note(unsafe pawl_easy_set_list(raw, option, lines.list))
    }

    /// Commands for an FTP server right before the transfer and after it.
    func setCommands(before: [String], after: [String]) {
        let new = (before: CurlList(before), after: CurlList(after))
        note(unsafe pawl_easy_set_list(raw, CURLOPT_PREQUOTE, new.before.list))
        note(unsafe pawl_easy_set_list(raw, CURLOPT_POSTQUOTE, new.after.list))
        commands = new
    }

    /// Connects to other addresses; unlike CURLOPT_RESOLVE, which fills the multi handle's cache, only for this handle.
    func override(_ lines: CurlList) {
        overrides = lines
        note(unsafe pawl_easy_set_list(raw, CURLOPT_CONNECT_TO, lines.list))
    }

    /// The addresses of the host for the next transfer, which libcurl keeps for a short time like those that it looks up itself.
    func use(addresses: CurlList?) {
        guard addresses != nil || self.addresses != nil else { return }
        // libcurl reads the list when the transfer begins, which may not have happened with the last one.
        note(unsafe pawl_easy_set_list(raw, CURLOPT_RESOLVE, addresses?.list))
        self.addresses = addresses
    }

    /// The caller keeps the pointee alive for as long as the handle may use it.
    func set(_ option: CURLoption, pointer: UnsafeMutableRawPointer?) {
        note(unsafe pawl_easy_set_pointer(raw, option, pointer))
    }

    func set(_ option: CURLoption, receiver: curl_write_callback) {
        note(unsafe pawl_easy_set_receiver(raw, option, receiver))
    }

    /// Denies connections to this machine or a private network; checked after name resolution, for every connection.
    func denyPrivateAddresses() {
        note(unsafe pawl_easy_set_opener(raw, openPublicSocket))
        note(unsafe pawl_easy_set_pointer(raw, CURLOPT_OPENSOCKETDATA, Unmanaged.passUnretained(self).toOpaque()))
    }

    /// The fault when the handle's connection was denied.
    var denial: TransferFault? {
        deniedAddress.map(TransferFault.deniedAddress)
    }

    package func number(_ info: CURLINFO) -> Int {
        var value = 0
        return unsafe pawl_easy_get_long(raw, info, &value) == CURLE_OK ? value : 0
    }

    /// `nil` for libcurl's −1, "not known".
    func offset(_ info: CURLINFO) -> Int64? {
        var value: curl_off_t = -1
        guard unsafe pawl_easy_get_offset(raw, info, &value) == CURLE_OK, value >= 0 else { return nil }
        return Int64(value)
    }

    /// `nil` when it is not known or empty.
    func text(_ info: CURLINFO) -> String? {
        var value: UnsafePointer<CChar>?
        guard unsafe pawl_easy_get_string(raw, info, &value) == CURLE_OK, let value = unsafe value else { return nil }
        let text = unsafe String(cString: value)
        return text.isEmpty ? nil : text
    }

    /// libcurl's text for the last failure, empty when there was none.
    var errorText: String { unsafe String(cString: errorBuffer) }

    func clearErrorText() { unsafe errorBuffer.pointee = 0 }

    private func noteUnlessMissing(_ code: CURLcode) {
        if code != CURLE_UNKNOWN_OPTION, code != CURLE_NOT_BUILT_IN { note(code) }
    }

    private func note(_ code: CURLcode) { if code != CURLE_OK, refusal == nil { refusal = code } }
}

/// libcurl's progress function, which it calls after each read, and each second in which it waits for a reply.
private let noteProgress: curl_xferinfo_callback = { context, _, received, _, _ in
    guard let context = unsafe context else { return 0 }
    let handle = unsafe Unmanaged<EasyHandle>.fromOpaque(context).takeUnretainedValue()
    return handle.mayContinue(received: Int64(received)) ? 0 : 1
}

private let noteSocket: curl_sockopt_callback = { context, socket, _ in
    guard let context = unsafe context else { return 0 }
    unsafe Unmanaged<EasyHandle>.fromOpaque(context).takeUnretainedValue().sockets.note(socket)
    return 0
}

/// Receives libcurl's debug output, which is otherwise discarded.
private let noteRemark: curl_debug_callback = { _, kind, text, count, context in
    guard let text = unsafe text, let context = unsafe context else { return 0 }
    let bytes = unsafe UnsafeRawBufferPointer(start: text, count: count)
    let handle = unsafe Unmanaged<EasyHandle>.fromOpaque(context).takeUnretainedValue()
    if kind == CURLINFO_TEXT, unsafe bytes.starts(with: "Excessive server".utf8) {
        handle.endReplies()
    }
    return 0
}
