import CCurl
import PawlBase
import PawlHTTP

/// libcurl's body callback.
let receiveBody: curl_write_callback = { bytes, size, count, context in
    guard let bytes = unsafe bytes, let context = unsafe context else { return pawl_receiver_fails }
    let exchange = unsafe Unmanaged<Exchange>.fromOpaque(context).takeUnretainedValue()
    return unsafe exchange.receive(body: UnsafeRawBufferPointer(start: bytes, count: size * count))
}

/// libcurl's header callback: one line of a server's replies per call, with its line ending.
let receiveReply: curl_write_callback = { bytes, size, count, context in
    guard let bytes = unsafe bytes, let context = unsafe context else { return pawl_receiver_fails }
    let exchange = unsafe Unmanaged<Exchange>.fromOpaque(context).takeUnretainedValue()
    return unsafe exchange.receive(reply: UnsafeRawBufferPointer(start: bytes, count: size * count))
}

extension Exchange {
    /// Passes a chunk to the sink.
    ///
    /// Returns the callback's result for libcurl.
    func receive(body chunk: UnsafeRawBufferPointer) -> Int {
        easy.endPolling()
        if faultOfFile != nil { verdict = .failed(.pathOfFolder) }
        guard verdict == nil, isHeadDelivered || deliverHead(atEnd: false), let sink else { return pawl_receiver_fails }
        guard file.fits(chunk.count) else {
            verdict = file.contradiction.map { .failed(TransferFault(.contentChanged, $0)) }
            return pawl_receiver_fails
        }
        switch unsafe sink.transfer(id, chunk: chunk) {
        case .taken:
            file.took(chunk.count)
            return self.sink == nil ? pawl_receiver_fails : chunk.count
        case .pause:
            guard self.sink != nil else { return pawl_receiver_fails }
            isPaused = true
            return pawl_receiver_pauses
        case .stop:
            verdict = .stopped
            return pawl_receiver_fails
        }
    }

    /// Returns the callback's result for libcurl.
    func receive(reply line: UnsafeRawBufferPointer) -> Int {
        guard sink != nil, verdict == nil else { return pawl_receiver_fails }
        lineBytes += line.count
        guard lineBytes <= HTTP1Limits.longestHead else {
            verdict = .failed(.longReplies)
            return pawl_receiver_fails
        }
        unsafe file.note(line)
        return line.count
    }

    /// Delivers what the server's replies tell of the file to the sink.
    ///
    /// Returns `false` when the transfer is over for the sink.
    func deliverHead(atEnd: Bool) -> Bool {
        guard let sink else { return false }
        let head: ResponseHead
        do throws(TransferFault) { head = try madeHead(atEnd: atEnd) } catch {
            verdict = .failed(error)
            return false
        }
        isHeadDelivered = true
        if let startedAt, let request {
            var timing = TransferTiming()
            timing.readRequest(of: easy, begun: startedAt, request)
            if !timing.isReused { timing.note(lookup) }
            sink.transfer(id, timing: timing)
        }
        guard sink.transfer(id, head: head) else {
            verdict = .stopped
            return false
        }
        return self.sink != nil
    }

    /// The header section that FTP and SFTP lack: the whole file's length and time.
    private func madeHead(atEnd: Bool) throws(TransferFault) -> ResponseHead {
        let rest = easy.offset(CURLINFO_CONTENT_LENGTH_DOWNLOAD_T)
        if let request, request.address.scheme == .sftp, request.range.offset > 0, rest == nil {
            // libcurl ignores the range then.
            guard atEnd else { throw .withoutLength }
            return ResponseHead(fileLength: refusedLength ?? 0, modified: nil)
        }
        let total: Int64?
        switch request?.range {
        case .whole, nil: total = rest ?? (atEnd ? 0 : nil)
        case .from(let start):
            total = (rest ?? (atEnd ? 0 : nil)).flatMap { length in
                let (whole, overflows) = length.addingReportingOverflow(start)
                return overflows ? nil : whole
            }
        case .closed, .suffix: total = nil
        }
        let modified = easy.offset(CURLINFO_FILETIME_T).map { UnixTime(seconds: $0) }
        return ResponseHead(fileLength: refusedLength ?? file.length ?? total, modified: modified)
    }
}
