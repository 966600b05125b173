// What the server sends, and how it ends.
extension HTTP2Connection {
    /// Bytes were read.
    package mutating func arrived(at now: Instant) { (lastReceived, pinged) = (now, nil) }

    /// A frame that has no content by itself; its kind is a number of RFC 9113 §6.
    ///
    /// Returns why the connection ends.
    package mutating func frame(_ kind: UInt8, at now: Instant) -> TransferFault? {
        continuations = kind == 9 ? continuations + 1 : 0
        guard continuations <= HTTP2Limits.mostContinuations else { return .longHead }
        return allowance.frame(at: now) ? nil : .emptyFrames
    }

    package mutating func settings(streams most: UInt32?) {
        guard let most else { return }
        limit = Int(min(most, UInt32(HTTP2Limits.mostStreams)))
        retireIfUseless()
    }

    /// A header section of `size` bytes as HPACK counts them; the text of a longer one is not complete.
    package mutating func head(_ id: HTTP2StreamID, _ text: [UInt8], size: Int) -> Verdict {
        guard let isTooLong = count(id, size) else { return .nothing }
        if isTooLong { return refuse(id, .longHead) }
        guard streams[id]?.state == .waiting else { return refuse(id, .brokenHTTP2(.protocolError)) }
        do throws(TransferFault) {
            let (framing, content) = try ResponseFraming.read(stream: text)
            if framing.isInterim { return .nothing }
            guard framing.status != 101 else { return refuse(id, .brokenHTTP2(.protocolError)) }
            var head = content
            head.lines = text
            streams[id]?.body = framing.body
            streams[id]?.state = .judging
            return .head(head, cookies: framing.cookies)
        } catch { return refuse(id, error) }
    }

    /// A header section after the body.
    package mutating func trailer(_ id: HTTP2StreamID, size: Int) -> Verdict {
        count(id, size) == true ? refuse(id, .longHead) : .nothing
    }

    /// Whether the header sections of a request are too long; `nil` when it is over.
    private mutating func count(_ id: HTTP2StreamID, _ size: Int) -> Bool? {
        guard let stream = streams[id], !stream.isDraining, stream.ending == nil else { return nil }
        streams[id]?.headSize += size
        return stream.headSize + size > HTTP1Limits.longestHead
    }

    package mutating func data(_ id: HTTP2StreamID, _ count: Int) -> Verdict {
        allowance.content(count)
        guard var stream = streams[id], !stream.isDraining, stream.ending == nil else { return .nothing }
        stream.received += Int64(count)
        if let left = stream.left, left < 0 { return refuse(id, .tooLong) }
        stream.window.received(count)
        switch stream.state {
        case .waiting, .judging: return refuse(id, .brokenHTTP2(.protocolError))
        case .body:
            streams[id] = stream
            return .data
        case .paused:
            stream.held += count
            totalHeld += count
            streams[id] = stream
            return .held
        case .draining: return .nothing
        }
    }

    /// The server has ended the stream, as it should (END_STREAM).
    package mutating func ended(_ id: HTTP2StreamID, at now: Instant) -> Ending? {
        guard let stream = streams[id], stream.ending == nil else { return nil }
        switch stream.state {
        case .draining:
            remove(id, at: now)
            return nil
        case .waiting, .judging: return end(id, .failed(.brokenHTTP2(.protocolError)), at: now)
        case .body, .paused:
            let isWhole = stream.left.map { $0 == 0 } ?? true
            if isWhole { served += 1 }
            return end(id, isWhole ? .complete : .failed(.wrongStreamLength), at: now)
        }
    }

