import PawlBase

extension Resource {
    /// The resource's response to a permitted request.
    func plan(for request: Request, _ behaviour: Behaviour) -> ResponsePlan {
        let isCoded = behaviour.coding == .gzip || (behaviour.coding == .gzipRanged && request.range != nil)
        let content = isCoded ? Payload(StoredGzip.encode(payload.bytes)) : payload
        var plan = rangePlan(for: request, of: content, behaviour)
        plan.isContent = plan.isContent && !isCoded
        if isCoded { plan.add("Content-Encoding: gzip") }
        if let type = behaviour.contentType, !plan.lines.contains(where: { $0.starts(with: "Content-Type".utf8) }) {
            plan.add("Content-Type: \(type)")
        }
        if let disposition = behaviour.disposition {
            plan.lines.append(Array("Content-Disposition: ".utf8) + disposition)
        }
        if let accept = behaviour.acceptRanges, behaviour.framing != .http10 { plan.add("Accept-Ranges: \(accept)") }
        addValidators(to: &plan, behaviour)
        frame(&plan, behaviour)
        plan.dress(behaviour)
        return plan
    }

    private func rangePlan(for request: Request, of content: Payload, _ behaviour: Behaviour) -> ResponsePlan {
        let whole = ResponsePlan(status: 200, body: .content(content, from: 0), count: content.length, isContent: true)
        guard let requested = request.range, behaviour.ranges != .ignored, behaviour.framing != .http10,
            agrees(with: request.header("If-Range"), behaviour)
        else { return whole }
        let total = content.length
        if case .refused(let total) = behaviour.ranges { return Self.unsatisfied(total: total) }
        guard let range = requested.resolved(in: total) else { return Self.unsatisfied(total: total) }

        switch behaviour.ranges {
        case .honoured, .ignored, .unresponsive, .refused: return Self.part(range, of: content, total: total)
        case .capped(let limit):
            return Self.part(ByteRange(range.start, min(range.end, range.start + limit)), of: content, total: total)
        case .multipart: return Self.multipart(range, of: content)
        case .shifted(let step):
            let start = max(0, range.start + step)
            return Self.part(ByteRange(start, max(start, range.end)), of: content, total: total)
        case .labelled(let label): return Self.part(range, of: content, label: label)
        case .overlong(let more): return Self.part(ByteRange(range.start, range.end + more), of: content, total: total)
        case .otherTotal(let claim): return Self.part(range, of: content, total: claim)
        }
    }

    private static func unsatisfied(total: Int64?) -> ResponsePlan {
        var plan = ResponsePlan(Behaviour.SubstituteResponse.status(416))
        if let total { plan.add("Content-Range: bytes */\(total)") }
        return plan
    }

    private static func part(_ range: ByteRange, of content: Payload, total: Int64) -> ResponsePlan {
        part(range, of: content, label: "bytes \(range.start)-\(range.end - 1)/\(total)")
    }

    private static func part(_ range: ByteRange, of content: Payload, label: String?) -> ResponsePlan {
        var plan = ResponsePlan(
            status: 206, body: .content(content, from: range.start), count: range.count, isContent: true)
        if let label { plan.add("Content-Range: \(label)") }
        return plan
    }

    private static func multipart(_ range: ByteRange, of content: Payload) -> ResponsePlan {
        let label = "bytes \(range.start)-\(range.end - 1)/\(content.length)"
        let head = "--PART\r\nContent-Type: application/octet-stream\r\nContent-Range: \(label)\r\n\r\n"
        let body = Array(head.utf8) + content.bytes(in: range) + Array("\r\n--PART--\r\n".utf8)
        var plan = ResponsePlan(status: 206, body: .bytes(body), count: Int64(body.count))
        plan.add("Content-Type: multipart/byteranges; boundary=PART")
        return plan
    }

    private func frame(_ plan: inout ResponsePlan, _ behaviour: Behaviour) {
        guard !plan.lines.contains(where: { $0.starts(with: "Content-Length".utf8) }) else { return }
        switch behaviour.framing {
        case .length: plan.add("Content-Length: \(plan.count)")
        case .falseLength(let difference): plan.add("Content-Length: \(plan.count + difference)")
        case .chunked:
            plan.add("Transfer-Encoding: chunked")
            plan.isChunked = true
        case .untilClose: plan.closes = true
        case .http10:
            plan.version = "HTTP/1.0"
            plan.closes = true
        }
        if case .falseLength = behaviour.framing { plan.closes = true }
        if let length = behaviour.secondLength { plan.add("Content-Length: \(length)") }
    }
}

// MARK: - Validators

extension Resource {
    /// Last-Modified of the first version; each later one is a day newer.
    static let firstModified: Int64 = 1_500_000_000

    var lastModified: Int64 { Self.firstModified + Int64(current) * 86_400 }

    private var tag: String { "\"version-\(current)-\(payload.fingerprint)\"" }

    private func addValidators(to plan: inout ResponsePlan, _ behaviour: Behaviour) {
        let date = "Last-Modified: \(HTTPDate.text(lastModified))"
        switch behaviour.validators {
        case .strong:
            plan.add("ETag: \(tag)")
            plan.add(date)
        case .strongTagOnly: plan.add("ETag: \(tag)")
        case .weakTagOnly: plan.add("ETag: W/\(tag)")
        case .lastModifiedOnly: plan.add(date)
        case .none: break
        case .freshTagEachTime:
            plan.add("ETag: \"response-\(tags)\"")
            plan.add(date)
        }
    }

    /// If-Range (RFC 9110 §13.1.5): only a strong comparison counts.
    private func agrees(with condition: String?, _ behaviour: Behaviour) -> Bool {
        guard let condition else { return true }
        switch behaviour.validators {
        case .strong: return condition == tag || condition == HTTPDate.text(lastModified)
        case .strongTagOnly: return condition == tag
        case .lastModifiedOnly: return condition == HTTPDate.text(lastModified)
        case .freshTagEachTime: return condition == HTTPDate.text(lastModified)
        case .weakTagOnly, .none: return false
        }
    }
}
