import PawlBase

/// Reports a response, and how it was judged, before its receiver continues.
final class TraceSink: ForwardingSink {
    let target: any TransferSink
    private let trace: @Sendable (TransferTrace) -> Void

    init(before target: any TransferSink, _ trace: @escaping @Sendable (TransferTrace) -> Void) {
        self.target = target
        self.trace = trace
    }

    func transfer(_ id: TransferID, head: ResponseHead) -> Bool {
        trace(.response(TraceText.response(head)))
        let isAccepted = target.transfer(id, head: head)
        trace(.verdict(isAccepted: isAccepted, status: head.status))
        return isAccepted
    }

    func transferEnded(_ id: TransferID, _ end: TransferEnd) {
        if case .failed(let fault) = end { trace(.failed(Redaction.text(fault.text))) }
        target.transferEnded(id, end)
    }
}

/// Requests and responses as lines without secrets.
enum TraceText {
    private static let longestLine = 2_000

    static func request(_ request: TransferRequest, _ settings: RequestSettings?) -> [String] {
        let address = request.address
        // The query may hold a signature or a token.
        let target = address.path + (address.query == nil ? "" : "?\(Redaction.mark)")
        guard address.scheme == .http || address.scheme == .https else {
            let range = request.range.fieldValue.map { " (bytes \($0))" } ?? ""
            return [line("\(address.scheme.name) \(address.authority) \(target)\(range)")]
        }
        let version = request.mayUseHTTP2 ? "HTTP/2 or HTTP/1.1" : "HTTP/1.1"
        var lines = ["GET \(target) \(version)", "Host: \(address.authority)"]
        if let authorization = request.authorization { lines.append("Authorization: \(authorization)") }
        if let range = request.range.fieldValue { lines.append("Range: bytes=\(range)") }
        lines += settings?.shownFields ?? []
        return [line(lines[0])] + lines.dropFirst().map { line(Redaction.header($0)) }
    }

    static func response(_ head: ResponseHead) -> [String] {
        let lines = head.lines.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }).map {
            String(decoding: $0, as: UTF8.self)
        }
        guard let first = lines.first else { return [] }
        return [line(first)] + lines.dropFirst().map { line(Redaction.header($0)) }
    }

    private static func line(_ text: String) -> String { Redaction.clipped(Redaction.printable(text), to: longestLine) }
}
