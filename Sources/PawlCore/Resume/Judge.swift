/// Decides, from the request and the head of its answer, what may be done with the body before its first byte is written.
///
/// Offsets here are those of the resource, as they stand in headers.
package struct Judge: Hashable, Sendable {
    /// What was asked for.
    package var asked: RequestedRange
    /// What the bytes that we have belong to; `nil` when we have none and know nothing.
    package var known: ContentIdentity?
    /// The bytes on disk, when they are one run from the beginning of what is wanted: the end of it.
    package var have: Int64?
    /// The file name, once there is one.
    package var name: String?

    package init(asked: RequestedRange, known: ContentIdentity?, have: Int64? = nil, name: String? = nil) {
        self.asked = asked
        self.known = known
        self.have = have
        self.name = name
    }

    /// An answer whose body is what it should be.
    package struct Answer: Hashable, Sendable {
        /// Where the body lies in the resource; the end is `SegmentMap.open` while nobody knows it.
        package var range: ByteRange
        package var identity: ContentIdentity
        package var match: Match
        /// Whether Range requests are worth trying: said so or shown, denied, or not said.
        package var ranges: RangeSupport
    }

    package enum RangeSupport: Hashable, Sendable {
        case shown
        case unstated
        case denied
    }

    package enum Verdict: Hashable, Sendable {
        case usable(Answer)
        /// The whole content came although a later part was asked for: good from 0 or not at all.
        case wholeInstead(Answer, evidence: Wording)
        /// The content is another now.
        case changed(evidence: Wording)
        /// Everything is there already.
        case complete(total: Int64)
        /// This server cannot be asked for ranges.
        case rangesBroken(evidence: Wording)
        case redirect(to: String)
        case fault(AttemptFault)
    }

    package func verdict(on head: ResponseHead, wallTime: UnixTime) -> Verdict {
        if head.hasContradictoryLength, head.status == 200 || head.status == 206 {
            return .fault(.unproven("it gives lengths that contradict each other"))
        }
        if let length = head.longest, length > JournalLayout.longestFile {
            return .fault(.unproven("it says that there are \(length) bytes, which no file of ours can have"))
        }
        return switch head.status {
        case 0: fileAnswer(head)
        case 200: wholeAnswer(head)
        case 206: partialAnswer(head)
        case 301, 302, 303, 307, 308:
            head.location.map { .redirect(to: $0) }
                ?? .fault(.badRedirect("status \(head.status) without Location"))
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

    /// `nil` where only the answer can tell.
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

    private func identity(of head: ResponseHead, total: Int64?) -> ContentIdentity {
        ContentIdentity(total: total, entityTag: head.entityTag, lastModified: head.lastModified)
    }

    /// FTP and SFTP name a size and a time and obey the offset or fail; nothing in the answer proves the offset, so the
    /// overlap has to.
    private func fileAnswer(_ head: ResponseHead) -> Verdict {
        let said = identity(of: head, total: head.contentLength)
        let match = known.map { $0.match(said) } ?? .soft
        if case .changed(let evidence) = match { return .changed(evidence: evidence) }
        let total = head.contentLength ?? SegmentMap.open
        let start = askedStart(in: total)
        guard start <= total else {
            return .changed(evidence: "it has \(total) bytes, fewer than the \(start) on disk")
        }
        if start == total, start > 0 { return .complete(total: total) }
        let range = ByteRange(start, min(askedEnd, total))
        return .usable(Answer(range: range, identity: said, match: match, ranges: .shown))
    }

    private func wholeAnswer(_ head: ResponseHead) -> Verdict {
        // A coded body has a length and tags of its own; it can be taken whole, never in parts.
        let isCoded = head.contentEncoding != nil
        let said = identity(of: head, total: head.contentLength)
        let match = known.map { $0.match(said) } ?? .same
        if known != nil, match != .same, let type = pageType(head) {
            return .fault(.page("it answered with a web page (\(type))"))
        }
        let end = head.contentLength ?? SegmentMap.open
        let denied = isCoded || head.acceptRanges == .none
        let answer = Answer(
            range: ByteRange(0, end),
            identity: said,
            match: match,
            ranges: denied ? .denied : head.acceptRanges == .bytes ? .shown : .unstated
        )
        guard askedStart == 0 else {
            return .wholeInstead(answer, evidence: "the server ignored Range and sent the whole file")
        }
        if case .changed(let evidence) = match { return .wholeInstead(answer, evidence: evidence) }
        return .usable(answer)
    }

    private func partialAnswer(_ head: ResponseHead) -> Verdict {
        if head.isMultipart {
            return .rangesBroken(evidence: "the server answered one range with multipart/byteranges")
        }
        if let coding = head.contentEncoding {
            return .rangesBroken(evidence: "the server sent a range with Content-Encoding \(coding)")
        }
        switch head.contentRange {
        case .absent: return .rangesBroken(evidence: "status 206 came without Content-Range")
        case .malformed(let text): return .rangesBroken(evidence: "Content-Range is malformed: \(text)")
        case .unsatisfied: return .rangesBroken(evidence: "status 206 came with the Content-Range of a 416")
        case .range(let range, let total): return partialAnswer(head, range: range, total: total)
        }
    }

    private func partialAnswer(_ head: ResponseHead, range: ByteRange, total: Int64?) -> Verdict {
        let said = identity(of: head, total: total)
        let match = known.map { $0.match(said) } ?? .same
        // The content first: after a change an offset that no longer fits is a consequence.
        if case .changed(let evidence) = match { return .changed(evidence: evidence) }
        if let start = askedStart, range.start != start {
            return .rangesBroken(evidence: "the server sent bytes from \(range.start) instead of \(start)")
        }
        if case .suffix(let count) = asked, !isSuffix(range, of: total, count: count) {
            return .rangesBroken(evidence: "the server sent \(range) instead of the last \(count) bytes")
        }
        guard range.end <= askedEnd, range.end <= total ?? SegmentMap.open, !range.isEmpty else {
            return .rangesBroken(
                evidence:
                    "the server sent \(range) of \(total.map(String.init) ?? "*") bytes, more than asked"
            )
        }
        if let length = head.contentLength, length != range.count {
            return .rangesBroken(evidence: "Content-Length \(length) does not fit Content-Range \(range)")
        }
        if asked == .whole, total != range.end {
            return .rangesBroken(evidence: "the server sent a part although the whole was asked for")
        }
        return .usable(Answer(range: range, identity: said, match: match, ranges: .shown))
    }

    /// Whether these are the last `count` bytes, or all of a shorter resource; without a total the number has to show it.
    private func isSuffix(_ range: ByteRange, of total: Int64?, count: Int64) -> Bool {
        if let total { return range == ByteRange(max(0, total - count), total) }
        return range.count == count || range.start == 0 && range.count < count
    }

    private func unsatisfiedAnswer(_ head: ResponseHead) -> Verdict {
        guard asked != .whole, known != nil || have != nil else {
            return .fault(.status(416, retryAfter: nil))
        }
        guard case .unsatisfied(let total) = head.contentRange else {
            return .rangesBroken(evidence: "the server refuses every range (416)")
        }
        if let before = known?.total, before != total {
            return .changed(evidence: "it had \(before) bytes and has \(total) now")
        }
        if total == have { return .complete(total: total) }
        if let start = askedStart, start >= total {
            return .changed(evidence: "it has \(total) bytes, fewer than the \(start) that were expected")
        }
        return .rangesBroken(evidence: "the server refuses bytes from \(askedStart ?? 0) of \(total) (416)")
    }

    /// A login or error page that comes with status 200 where other content is known to be.
    private func pageType(_ head: ResponseHead) -> String? {
        guard let type = head.contentType?.lowercased(), type.hasPrefix("text/html") else { return nil }
        guard let name = name?.lowercased() else { return type }
        let isExpected = name.hasSuffix(".html") || name.hasSuffix(".htm") || !name.contains(".")
        return isExpected ? nil : type
    }
}

extension ResponseHead {
    /// The greatest length that it speaks of.
    fileprivate var longest: Int64? {
        switch contentRange {
        case .range(let range, let total): total ?? range.end
        case .unsatisfied(let total): total
        case .absent, .malformed: contentLength
        }
    }
}
