import PawlCore

extension Server {
    /// The answer without any fault.
    mutating func answer(_ asked: RequestedRange) -> Reply {
        guard asked != .whole else { return whole() }
        switch traits.ranges {
        case .ignored: return whole()
        case .silent: return Reply(opening: .never)
        case .refused(let saysTotal): return refusal(saysTotal: saysTotal)
        case .honoured, .capped, .cappedStar, .starTotal, .multipart, .noContentRange, .malformed, .shifted,
            .overlong, .coded, .lengthLies, .otherTotal:
            break
        }
        guard let range = resolved(asked) else { return refusal(saysTotal: true) }
        return part(range)
    }

    private func resolved(_ asked: RequestedRange) -> ByteRange? {
        let range = content.wished(asked)
        return range.isEmpty ? nil : range
    }

    private func validated(_ status: Int) -> ResponseHead {
        var head = ResponseHead(status: status)
        let version = "v\(content.epoch)"
        let date = UnixTime(seconds: 1_000_000 + Int64(content.epoch))
        switch traits.validators {
        case .strong: head.entityTag = EntityTag(opaque: version, isWeak: false)
        case .strongAndDate:
            head.entityTag = EntityTag(opaque: version, isWeak: false)
            head.lastModified = date
        case .weak: head.entityTag = EntityTag(opaque: version, isWeak: true)
        case .date: head.lastModified = date
        case .tokens:
            head.entityTag = EntityTag(opaque: "\(version)-\(requests)", isWeak: false)
            head.lastModified = date
        case .none: break
        }
        head.acceptRanges = traits.acceptRanges
        head.contentType = "application/octet-stream"
        return head
    }

    private func whole() -> Reply {
        var head = validated(200)
        if traits.saysLength { head.contentLength = content.length }
        return Reply(opening: .head(head), content: content, body: ByteRange(0, content.length))
    }

    private func refusal(saysTotal: Bool) -> Reply {
        var head = validated(416)
        if saysTotal { head.contentRange = .unsatisfied(total: content.length) }
        return Reply(opening: .head(head))
    }

    private func part(_ wanted: ByteRange) -> Reply {
        var head = validated(206)
        var body = wanted
        var total: Int64? = content.length
        switch traits.ranges {
        case .capped(let most): body.end = min(body.end, body.start + most)
        case .cappedStar(let most):
            body.end = min(body.end, body.start + most)
            total = nil
        case .starTotal: total = nil
        case .shifted: body = ByteRange(max(0, body.start - 1000), body.end)
        case .overlong: body.end = content.length
        case .otherTotal: total = content.length + 7
        case .multipart: head.contentType = "multipart/byteranges; boundary=x"
        case .coded: head.contentEncoding = "gzip"
        case .honoured, .ignored, .refused, .silent, .noContentRange, .malformed, .lengthLies: break
        }
        head.contentRange = .range(body, total: total)
        if traits.ranges == .noContentRange || traits.ranges == .multipart { head.contentRange = .absent }
        if traits.ranges == .malformed { head.contentRange = .malformed("bytes 5-3/1") }
        head.contentLength = traits.ranges == .lengthLies ? body.count + 3 : body.count
        return Reply(opening: .head(head), content: content, body: body)
    }
}
