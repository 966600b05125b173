// Responses 206 and 416.
package import PawlBase

extension Judge {
    func partialResponse(_ head: ResponseHead) -> Verdict {
        if head.isMultipart {
            return .rangesBroken(
                evidence: .init("range-multipart", "the server responded to a single range with multipart/byteranges"))
        }
        if let coding = head.contentEncoding {
            return .rangesBroken(
                evidence: .init("range-encoded", "the server sent a range with Content-Encoding \(coding)"))
        }
        switch head.contentRange {
        case .absent: return .rangesBroken(evidence: .init("content-range-missing", "status 206 without Content-Range"))
        case .malformed(let text):
            return .rangesBroken(evidence: .init("content-range-malformed", "Content-Range is malformed: \(text)"))
        case .unsatisfied:
            return .rangesBroken(
                evidence: .init("content-range-unsatisfied", "status 206 with the Content-Range of a 416"))
        case .range(let range, let total): return partialResponse(head, range: range, total: total)
        }
    }

    private func partialResponse(_ head: ResponseHead, range: ByteRange, total: Int64?) -> Verdict {
        let identity = ContentIdentity(head, total: total)
        let evidence = evidence(identity)
        // The content first: after a change an offset that does not fit is a consequence.
        if case .changed(let change) = evidence { return pagePart(identity) ?? .changed(evidence: change) }
        if let start = requestedStart, range.start != start {
            return .rangesBroken(
                evidence: .init("range-wrong-start", "the server sent bytes from \(range.start) instead of \(start)"))
        }
        if case .suffix(let count) = requested, !isSuffix(range, of: total, count: count) {
            return .rangesBroken(
                evidence: .init("range-wrong-suffix", "the server sent \(range) instead of the last \(count) bytes"))
        }
        guard range.end <= requestedEnd, range.end <= total ?? ByteRange.open, !range.isEmpty else {
            return .rangesBroken(
                evidence: .init(
                    "range-exceeded",
                    "the server sent \(range) of \(total.map(String.init) ?? "*") bytes, more than requested"))
        }
        if let length = head.contentLength, length != range.count {
            return .rangesBroken(
                evidence: .init(
                    "content-length-contradicts-range", "Content-Length \(length) does not fit Content-Range \(range)"))
        }
        if requested == .whole, total != range.end {
            return .rangesBroken(
                evidence: .init("range-not-requested", "the server sent a part although the whole file was requested"))
        }
        return .usable(AcceptedResponse(range: range, identity: identity, evidence: evidence, ranges: .shown))
    }

    /// Whether these are the last `count` bytes, or all of a shorter resource; without a total the count has
    /// to show it.
    private func isSuffix(_ range: ByteRange, of total: Int64?, count: Int64) -> Bool {
        if let total { return range == ByteRange(max(0, total - count), total) }
        return range.count == count || range.start == 0 && range.count < count
    }

    func unsatisfiedResponse(_ head: ResponseHead) -> Verdict {
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
        if total == have { return .complete(total: total, isProven: evidence == .strong || evidence == .dated) }
        if let start = requestedStart, start >= total {
            return .changed(
                evidence: .init(
                    "size-below-expected", "it has \(total) bytes, fewer than the \(start) that were expected"))
        }
        let refusal = Self.refusal(from: requestedStart ?? 0, of: total)
        return known?.total == total ? .validRangeRefused(evidence: refusal) : .rangesBroken(evidence: refusal)
    }

    /// 416 while nothing is known of the content: a range without an end may be all that is refused.
    private func unsatisfiedStart(_ head: ResponseHead) -> Verdict {
        let isOpen = if case .from = requested { true } else { false }
        guard case .unsatisfied(let total) = head.contentRange else {
            return isOpen ? .openRangeRefused(evidence: Self.refusal) : .fault(.status(416, retryAfter: nil))
        }
        guard requested != .whole, let start = requestedStart, start < total else {
            return .fault(.status(416, retryAfter: nil))
        }
        let refusal = Self.refusal(from: start, of: total)
        return isOpen ? .openRangeRefused(evidence: refusal) : .fault(.rangeRefused(refusal))
    }

    /// A part without bytes is beyond the end.
    package static func noByte(from start: Int64) -> LocalizableMessage {
        LocalizableMessage("part-without-bytes", "it has no byte from \(start) on")
    }

    private static var refusal: LocalizableMessage {
        LocalizableMessage("ranges-refused", "the server refuses every range (416)")
    }

    private static func refusal(from start: Int64, of total: Int64) -> LocalizableMessage {
        LocalizableMessage("range-refused", "the server refuses bytes from \(start) of \(total) (416)")
    }
}
