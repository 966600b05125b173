package import PawlBase

/// What a download received, and has discarded: an error page in its place is not a new version.
package struct FormerContent: Hashable, Sendable {
    package var mediaType: String?
    /// Whether the source of the response to judge sent an entity tag or a date; of a page, whether any source did.
    package var hasValidators = false
    /// What its last response was instead: the same again is a new version.
    package var suspect: SuspectPage?

    package init(mediaType: String? = nil, hasValidators: Bool = false, suspect: SuspectPage? = nil) {
        self.mediaType = mediaType
        self.hasValidators = hasValidators
        self.suspect = suspect
    }
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
    package var former: FormerContent?
    /// See ``DownloadPlan/takesEverySuccess``.
    package var takesEverySuccess = false

    package init(
        requested: RequestedRange, known: Representation?, record: ValidatorRecord? = nil, have: Int64? = nil,
        held: Int64 = 0, name: String? = nil
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
        /// The body's range in the resource; the end is `ByteRange.open` while unknown.
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
        if let length = head.longest, length > ByteRange.longestFile {
            return .fault(
                .unproven(.init("size-unsupported", "it reports \(length) bytes, more than the longest supported file"))
            )
        }
        return switch head.status {
        case 0: fileResponse(head)
        case 200: wholeResponse(head)
        case 206 where takesEverySuccess && !head.statesRange: wholeResponse(head)
        case 206: partialResponse(head)
        case 301, 302, 303, 307, 308: redirect(head)
        case 416: unsatisfiedResponse(head)
        case 201..<300 where takesEverySuccess && head.status != 204 && head.status != 205: wholeResponse(head)
        case let status: .fault(.status(status, retryAfter: retryAfter(head, wallTime: wallTime)))
        }
    }

    private func retryAfter(_ head: ResponseHead, wallTime: UnixTime) -> Interval? {
        // Where both are sent, Retry-After counts.
        let wait = head.retryAfter.flatMap { RetryAfter.parse($0, now: head.date ?? wallTime) }
        return wait ?? head.quotaWait(wallTime: wallTime)
    }

    private func redirect(_ head: ResponseHead) -> Verdict {
        guard !head.hasContradictoryLocation else {
            return .fault(
                .badRedirect(
                    .init("redirect-two-locations", "status \(head.status) with two Location fields that differ")))
        }
        return head.location.map { .redirect(to: $0) }
            ?? .fault(.badRedirect(.init("redirect-without-location", "status \(head.status) without Location")))
    }

    /// `nil` where only the response can tell.
    var requestedStart: Int64? { if case .suffix = requested { nil } else { requestedStart(in: 0) } }

    private func requestedStart(in total: Int64) -> Int64 {
        switch requested {
        case .whole: 0
        case .from(let start): start
        case .closed(let range): range.start
        case .suffix(let count): max(0, total - count)
        }
    }

    var requestedEnd: Int64 {
        switch requested {
        case .whole, .from, .suffix: ByteRange.open
        case .closed(let range): range.end
        }
    }

    /// The evidence that `identity` gives about the bytes on disk.
    func evidence(_ identity: ContentIdentity) -> Evidence {
        guard let known else { return .strong }
        guard known.coding == identity.coding else {
            let (before, now) = (known.coding ?? "identity", identity.coding ?? "identity")
            return .changed(.init("content-encoding-changed", "its Content-Encoding was \(before) and is \(now) now"))
        }
        if let total = known.total, let other = identity.total, total != other {
            return .changed(.sizeChanged(from: total, to: other))
        }
        let evidence = record?.evidence(for: identity.validators) ?? .weak
        // A page may have the tag of what it replaces; a program may label a part as a page: its bytes decide.
        return pagePart(identity) != nil && (evidence == .strong || evidence == .dated) ? .weak : evidence
    }

    /// FTP and SFTP report a size and a time and obey the offset or fail; nothing in the response proves the
    /// offset, so the overlap has to.
    private func fileResponse(_ head: ResponseHead) -> Verdict {
        let identity = ContentIdentity(head, total: head.contentLength)
        let evidence = known == nil ? .weak : evidence(identity)
        if case .changed(let change) = evidence { return .changed(evidence: change) }
        let total = head.contentLength ?? ByteRange.open
        let start = requestedStart(in: total)
        if start > 0, start == total, have == total { return .complete(total: total, isProven: false) }
        guard start < total || start == 0 else {
            guard let have, have >= start else {
                // A file without a length that sends nothing from there seems to end there.
                return .fault(
                    .unproven(
                        total == start
                            ? Judge.noByte(from: start)
                            : .init("part-beyond-end", "it ends at \(total) bytes, before the requested part")))
            }
            return .changed(
                evidence: .init("size-below-offset", "it has \(total) bytes, fewer than the \(start) on disk"))
        }
        let range = ByteRange(start, min(requestedEnd, total))
        return .usable(AcceptedResponse(range: range, identity: identity, evidence: evidence, ranges: .shown))
    }

    private func wholeResponse(_ head: ResponseHead) -> Verdict {
        // Content-Range has no meaning with this status (RFC 9110 §14.4), but servers that send it send that
        // range.
        if case .range(let range, let total) = head.contentRange, range.start != 0 || range.end != total ?? range.end {
            return .rangesBroken(
                evidence: .init(
                    "part-with-status-200", "it sent status 200 with \(range) of \(total.map(String.init) ?? "*") bytes"
                ))
        }
        // A coded body has its own length and entity tag; it can be used whole, never in parts.
        let isCoded = head.contentEncoding != nil
        let identity = ContentIdentity(head, total: head.contentLength)
        let evidence = evidence(identity)
        let end = head.contentLength ?? ByteRange.open
        let denied = isCoded || head.acceptRanges == .none
        let response = AcceptedResponse(
            range: ByteRange(0, end), identity: identity, evidence: evidence,
            ranges: denied ? .denied : head.acceptRanges == .bytes ? .shown : .unstated)
        if let verdict = pageVerdict(response) { return verdict }
        // The same strong tag with another length contradicts itself: bytes are discarded for it only when it is repeated.
        if case .changed(let change) = evidence, held > 0, let known, let total = known.total, total != identity.total,
            known.coding == identity.coding, record?.evidence(for: identity.validators) == .strong
        {
            return .suspectPage(response, evidence: change)
        }
        guard requestedStart == 0 else {
            return .wholeInstead(
                response, evidence: .init("range-ignored", "the server ignored Range and sent the whole file"))
        }
        if case .changed(let change) = evidence { return .wholeInstead(response, evidence: change) }
        return .usable(response)
    }
}

extension ResponseHead {
    /// Whether it says which part of the resource it has.
    fileprivate var statesRange: Bool { if case .range = contentRange { true } else { isMultipart } }

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
