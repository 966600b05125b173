import Glibc
import PawlBase
import PawlSystem

extension OriginConnection {
    /// Sends header section and body, with the faults of the behaviour.
    func send(_ plan: ResponsePlan, for exchange: Exchange) -> (ExchangeEnd, Fate) {
        origin.with { state in
            state.log.records[exchange.record].status = plan.status
            state.log.records[exchange.record].bodyStart = plan.bodyStart
            state.log.records[exchange.record].isContent = plan.isContent
        }
        guard send(plan.head(bareLF: exchange.behaviour.endsLinesWithBareLF)) else { return (lost, .close) }
        let fate: Fate = plan.closes || exchange.request.header("Connection")?.lowercased() == "close" ? .close : .keep
        guard exchange.request.method != "HEAD" else { return (.completed, fate) }
        if let end = sendBody(plan, for: exchange) { return end }
        if plan.isChunked, !send(Array("0\r\n\r\n".utf8)) { return (lost, .close) }
        return (.completed, fate)
    }

    /// Sends the body; `nil` when all of it was sent and the framing may be completed.
    private func sendBody(_ plan: ResponsePlan, for exchange: Exchange) -> (ExchangeEnd, Fate)? {
        var cut = plan.isRefusal ? nil : exchange.behaviour.cut
        var cutPoint = cut.flatMap { $0.point(in: plan) }
        var sent: Int64 = 0
        let step = exchange.behaviour.pace.map { max(1, min(65_536, $0 / 50)) } ?? 262_144
        while true {
            if let point = cutPoint, let kind = cut?.kind, sent == point {
                if let end = carryOut(kind, exchange) { return end }
                (cut, cutPoint) = (nil, nil)
            }
            guard sent < plan.count else { return nil }
            let count = min(step, plan.count - sent, (cutPoint ?? .max) - sent)
            guard sendBlock(plan, exchange, at: sent, count: Int(count)) else { return (lost, .close) }
            sent += count
            if let pace = exchange.behaviour.pace, sent < plan.count,
                let end = rest(exchange, .nanoseconds(count * 1_000_000_000 / pace))
            {
                return (end, .close)
            }
        }
    }

    /// Breaks the response; `nil` when a stall was released and the response continues.
    private func carryOut(_ kind: Behaviour.Cut.Kind, _ exchange: Exchange) -> (ExchangeEnd, Fate)? {
        switch kind {
        case .reset:
            // Data in the kernel's buffer would be discarded with the connection, and "after" would not hold.
            while handle.hasUnsent, !handle.isLeft(waiting: .milliseconds(1)), !origin.read(\.isStopping) {}
            return (.cut, .reset)
        case .close: return (.cut, .close)
        case .badChunk:
            let isSent = send(Array("zz\r\nnot a chunk\r\n".utf8))
            return (isSent ? .cut : lost, .close)
        case .stall: return hold(exchange).map { ($0, .close) }
        }
    }

    private func sendBlock(_ plan: ResponsePlan, _ exchange: Exchange, at sent: Int64, count: Int) -> Bool {
        var block = block(plan, exchange, at: sent, count: count)
        if plan.isChunked { block = Array("\(String(count, radix: 16))\r\n".utf8) + block + [13, 10] }
        guard send(block) else { return false }
        origin.with { state in
            state.log.records[exchange.record].bodySent += Int64(count)
            state.resources[exchange.request.path]?.bodySent += Int64(count)
            state.resources[exchange.request.path]?.changeIfDue()
        }
        return true
    }

    private func block(_ plan: ResponsePlan, _ exchange: Exchange, at sent: Int64, count: Int) -> [UInt8] {
        switch plan.body {
        case .bytes(let bytes): return Array(bytes[Int(sent)..<(Int(sent) + count)])
        case .content(let content, let start):
            var payload = content
            if exchange.resource?.changesRunningBodies == true {
                payload = origin.read { $0.resources[exchange.request.path]?.payload } ?? content
            }
            return payload.bytes(in: ByteRange(start + sent, start + sent + Int64(count)))
        }
    }

    /// Sleeps to limit the rate, unless the connection ends.
    private func rest(_ exchange: Exchange, _ span: Duration) -> ExchangeEnd? {
        let deadline = ContinuousClock.now + span
        while true {
            if origin.read(\.isStopping) { return .stopped }
            let rest = deadline - ContinuousClock.now
            if rest <= .zero { return nil }
            if handle.isLeft(waiting: rest) { return lost }
        }
    }

    /// Sends all of `bytes`; `false` when the connection is gone.
    func send(_ bytes: [UInt8]) -> Bool {
        unsafe bytes.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return true }
            var sent = 0
            while sent < bytes.count {
                let count = unsafe Glibc.send(handle.descriptor, base + sent, bytes.count - sent, Int32(MSG_NOSIGNAL))
                if count < 0 {
                    guard errno == EINTR else { return false }
                    continue
                }
                sent += count
            }
            return true
        }
    }
}

extension Behaviour.Cut {
    /// The offset in this response's body at which the cut falls, `nil` when it does not touch it.
    fileprivate func point(in plan: ResponsePlan) -> Int64? {
        switch place {
        case .sent(let count): return count < plan.count || (plan.isChunked && count == plan.count) ? count : nil
        case .offset(let offset):
            // A response that begins at the offset passes it: a transfer that was cut there can be resumed.
            guard plan.isContent, offset > plan.bodyStart else { return nil }
            let count = offset - plan.bodyStart
            return count < plan.count ? count : nil
        case .from(let offset):
            guard plan.isContent else { return nil }
            let count = max(0, offset - plan.bodyStart)
            return count < plan.count ? count : nil
        }
    }
}