    /// The stream was closed otherwise: by the server, or because it broke the rules.
    package mutating func closed(
        _ id: HTTP2StreamID, _ code: HTTP2Code, byPeer isByPeer: Bool, at now: Instant
    ) -> Ending? {
        guard let stream = streams[id], stream.ending == nil else { return nil }
        if stream.isDraining {
            remove(id, at: now)
            return nil
        }
        let hasHead = stream.state != .waiting
        guard isByPeer else {
            let isLength = hasHead && stream.left != nil
            return end(id, .failed(isLength ? .wrongStreamLength : .brokenHTTP2(code)), at: now)
        }
        switch code {
        case .enhanceYourCalm: return end(id, .failed(.calm), at: now)
        case .requiresHTTP1 where !hasHead: return end(id, .retry(.http1), at: now)
        case .refusedStream where !hasHead:
            let others = streams.count - 1
            // One that refuses its only stream takes no other either.
            if others == 0 { isUsedUp = true } else { limit = min(limit, others) }
            return end(id, unhandled(stream), at: now)
        case .none where hasHead: return end(id, .failed(.streamEndedEarly), at: now)
        case _: return end(id, .failed(.streamReset(hasHead ? .truncated : .connectionLost, code)), at: now)
        }
    }

    /// The server takes no more streams, and has not handled those above `last`.
    package mutating func goAway(last: HTTP2StreamID, _ code: HTTP2Code, at now: Instant) -> [Ended] {
        goAway = code
        return streams.keys.filter { $0 > last }.sorted().compactMap { id in
            guard let stream = streams[id], !stream.isDraining, stream.ending == nil else {
                if streams[id]?.isDraining == true { remove(id, at: now) }
                return nil
            }
            let ending: Ending =
                if stream.state != .waiting {
                    .failed(.streamEndedEarly)
                } else if code == .enhanceYourCalm {
                    .failed(.calm)
                } else if code == .requiresHTTP1 {
                    .retry(.http1)
                } else {
                    unhandled(stream)
                }
            return end(id, ending, at: now).map { Ended(stream: id, ending: $0) }
        }
    }

    /// How many streams such a connection may have, if the server closes it after a number of them.
    package func learned(last: HTTP2StreamID, _ code: HTTP2Code) -> Int? {
        code == .none && opened > 0 && streams.keys.contains { $0 > last } ? (Int(last.rawValue) + 1) / 2 : nil
    }

    /// The server has not handled the request.
    private func unhandled(_ stream: Stream) -> Ending {
        if served > 0 { return .retry(.anotherConnection(isFree: true)) }
        let isLast = stream.refusals >= HTTP2Limits.mostRefusals
        return isLast ? .failed(.refusedStream) : .retry(.anotherConnection(isFree: false))
    }

    /// The server broke the rules: the reason for `lost`.
    package func broken(_ code: HTTP2Code) -> TransferFault { .brokenHTTP2(code) }

    /// So many bytes are not sent.
    ///
    /// Returns why the connection ends.
    package func unsent(_ count: Int) -> TransferFault? { count > HTTP2Limits.longestOutput ? .unreadOutput : nil }

    /// The connection is closed, or of no use any more.
    ///
    /// Receivers that have paused get what they did not take.
    package mutating func lost(_ fault: TransferFault, at now: Instant) -> [Ended] {
        isClosed = true
        return streams.keys.sorted().compactMap { id in
            guard let stream = streams[id], stream.ending == nil else { return nil }
            if stream.isDraining {
                remove(id, at: now)
                return nil
            }
            let ending: Ending =
                switch (goAway, stream.state) {
                case (.some(.enhanceYourCalm), _): .failed(.calm)
                case (.some(.requiresHTTP1), .waiting): .retry(.http1)
                // As with HTTP/1.1, once; the first requests of a connection fail, since a second one may do no better.
                case (_, .waiting) where served > 0 && stream.refusals == 0 && fault.kind != .malformed:
                    .retry(.anotherConnection(isFree: false))
                case (_, .waiting): .failed(fault)
                case _ where fault.kind == .malformed: .failed(fault)
                case _: .failed(TransferFault(.truncated, fault.cause))
                }
            return end(id, ending, at: now).map { Ended(stream: id, ending: $0) }
        }
    }
}
