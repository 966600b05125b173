/// What a download received, and has discarded: an error page in its place is not a new version.
struct FormerContent: Hashable, Sendable {
    var mediaType: String?
    /// Whether the source of the response to judge sent an entity tag or a date; of a page, whether any source did.
    var hasValidators = false
    /// What its last response was instead: the same again is a new version.
    var suspect: SuspectPage?
}

/// Decides, from the request and the response's head, how the body may be used before its first byte is
/// written.
///
/// Offsets are the resource's, as in header fields.
package struct Judge: Hashable, Sendable {
    /// The requested range.
    package var requested: RequestedRange
    /// The representation that the bytes on disk are a part of; `nil` when there are none and nothing is
    /// known.
    package var known: Representation?
    /// The previous validators of the host of this request; `nil` when its bytes were never compared.
    package var record: ValidatorRecord?
    /// The end of the bytes on disk, when they are one run from the beginning of the requested part.
    package var have: Int64?
    /// How many bytes are on disk.
    package var held: Int64
    /// The file name, once there is one.
    package var name: String?
    /// The content of which nothing is on disk any more.
    var former: FormerContent?

    package init(
        requested: RequestedRange,
        known: Representation?,
        record: ValidatorRecord? = nil,
        have: Int64? = nil,
        held: Int64 = 0,
        name: String? = nil
    ) {
        self.requested = requested
        self.known = known
        self.record = record
        self.have = have
        self.held = held
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
        /// All bytes are on disk already, as many as the content has; `isProven`: and of its version.
        case complete(total: Int64, isProven: Bool)
        /// This server's ranges cannot be used.
        case rangesBroken(evidence: LocalizableMessage)
        /// 416 to a range without an end, without a length or with one beyond its start: the server may support
        /// only ranges with an end.
        case openRangeRefused(evidence: LocalizableMessage)
        /// 416 with the known length to a range within it: this server, or one of its nodes, refuses ranges,
        /// and the content is the same.
        case validRangeRefused(evidence: LocalizableMessage)
        /// An HTML page instead of an HTML page, of another size: a new version if it comes twice.
        case suspectPage(AcceptedResponse, evidence: LocalizableMessage)
        case redirect(to: String)
        case fault(AttemptFault)
    }

    package func verdict(on head: ResponseHead, wallTime: UnixTime) -> Verdict {
        if head.hasContradictoryLength, head.status == 200 || head.status == 206 {
            return .fault(.unproven(.init("lengths-contradict", "it reports contradictory lengths")))
        }
        if let refusal = head.refusal {
            return .fault(.refused(refusal, retryAfter: retryAfter(head, wallTime: wallTime)))
        }
        if let length = head.longest, length > JournalLayout.longestFile {
            return .fault(
                .unproven(
                    .init(
                        "size-unsupported",
                        "it reports \(length) bytes, more than the longest supported file"
                    )
                )
            )
        }
        return switch head.status {
        case 0: fileResponse(head)
        case 200: wholeResponse(head)
        case 206: partialResponse(head)
        case 301, 302, 303, 307, 308: redirect(head)
        case 416: unsatisfiedResponse(head)
        case let status: .fault(.status(status, retryAfter: retryAfter(head, wallTime: wallTime)))
        }
    }

    private func retryAfter(_ head: ResponseHead, wallTime: UnixTime) -> Interval? {
        head.retryAfter.flatMap { RetryAfter.parse($0, now: head.date ?? wallTime) }
    }

    private func redirect(_ head: ResponseHead) -> Verdict {
        guard !head.hasContradictoryLocation else {
            return .fault(
                .badRedirect(
                    .init(
                        "redirect-two-locations",
                        "status \(head.status) with two Location fields that differ"
                    )
                )
            )
        }
        return head.location.map { .redirect(to: $0) }
            ?? .fault(
                .badRedirect(.init("redirect-without-location", "status \(head.status) without Location"))
            )
    }

    /// `nil` where only the response can tell.
    private var requestedStart: Int64? {
        if case .suffix = requested { nil } else { requestedStart(in: 0) }
    }

    private func requestedStart(in total: Int64) -> Int64 {
        switch requested {
        case .whole: 0
        case .from(let start): start
        case .closed(let range): range.start
        case .suffix(let count): max(0, total - count)
        }
    }

    private var requestedEnd: Int64 {
        switch requested {
        case .whole, .from, .suffix: SegmentMap.open
        case .closed(let range): range.end
        }
    }

    /// The evidence that `identity` gives about the bytes on disk.
    private func evidence(_ identity: ContentIdentity) -> Evidence {
        guard let known else { return .strong }
        guard known.coding == identity.coding else {
            let (before, now) = (known.coding ?? "identity", identity.coding ?? "identity")
            return .changed(
                .init("content-encoding-changed", "its Content-Encoding was \(before) and is \(now) now")
            )
        }
        if let total = known.total, let other = identity.total, total != other {
            return .changed(.sizeChanged(from: total, to: other))
        }
        return record?.evidence(for: identity.validators) ?? .weak
    }

    /// FTP and SFTP report a size and a time and obey the offset or fail; nothing in the response proves the
    /// offset, so the overlap has to.
    private func fileResponse(_ head: ResponseHead) -> Verdict {
        let identity = ContentIdentity(head, total: head.contentLength)
        let evidence = known == nil ? .weak : evidence(identity)
        if case .changed(let change) = evidence { return .changed(evidence: change) }
        let total = head.contentLength ?? SegmentMap.open
        let start = requestedStart(in: total)
        if start > 0, start == total, have == total { return .complete(total: total, isProven: false) }
        guard start < total || start == 0 else {
            guard let have, have >= start else {
                // A file without a length that sends nothing from there seems to end there.
                return .fault(
                    .unproven(
                        total == start
                            ? Judge.noByte(from: start)
                            : .init("part-beyond-end", "it ends at \(total) bytes, before the requested part")
                    )
                )
            }
            return .changed(
                evidence: .init("size-below-offset", "it has \(total) bytes, fewer than the \(start) on disk")
            )
        }
        let range = ByteRange(start, min(requestedEnd, total))
        return .usable(AcceptedResponse(range: range, identity: identity, evidence: evidence, ranges: .shown))
    }

    private func wholeResponse(_ head: ResponseHead) -> Verdict {
        // Content-Range has no meaning with this status (RFC 9110 §14.4), but servers that send it send that
        // range.
        if case .range(let range, let total) = head.contentRange,
            range.start != 0 || range.end != total ?? range.end
        {
            return .rangesBroken(
                evidence: .init(
                    "part-with-status-200",
                    "it sent status 200 with \(range) of \(total.map(String.init) ?? "*") bytes"
                )
            )
        }
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
        // The same strong tag with another length contradicts itself: bytes are discarded for it only when it is repeated.
        if case .changed(let change) = evidence, held > 0, let known, let total = known.total,
            total != identity.total, known.coding == identity.coding,
            record?.evidence(for: identity.validators) == .strong
        {
            return .suspectPage(response, evidence: change)
        }
        guard requestedStart == 0 else {
            return .wholeInstead(
                response,
                evidence: .init("range-ignored", "the server ignored Range and sent the whole file")
            )
        }
        if case .changed(let change) = evidence { return .wholeInstead(response, evidence: change) }
        return .usable(response)
    }

    private func partialResponse(_ head: ResponseHead) -> Verdict {
        if head.isMultipart {
            return .rangesBroken(
                evidence: .init(
                    "range-multipart",
                    "the server responded to a single range with multipart/byteranges"
                )
            )
        }
        if let coding = head.contentEncoding {
            return .rangesBroken(
                evidence: .init("range-encoded", "the server sent a range with Content-Encoding \(coding)")
            )
        }
        switch head.contentRange {
        case .absent:
            return .rangesBroken(evidence: .init("content-range-missing", "status 206 without Content-Range"))
        case .malformed(let text):
            return .rangesBroken(
                evidence: .init("content-range-malformed", "Content-Range is malformed: \(text)")
            )
        case .unsatisfied:
            return .rangesBroken(
                evidence: .init("content-range-unsatisfied", "status 206 with the Content-Range of a 416")
            )
        case .range(let range, let total): return partialResponse(head, range: range, total: total)
        }
    }

    private func partialResponse(_ head: ResponseHead, range: ByteRange, total: Int64?) -> Verdict {
        let identity = ContentIdentity(head, total: total)
        let evidence = evidence(identity)
        // The content first: after a change an offset that does not fit is a consequence.
        if case .changed(let change) = evidence { return .changed(evidence: change) }
        if let start = requestedStart, range.start != start {
            return .rangesBroken(
                evidence: .init(
                    "range-wrong-start",
                    "the server sent bytes from \(range.start) instead of \(start)"
                )
            )
        }
        if case .suffix(let count) = requested, !isSuffix(range, of: total, count: count) {
            return .rangesBroken(
                evidence: .init(
                    "range-wrong-suffix",
                    "the server sent \(range) instead of the last \(count) bytes"
                )
            )
        }
        guard range.end <= requestedEnd, range.end <= total ?? SegmentMap.open, !range.isEmpty else {
            return .rangesBroken(
                evidence:
                    .init(
                        "range-exceeded",
                        "the server sent \(range) of \(total.map(String.init) ?? "*") bytes, more than requested"
                    )
            )
        }
        if let length = head.contentLength, length != range.count {
            return .rangesBroken(
                evidence: .init(
                    "content-length-contradicts-range",
                    "Content-Length \(length) does not fit Content-Range \(range)"
                )
            )
        }
        if requested == .whole, total != range.end {
            return .rangesBroken(
                evidence: .init(
                    "range-not-requested",
                    "the server sent a part although the whole file was requested"
                )
            )
        }
        return .usable(AcceptedResponse(range: range, identity: identity, evidence: evidence, ranges: .shown))
    }

    /// Whether these are the last `count` bytes, or all of a shorter resource; without a total the count has
    /// to show it.
    private func isSuffix(_ range: ByteRange, of total: Int64?, count: Int64) -> Bool {
        if let total { return range == ByteRange(max(0, total - count), total) }
        return range.count == count || range.start == 0 && range.count < count
    }

    private func unsatisfiedResponse(_ head: ResponseHead) -> Verdict {
        guard requested != .whole, known != nil || have != nil else { return unsatisfiedStart(head) }
        guard case .unsatisfied(let total) = head.contentRange else {
            if case .from = requested { return .openRangeRefused(evidence: Self.refusal) }
            return .rangesBroken(evidence: Self.refusal)
        }
        if let before = known?.total, before != total {
            return .changed(evidence: .sizeChanged(from: before, to: total))
        }
        let evidence = record?.evidence(for: Validators(head)) ?? .weak
        if case .changed(let change) = evidence { return .changed(evidence: change) }
        if total == have {
            return .complete(total: total, isProven: evidence == .strong || evidence == .dated)
        }
        if let start = requestedStart, start >= total {
            return .changed(
                evidence: .init(
                    "size-below-expected",
                    "it has \(total) bytes, fewer than the \(start) that were expected"
                )
            )
        }
        let refusal = Self.refusal(from: requestedStart ?? 0, of: total)
        return known?.total == total
            ? .validRangeRefused(evidence: refusal) : .rangesBroken(evidence: refusal)
    }

    /// 416 while nothing is known of the content: a range without an end may be all that is refused.
    private func unsatisfiedStart(_ head: ResponseHead) -> Verdict {
        let isOpen = if case .from = requested { true } else { false }
        guard case .unsatisfied(let total) = head.contentRange else {
            return isOpen
                ? .openRangeRefused(evidence: Self.refusal) : .fault(.status(416, retryAfter: nil))
        }
        guard requested != .whole, let start = requestedStart, start < total else {
            return .fault(.status(416, retryAfter: nil))
        }
        let refusal = Self.refusal(from: start, of: total)
        return isOpen ? .openRangeRefused(evidence: refusal) : .fault(.rangeRefused(refusal))
    }

    /// A part without bytes is beyond the end.
    static func noByte(from start: Int64) -> LocalizableMessage {
        LocalizableMessage("part-without-bytes", "it has no byte from \(start) on")
    }

    private static var refusal: LocalizableMessage {
        LocalizableMessage("ranges-refused", "the server refuses every range (416)")
    }

    private static func refusal(from start: Int64, of total: Int64) -> LocalizableMessage {
        LocalizableMessage("range-refused", "the server refuses bytes from \(start) of \(total) (416)")
    }

    /// The verdict on a login or error page with status 200 in place of other known content.
    private func pageVerdict(_ response: AcceptedResponse) -> Verdict? {
        guard let known else { return pageInsteadOfFormer(response) }
        guard response.evidence != .strong else { return nil }
        let size = response.identity.total
        // An unknown size is not another one, unless there are more bytes already.
        let hasOtherSize = known.total.map { $0 != size } ?? (size.map { $0 < held } ?? false)
        let isBare = hasOtherSize && response.identity.validators.isEmpty
        let bare = LocalizableMessage(
            "size-differs-no-validators",
            "its size differs, and it has neither ETag nor Last-Modified"
        )
        let type = response.identity.mediaType.flatMap { Self.isPage($0) ? $0 : nil }
        if isBare, wouldLoseBytes(to: response.identity), type == nil || type != known.mediaType {
            return .fault(.suspectPage(bare))
        }
        guard let type else {
            let records = known.records + [record].compactMap { $0 }
            let isFewer = size.map { $0 < held } ?? false
            guard isBare, isFewer || records.contains(where: { !$0.validators.isEmpty }) else { return nil }
            return .suspectPage(response, evidence: bare)
        }
        if let before = known.mediaType, before != type {
            return .fault(.page(Self.instead(type, of: before)))
        }
        if known.mediaType == nil, !isExpected(type) {
            return .fault(.page(Self.page(type)))
        }
        guard hasOtherSize else { return nil }
        return .suspectPage(
            response,
            evidence: .init("page-of-other-size", "it responded with a page of another size (\(type))")
        )
    }

    private func pageInsteadOfFormer(_ response: AcceptedResponse) -> Verdict? {
        guard let former else { return nil }
        if let type = response.identity.mediaType, Self.isPage(type), type != former.mediaType,
            !isExpected(type)
        {
            return .fault(.page(former.mediaType.map { Self.instead(type, of: $0) } ?? Self.page(type)))
        }
        let page = SuspectPage(total: response.identity.total, mediaType: response.identity.mediaType)
        guard former.hasValidators, response.identity.validators.isEmpty, page != former.suspect else {
            return nil
        }
        return .suspectPage(
            response,
            evidence: .init("no-validators-any-more", "it has neither ETag nor Last-Modified any more")
        )
    }

    private static func page(_ type: String) -> LocalizableMessage {
        LocalizableMessage("page-response", "it responded with a page (\(type))")
    }

    private static func instead(_ type: String, of before: String) -> LocalizableMessage {
        LocalizableMessage("page-instead-of-type", "it responded with \(type) instead of \(before)")
    }

    /// Whether less than what is on disk would replace it, from a host that had validators before.
    private func wouldLoseBytes(to identity: ContentIdentity) -> Bool {
        guard let record, !record.validators.isEmpty else { return false }
        return identity.total ?? 0 < held
    }

    /// Whether servers and proxies send errors in this type.
    static func isPage(_ type: String) -> Bool {
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
    /// The length of the whole resource, if a response that is about it states one.
    var resourceLength: Int64? {
        switch (self.status, self.contentRange) {
        case (200, .range(_, let total?)): total
        case (0, _), (200, _): self.contentLength
        case (206, .range(_, let total)): total
        case (416, .unsatisfied(let total)): total
        case _: nil
        }
    }

    /// The greatest length that the head states.
    fileprivate var longest: Int64? {
        let ranged: Int64? =
            switch contentRange {
            case .range(let range, let total): max(range.end, total ?? 0)
            case .unsatisfied(let total): total
            case .absent, .malformed: nil
            }
        guard let ranged, let contentLength else { return ranged ?? contentLength }
        return max(ranged, contentLength)
    }
}
