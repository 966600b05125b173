import PawlBase

/// The response to one request: a header section, and the body that really follows.
struct SimulatedResponse: Sendable {
    var head: ResponseHead
    var payload: Payload
    /// The offset of the body in the payload, and its length.
    var start: Int64
    var length: Int64
    /// The event after this many bytes of the body.
    var fault: (after: Int64, end: TransferFault?)?
    /// Bytes per second; `nil` for the server's rate.
    var rate: Int64?
}

extension SimulatedNetwork.State {
    mutating func latency(of host: String) -> Interval {
        guard let server = servers[host] else { return .milliseconds(5) }
        return server.isUneven ? server.latency * (0.5 + dice.fraction()) : server.latency
    }

    mutating func fare(of request: TransferRequest, running: Int) -> SimulatedNetwork.Fare {
        asFile(stating(response(to: request, running: running), of: request.address.host), of: request)
    }

    /// Some responses state that no further request is allowed for a while.
    private func stating(_ fare: SimulatedNetwork.Fare, of host: String) -> SimulatedNetwork.Fare {
        guard case .responded(var response) = fare, let quota = servers[host]?.quota, (served[host] ?? 0) % quota == 0
        else { return fare }
        response.head.rateLimit = RateLimitFields()
        response.head.rateLimit?.limit = "\"world\";r=0;t=1"
        return .responded(response)
    }

    private mutating func response(to request: TransferRequest, running: Int) -> SimulatedNetwork.Fare {
        let host = request.address.host
        guard isUp else { return .failed(TransferFault(.unreachable, foreign: "no route to \(host)")) }
        guard let server = servers[host] else {
            return .failed(TransferFault(.nameResolution, foreign: "\(host) is unknown"))
        }
        let number = served[host] ?? 0
        served[host] = number + 1
        if let most = server.connections, running >= most {
            switch server.overflow {
            case .refuse: return .failed(TransferFault(.connectionRefused, foreign: "\(host) refused the connection"))
            case .busy(let retryAfter): return .responded(plain(503, retryAfter: retryAfter))
            case .deny:
                tally.note("requests denied beyond the connection limit")
                return .responded(plain(403))
            case .drop: return .failed(TransferFault(.connectionLost, foreign: "the connection was lost"))
            }
        }
        let drawn = server.luck > 0 ? server.chances.first { $0.odds > 0 && dice.fraction() < $0.odds } : nil
        if drawn != nil { servers[host]?.luck -= 1 }
        let fault = server.always ?? server.faults[number] ?? drawn?.fault
        guard let file = server.files[request.address.path] else { return .responded(plain(404)) }
        if file.pagesLeft > 0 {
            servers[host]?.files[request.address.path]?.pagesLeft -= 1
            tally.note("pages right after a change")
            return .responded(page(isDisguised: sabotage == .disguisesLatePages))
        }
        switch fault {
        case .refused: return .failed(TransferFault(.connectionRefused, foreign: "\(host) refused the connection"))
        case .dropped: return .failed(TransferFault(.connectionLost, foreign: "the connection was lost"))
        case .silent: return .silent
        case .status(let status, let retryAfter): return .responded(plain(status, retryAfter: retryAfter))
        case .page where request.range != .whole && file.mayBeAPage:
            if number.isMultiple(of: 2), let part = taggedPart(file, request.range) {
                tally.note("pages with the tag of the content")
                return .responded(pagePart(file, part))
            }
            tally.note("pages instead of parts")
            return .responded(page())
        case .refusesRange where request.range != .whole:
            tally.note("valid ranges refused")
            var response = plain(416)
            response.head.contentRange = .unsatisfied(total: file.payload.length)
            return .responded(response)
        case .page, .refusesRange, .reset, .truncated, .stalled, .crawls, nil: break
        }
        if let response = hop(from: request.address, file) { return .responded(response) }
        let made = atNode(of: remade(file, request.address.path))
        guard var response = self.made(made, request.range) else { return .silent }
        if sabotage == .withholdsEnds || sabotage == .restartsFailed { response.fault = (response.length - 1, nil) }
        if let most = file.breaksAfter, response.length > most {
            tally.note("responses that broke after the bytes to compare or before")
            let after = sabotage == .breaksAtOnce ? 0 : most
            response.fault = (after, TransferFault(.connectionLost, foreign: "the connection was reset"))
        }
        switch fault {
        case .reset(let after):
            response.fault = (after, TransferFault(.connectionLost, foreign: "the connection was reset"))
        case .truncated(let after):
            response.fault = (after, TransferFault(.truncated, foreign: "the connection was closed early"))
        case .stalled(let after): response.fault = (after, nil)
        case .crawls(let rate): response.rate = rate
        case .refused, .dropped, .silent, .status, .page, .refusesRange, nil: break
        }
        return .responded(response)
    }

