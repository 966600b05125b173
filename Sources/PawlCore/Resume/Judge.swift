/// Decides, from the request and the response's head, how the body may be used before its first byte is
/// written.
///
/// Offsets are the resource's, as in header fields.
package struct Judge: Hashable, Sendable {
    /// The requested range.
    package var asked: RequestedRange
    /// The representation that the bytes on disk are a part of; `nil` when there are none and nothing is
    /// known.
    package var known: Representation?
    /// The previous validators of the host of this request; `nil` when its bytes were never compared.
    package var record: ValidatorRecord?
    /// The end of the bytes on disk, when they are one run from the beginning of the requested part.
    package var have: Int64?
    /// The file name, once there is one.
    package var name: String?

    package init(
        asked: RequestedRange,
        known: Representation?,
        record: ValidatorRecord? = nil,
        have: Int64? = nil,
        name: String? = nil
    ) {
        self.asked = asked
        self.known = known
        self.record = record
        self.have = have
        self.name = name
    }

    /// A response whose body can be used.
    package struct AcceptedResponse: Hashable, Sendable {
        /// The body's range in the resource; the end is `SegmentMap.open` while unknown.
        package var range: ByteRange
        package var identity: ContentIdentity
        package var evidence: Evidence
        /// Whether Range requests are worth trying: supported, denied, or not stated.
        package var ranges: RangeSupport
    }

    package enum RangeSupport: Hashable, Sendable {
        case shown
        case unstated
        case denied
    }

    package enum Verdict: Hashable, Sendable {
        case usable(AcceptedResponse)
        /// The whole content was sent although a later part was requested: usable from 0 or not at all.
        case wholeInstead(AcceptedResponse, evidence: LocalizableMessage)
        /// The content changed.
        case changed(evidence: LocalizableMessage)
        /// All bytes are on disk already.
        case complete(total: Int64)
        /// This server's ranges cannot be used.
        case rangesBroken(evidence: LocalizableMessage)
        /// 416 without a length to a range without an end: the server may support only ranges with one.
        case openRangeRefused(evidence: LocalizableMessage)
        /// An HTML page instead of an HTML page, of another size: a new version if it comes twice.
        case suspectPage(AcceptedResponse, evidence: LocalizableMessage)
        case redirect(to: String)
        case fault(AttemptFault)
    }

    package func verdict(on head: ResponseHead, wallTime: UnixTime) -> Verdict {
        if head.hasContradictoryLength, head.status == 200 || head.status == 206 {
            return .fault(.unproven("it reports contradictory lengths"))
        }
        if let length = head.longest, length > JournalLayout.longestFile {
            return .fault(.unproven("it reports \(length) bytes, more than the longest supported file"))
        }
        return switch head.status {
        case 0: fileAnswer(head)
        case 200: wholeAnswer(head)
        case 206: partialAnswer(head)
        case 301, 302, 303, 307, 308: redirect(head)
        case 416: unsatisfiedAnswer(head)
        case let status:
            .fault(
                .status(
                    status,
                    retryAfter: head.retryAfter.flatMap {
                        RetryAfter.parse($0, now: head.date ?? wallTime)
                    }
                )
            )
        }
    }

    private func redirect(_ head: ResponseHead) -> Verdict {
        guard !head.hasContradictoryLocation else {
            return .fault(.badRedirect("status \(head.status) with two Location fields that differ"))
        }
        return head.location.map { .redirect(to: $0) }
            ?? .fault(.badRedirect("status \(head.status) without Location"))
    }

    /// `nil` where only the response can tell.
    private var askedStart: Int64? {
        if case .suffix = asked { nil } else { askedStart(in: 0) }
    }

    private func askedStart(in total: Int64) -> Int64 {
        switch asked {
        case .whole: 0
        case .from(let start): start
        case .closed(let range): range.start
        case .suffix(let count): max(0, total - count)
        }
    }

    private var askedEnd: Int64 {
        switch asked {
        case .whole, .from, .suffix: SegmentMap.open
        case .closed(let range): range.end
        }
    }

    /// The evidence that `identity` gives about the bytes on disk.
    private func evidence(_ identity: ContentIdentity) -> Evidence {
        guard let known else { return .strong }
        if let total = known.total, let other = identity.total, total != other {
            return .changed("it had \(total) bytes and has \(other) now")
        }
        guard known.coding == identity.coding else {
            let (before, now) = (known.coding ?? "identity", identity.coding ?? "identity")
            return .changed("its Content-Encoding was \(before) and is \(now) now")
        }
        return record?.evidence(for: identity.validators) ?? .weak
    }

    /// FTP and SFTP report a size and a time and obey the offset or fail; nothing in the response proves the
    /// offset, so the overlap has to.
    private func fileAnswer(_ head: ResponseHead) -> Verdict {
        let identity = ContentIdentity(head, total: head.contentLength)
        let evidence = known == nil ? .weak : evidence(identity)
        if case .changed(let change) = evidence { return .changed(evidence: change) }
        if head.contentLength == nil, case .suffix = asked {
            return .fault(
                .unproven("it does not report the length, which a request for the last bytes needs")
            )
        }
        let total = head.contentLength ?? SegmentMap.open
        let start = askedStart(in: total)
        guard start <= total else {
            return .changed(evidence: "it has \(total) bytes, fewer than the \(start) on disk")
        }
        if start == total, start > 0 { return .complete(total: total) }
        let range = ByteRange(start, min(askedEnd, total))
        return .usable(AcceptedResponse(range: range, identity: identity, evidence: evidence, ranges: .shown))
    }

    private func wholeAnswer(_ head: ResponseHead) -> Verdict {
        // A coded body has its own length and entity tag; it can be used whole, never in parts.
        let isCoded = head.contentEncoding != nil
        let identity = ContentIdentity(head, total: head.contentLength)
        let evidence = evidence(identity)
        let end = head.contentLength ?? SegmentMap.open
        let denied = isCoded || head.acceptRanges == .none
        let response = AcceptedResponse(
            range: ByteRange(0, end),
            identity: identity,
            evidence: evidence,
            ranges: denied ? .denied : head.acceptRanges == .bytes ? .shown : .unstated
        )
        if let verdict = pageVerdict(response) { return verdict }
        guard askedStart == 0 else {
            return .wholeInstead(response, evidence: "the server ignored Range and sent the whole file")
        }
        if case .changed(let change) = evidence { return .wholeInstead(response, evidence: change) }
        return .usable(response)
    }

    private func partialAnswer(_ head: ResponseHead) -> Verdict {
        if head.isMultipart {
            return .rangesBroken(evidence: "the server responded to a single range with multipart/byteranges")
        }
        if let coding = head.contentEncoding {
            return .rangesBroken(evidence: "the server sent a range with Content-Encoding \(coding)")
        }
        switch head.contentRange {
        case .absent: return .rangesBroken(evidence: "status 206 without Content-Range")
        case .malformed(let text): return .rangesBroken(evidence: "Content-Range is malformed: \(text)")
        case .unsatisfied: return .rangesBroken(evidence: "status 206 with the Content-Range of a 416")
        case .range(let range, let total): return partialAnswer(head, range: range, total: total)
        }
    }

    private func partialAnswer(_ head: ResponseHead, range: ByteRange, total: Int64?) -> Verdict {
        let identity = ContentIdentity(head, total: total)
        let evidence = evidence(identity)
        // The content first: after a change an offset that does not fit is a consequence.
        if case .changed(let change) = evidence { return .changed(evidence: change) }
        if let start = askedStart, range.start != start {
            return .rangesBroken(evidence: "the server sent bytes from \(range.start) instead of \(start)")
        }
        if case .suffix(let count) = asked, !isSuffix(range, of: total, count: count) {
            return .rangesBroken(evidence: "the server sent \(range) instead of the last \(count) bytes")
        }
        guard range.end <= askedEnd, range.end <= total ?? SegmentMap.open, !range.isEmpty else {
            return .rangesBroken(
                evidence:
                    "the server sent \(range) of \(total.map(String.init) ?? "*") bytes, more than requested"
            )
        }
        if let length = head.contentLength, length != range.count {
            return .rangesBroken(evidence: "Content-Length \(length) does not fit Content-Range \(range)")
        }
        if asked == .whole, total != range.end {
            return .rangesBroken(evidence: "the server sent a part although the whole file was requested")
        }
        return .usable(AcceptedResponse(range: range, identity: identity, evidence: evidence, ranges: .shown))
    }

    /// Whether these are the last `count` bytes, or all of a shorter resource; without a total the count has
    /// to show it.
    private func isSuffix(_ range: ByteRange, of total: Int64?, count: Int64) -> Bool {
        if let total { return range == ByteRange(max(0, total - count), total) }
        return range.count == count || range.start == 0 && range.count < count
    }

    private func unsatisfiedAnswer(_ head: ResponseHead) -> Verdict {
        guard asked != .whole, known != nil || have != nil else {
            return .fault(.status(416, retryAfter: nil))
        }
        guard case .unsatisfied(let total) = head.contentRange else {
            let refusal: LocalizableMessage = "the server refuses every range (416)"
            if case .from = asked { return .openRangeRefused(evidence: refusal) }
            return .rangesBroken(evidence: refusal)
        }
        if let before = known?.total, before != total {
            return .changed(evidence: "it had \(before) bytes and has \(total) now")
        }
        if case .changed(let change) = record?.evidence(for: Validators(head)) {
            return .changed(evidence: change)
        }
        if total == have { return .complete(total: total) }
        if let start = askedStart, start >= total {
            return .changed(evidence: "it has \(total) bytes, fewer than the \(start) that were expected")
        }
        return .rangesBroken(evidence: "the server refuses bytes from \(askedStart ?? 0) of \(total) (416)")
    }

    /// The verdict on a login or error page with status 200 in place of other known content.
    private func pageVerdict(_ response: AcceptedResponse) -> Verdict? {
        guard let known, response.evidence != .strong else { return nil }
        let hasOtherSize = known.total != response.identity.total
        guard let type = response.identity.mediaType, isPage(type) else {
            let records = known.records + [record].compactMap { $0 }
            guard hasOtherSize, response.identity.validators.isEmpty,
                records.contains(where: { !$0.validators.isEmpty })
            else { return nil }
            return .suspectPage(
                response,
                evidence: "its size differs, and it has neither ETag nor Last-Modified"
            )
        }
        if let before = known.mediaType, before != type {
            return .fault(.page("it responded with \(type) instead of \(before)"))
        }
        if known.mediaType == nil, !isExpected(type) {
            return .fault(.page("it responded with a page (\(type))"))
        }
        guard hasOtherSize else { return nil }
        return .suspectPage(response, evidence: "it responded with a page of another size (\(type))")
    }

    /// Whether servers and proxies send errors in this type.
    private func isPage(_ type: String) -> Bool {
        let pages = ["text/html", "text/plain", "text/xml", "application/json", "application/xml"]
        return pages.contains(type) || type.hasSuffix("+json") || type.hasSuffix("+xml")
    }

    /// Whether a file of this name may have the type, where its earlier type is unknown.
    private func isExpected(_ type: String) -> Bool {
        guard let name = name?.lowercased() else { return false }
        guard let dot = name.lastIndex(of: ".") else { return true }
        let ending = String(name[name.index(after: dot)...])
        switch type {
        case "text/html", "application/xhtml+xml": return ["html", "htm", "xhtml"].contains(ending)
        case "text/plain": return !["html", "htm"].contains(ending)
        default: return type.hasSuffix(ending)
        }
    }
}

extension ResponseHead {
    /// The greatest length that the head states.
    fileprivate var longest: Int64? {
        let lengths: [Int64?] =
            switch contentRange {
            case .range(let range, let total): [range.end, total]
            case .unsatisfied(let total): [total]
            case .absent, .malformed: []
            }
        return (lengths + [contentLength]).compactMap { $0 }.max()
    }
}
