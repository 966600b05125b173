import CCurl
import PawlBase

/// libcurl's body callback.
let receiveBody: curl_write_callback = { bytes, size, count, context in
    guard let bytes = unsafe bytes, let context = unsafe context else { return pawl_receiver_fails }
    let exchange = unsafe Unmanaged<Exchange>.fromOpaque(context).takeUnretainedValue()
    return unsafe exchange.receive(body: UnsafeRawBufferPointer(start: bytes, count: size * count))
}

/// libcurl's header callback: one line per call, with its line ending.
let receiveHeader: curl_write_callback = { bytes, size, count, context in
    guard let bytes = unsafe bytes, let context = unsafe context else { return pawl_receiver_fails }
    let exchange = unsafe Unmanaged<Exchange>.fromOpaque(context).takeUnretainedValue()
    return unsafe exchange.receive(line: UnsafeRawBufferPointer(start: bytes, count: size * count))
}

extension Exchange {
    /// Passes a chunk to the sink.
    ///
    /// Returns the callback's result for libcurl.
    func receive(body chunk: UnsafeRawBufferPointer) -> Int {
        if isDraining { return drain(chunk.count) }
        guard verdict == nil, phase == .delivered || deliverHead(atEnd: false) else { return pawl_receiver_fails }
        if isDraining { return drain(chunk.count) }
        guard chunks == nil else { return unsafe receive(chunked: chunk) }
        guard let sink else { return pawl_receiver_fails }
        guard isHTTP || file.fits(chunk.count) else {
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

    /// Collects a line of the header section.
    ///
    /// Returns the callback's result for libcurl.
    func receive(line: UnsafeRawBufferPointer) -> Int {
        if isDraining { return drain(line.count) }
        guard sink != nil, verdict == nil else { return pawl_receiver_fails }
        lineBytes += line.count
        guard lineBytes <= HTTP1Limits.longestHead else {
            verdict = .failed(isHTTP ? .longHead : .longReplies)
            return pawl_receiver_fails
        }
        guard isHTTP else {
            unsafe file.note(line)
            return line.count
        }
        guard phase != .delivered else { return line.count }
        if unsafe line.starts(with: "HTTP/".utf8) {
            // Another header section: the one before was a 1xx or a response that libcurl handled itself.
            lines.removeAll(keepingCapacity: true)
            phase = .collecting
        }
        guard phase == .collecting else { return line.count }
        unsafe lines.append(contentsOf: line)
        guard unsafe isBlank(line) else { return line.count }
        return closeHead() ? line.count : pawl_receiver_fails
    }

    /// Handles the blank line.
    private func closeHead() -> Bool {
        switch status {
        case 100..<200 where status != 101:
            lines.removeAll(keepingCapacity: true)
            return true
        case 407:
            phase = .held
            return true
        default: return deliverHead(atEnd: false)
        }
    }

    /// Delivers the header section to the sink.
    ///
    /// Returns `false` when the transfer is over for the sink.
    func deliverHead(atEnd: Bool) -> Bool {
        guard let sink else { return false }
        let head: ResponseHead
        var isWorthDraining = false
        do throws(TransferFault) {
            (head, isWorthDraining) = isHTTP ? try readHead() : (try madeHead(atEnd: atEnd), false)
        } catch {
            verdict = .failed(error)
            return false
        }
        phase = .delivered
        if let startedAt, let request {
            var timing = TransferTiming()
            timing.readRequest(of: easy, begun: startedAt, request)
            if !timing.isReused { timing.note(lookup) }
            sink.transfer(id, timing: timing)
        }
        guard sink.transfer(id, head: head) else {
            verdict = .stopped
            guard isWorthDraining, !atEnd, self.sink != nil else { return false }
            drain()
            return true
        }
        return self.sink != nil
    }

    /// Delivers the content in a piece of a chunked body.
    ///
    /// libcurl passes the framing through as well, and parses it only to find the end: it would discard trailers and
    /// extensions of any length silently.
    private func receive(chunked bytes: UnsafeRawBufferPointer) -> Int {
        // Anything after the end belongs to no response.
        guard !hasLastChunk, let sink, takenBytes <= bytes.count else { return pawl_receiver_fails }
        var index = takenBytes
        takenBytes = 0
        while true {
            guard let (framing, step) = unsafe chunks?.scan(.init(rebasing: bytes[index...])) else {
                return pawl_receiver_fails
            }
            index += framing
            switch step {
            case .incomplete: return bytes.count
            case .broken:
                verdict = .failed(chunks?.fault ?? .brokenChunks)
                return pawl_receiver_fails
            case .end:
                hasLastChunk = true
                // A connection that carried more than the response is not reused.
                return index == bytes.count ? bytes.count : pawl_receiver_fails
            case .data(let count):
                let piece = unsafe UnsafeRawBufferPointer(rebasing: bytes[index..<index + count])
                switch unsafe sink.transfer(id, chunk: piece) {
                case .taken: break
                case .pause:
                    guard self.sink != nil else { return pawl_receiver_fails }
                    isPaused = true
                    takenBytes = index
                    return pawl_receiver_pauses
                case .stop:
                    verdict = .stopped
                    return pawl_receiver_fails
                }
                guard self.sink != nil else { return pawl_receiver_fails }
                chunks?.take(count)
                index += count
            }
        }
    }

    private func drain(_ count: Int) -> Int {
        drainable -= count
        return drainable >= 0 ? count : pawl_receiver_fails
    }

    /// The collected header section, parsed as `HTTP1Client` does when it has HTTP/1 framing, and whether its body is
    /// drained when it is not wanted.
    private func readHead() throws(TransferFault) -> (head: ResponseHead, isWorthDraining: Bool) {
        var head: ResponseHead
        var body = ResponseFraming.Body.untilClose
        var keepsConnection = true
        if ResponseFraming.canBegin(lines) {
            let (framing, content) = try ResponseFraming.read(lines)
            if framing.body == .chunked { chunks = ChunkDecoder() }
            (head, body, keepsConnection) = (content, framing.body, framing.keepsConnection)
        } else if let content = ResponseHead(parsing: lines) {
            head = content
            // The end of a stream of HTTP/2 is not the connection's.
            if let length = content.contentLength { body = .length(length) }
        } else {
            throw TransferFault.headNotHTTP
        }
        head.lines = lines
        return (head, HTTP1Limits.isWorthDraining(body, keepsConnection: keepsConnection))
    }

    /// The status code of the collected header section; 0 when there is none.
    private var status: Int {
        // "HTTP/1.1 200 OK", "HTTP/2 200"
        guard let blank = lines.prefix(16).firstIndex(of: 0x20) else { return 0 }
        var status = 0
        for byte in lines[(blank + 1)...].prefix(3) {
            guard (0x30...0x39).contains(byte) else { return 0 }
            status = status * 10 + Int(byte - 0x30)
        }
        return status
    }

    private func isBlank(_ line: UnsafeRawBufferPointer) -> Bool {
        switch line.count {
        case 1: unsafe line[0] == 0x0A
        case 2: unsafe line[0] == 0x0D && line[1] == 0x0A
        default: false
        }
    }
}

extension Exchange {
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