    /// `isDisguised`: as if it were the next version of the file.
    private func page(isDisguised: Bool = false) -> SimulatedResponse {
        var response = plain(200)
        response.payload = Payload(text: "{\"error\": \"not today\"}\n")
        response.length = response.payload.length
        response.head.contentLength = response.length
        response.head.contentType = isDisguised ? nil : "application/json"
        if isDisguised { response.head.lastModified = UnixTime(seconds: 1_700_000_001) }
        return response
    }

    /// The part of which a page may be sent with all the fields of the content but the type.
    private func taggedPart(_ file: SimulatedFile, _ requested: RequestedRange) -> ByteRange? {
        let wanted = wanted(requested, total: file.payload.length)
        // Of a first response nobody can tell.
        return file.mayBeATaggedPage && file.ranges == .honoured && wanted.start > 0 && !wanted.isEmpty ? wanted : nil
    }

    private mutating func pagePart(_ file: SimulatedFile, _ range: ByteRange) -> SimulatedResponse {
        var response = part(file, range)
        if sabotage != .disguisesTaggedPages { response.head.contentType = "application/json" }
        response.payload = Payload(seed: 1, length: file.payload.length)
        return response
    }

    /// The file as it is generated for one response.
    private mutating func remade(_ file: SimulatedFile, _ path: String) -> SimulatedFile {
        guard file.isRemade else { return file }
        tags += 1
        var made = file
        made.payload = Payload(seed: UInt64(tags) &* 7919 &+ 5, length: file.payload.length)
        note(made.payload, of: path)
        tally.note("contents generated for one response")
        return made
    }

    /// The file as the backend that serves this request has it.
    private mutating func atNode(of file: SimulatedFile) -> SimulatedFile {
        guard let bad = file.badNode, dice.fraction() < bad.odds else { return file }
        badNodes += 1
        var file = file
        file.payload = bad.payload
        return file
    }

    private func plain(_ status: Int, retryAfter: String? = nil) -> SimulatedResponse {
        var head = ResponseHead(status: status)
        head.retryAfter = retryAfter
        head.contentLength = 9
        head.contentType = "text/plain"
        return SimulatedResponse(head: head, payload: Payload(text: "go away!\n"), start: 0, length: 9)
    }

    /// The first redirect of a URL, and the handling of an expired token.
    private mutating func hop(from address: WebAddress, _ file: SimulatedFile) -> SimulatedResponse? {
        if !file.hops.isEmpty {
            tags += 1
            var response = plain(302)
            let scheme = address.scheme == .https ? "https" : "http"
            response.head.location = "\(scheme)://\(file.hops[tags % file.hops.count])\(address.path)"
            tally.note("redirects to another host")
            return response
        }
        guard let life = file.tokenLife else { return nil }
        if let token = address.query {
            tokens[token, default: 0] += 1
            return tokens[token, default: 0] > life ? plain(403) : nil
        }
        tags += 1
        var response = plain(302)
        response.head.location = "\(address.path)?token=\(tags)"
        return response
    }

    /// Returns `nil` for no response at all.
    private mutating func made(_ file: SimulatedFile, _ requested: RequestedRange) -> SimulatedResponse? {
        if let location = file.location {
            var response = plain(302)
            response.head.location = location
            return response
        }
        if let status = file.status { return plain(status) }
        if requested != .whole, file.codesRanges {
            tally.note("coded responses to parts")
            var response = whole(file)
            if sabotage == .hidesPartCodings { response.head.contentEncoding = nil }
            return response
        }
        guard requested != .whole, file.ranges != .ignored else { return whole(file) }
        let total = file.payload.length
        let wanted = wanted(requested, total: total)
        switch file.ranges {
        case .ignored, .silent: return nil
        case .refused: return plain(416)
        case .capped(let most), .cappedUntold(let most):
            let count = sabotage == .shortensParts ? 100 : most
            return part(file, ByteRange(wanted.start, min(wanted.end, wanted.start + count)))
        case .shifted(let distance):
            let start = max(0, min(total, wanted.start + distance))
            return part(file, ByteRange(start, max(start, wanted.end)))
        case .overlong(let count): return part(file, ByteRange(wanted.start, min(total, wanted.end + count)))
        case .honoured, .untoldTotal, .multipart, .unlabelled, .malformed, .coded, .falseLength, .otherTotal:
            return part(file, wanted)
        }
    }

    private func wanted(_ requested: RequestedRange, total: Int64) -> ByteRange {
        switch requested {
        case .whole: ByteRange(0, total)
        case .from(let start): ByteRange(min(start, total), total)
        case .closed(let range): ByteRange(min(range.start, total), min(range.end, total))
        case .suffix(let count): ByteRange(max(0, total - count), total)
        }
    }

    private mutating func whole(_ file: SimulatedFile) -> SimulatedResponse {
        var head = head(200, file)
        if let coded = file.coded {
            head.contentEncoding = "gzip"
            tally.note("coded responses")
            return SimulatedResponse(head: head, payload: coded, start: 0, length: coded.length)
        }
        if file.statesLength { head.contentLength = file.payload.length }
        if file.ranges == .honoured { head.acceptRanges = .bytes }
        return SimulatedResponse(head: head, payload: file.payload, start: 0, length: file.payload.length)
    }

    private mutating func part(_ file: SimulatedFile, _ range: ByteRange) -> SimulatedResponse {
        let total = file.payload.length
        guard !range.isEmpty else {
            var response = plain(416)
            response.head.contentRange = .unsatisfied(total: total)
            return response
        }
        var head = head(206, file)
        head.contentLength = range.count
        head.contentRange = .range(range, total: total)
        disguise(&head, file, range)
        return SimulatedResponse(head: head, payload: file.payload, start: range.start, length: range.count)
    }

    /// Falsifies the header section of a partial response.
    private mutating func disguise(_ head: inout ResponseHead, _ file: SimulatedFile, _ range: ByteRange) {
        switch file.ranges {
        case .cappedUntold, .untoldTotal: head.contentRange = .range(range, total: nil)
        case .multipart:
            head.contentRange = .absent
            head.contentType = "multipart/byteranges; boundary=x"
        case .unlabelled: head.contentRange = .absent
        case .malformed: head.contentRange = .malformed("bytes somewhere")
        case .coded: head.contentEncoding = "gzip"
        case .falseLength: head.contentLength = range.count + 1
        case .otherTotal:
            tags += 1
            head.contentRange = .range(range, total: file.payload.length + Int64(tags))
        case .honoured, .capped, .ignored, .refused, .silent, .shifted, .overlong: break
        }
    }

    private mutating func head(_ status: Int, _ file: SimulatedFile) -> ResponseHead {
        var head = ResponseHead(status: status)
        head.entityTag = file.entityTag
        head.lastModified = file.lastModified
        let clock = UnixTime(seconds: 1_800_000_000 + now.nanoseconds / 1_000_000_000)
        switch file.dates {
        case .old: head.date = clock
        case .generated: (head.date, head.lastModified) = (clock, clock)
        case .undated: break
        }
        head.contentType = file.contentType
        head.contentDisposition = file.contentDisposition
        if file.renewsTag {
            tags += 1
            head.entityTag = EntityTag(opaque: "t\(tags)", isWeak: false)
        }
        return head
    }
}
