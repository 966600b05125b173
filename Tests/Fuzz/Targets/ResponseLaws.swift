@testable import PawlBase

/// Consecutive responses on one connection, read as Pawl's HTTP client reads them: in pieces of any size,
/// cut anywhere, with unsolicited bytes behind them.
enum ResponseLaws {
    static func check(_ input: inout FuzzInput) throws(BrokenLaw) {
        switch input.byte() % 8 {
        case 0: try checkAnyBytes(&input)
        case 1: try checkFlood(&input)
        default: try checkSequence(&input)
        }
    }

    // MARK: well-formed responses

    private static func checkSequence(_ input: inout FuzzInput) throws(BrokenLaw) {
        var connection = ResponseConnection(pieces: input.size())
        for number in 0..<8 where !input.isEmpty {
            let response = GeneratedResponse(&input, number: number)
            // Bytes after a response may look like another one.
            let behind = input.byte() % 4 == 0 ? GeneratedResponse(&input, number: 99).bytes : []
            let cut = input.byte() % 8 == 0 ? Int(input.number() % Int64(response.bytes.count + 1)) : nil
            connection.reader.begin()
            let stream = cut.map { Array(response.bytes[..<$0]) } ?? response.bytes + behind
            let outcome = try connection.feed(stream)
            if let cut {
                try checkCut(outcome, &connection, response, at: cut)
                return
            }
            try checkWhole(outcome, &connection, response, behind)
            guard outcome.left == 0, connection.reader.canCarryAnother else {
                try hold(!response.keeps || !behind.isEmpty, "not kept: \(response)")
                return
            }
            try hold(response.keeps, "kept: \(response)")
        }
    }

    private static func checkWhole(
        _ outcome: ResponseConnection.Outcome, _ connection: inout ResponseConnection, _ response: GeneratedResponse,
        _ behind: [UInt8]
    ) throws(BrokenLaw) {
        try hold(outcome.fault == nil, "\(outcome.fault?.text ?? "") in \(response)")
        try hold(outcome.statuses == [response.status], "heads \(outcome.statuses) of \(response)")
        // Without framing all bytes are the body, up to the end of the connection.
        let endsByClose = response.endsByClose
        try hold(outcome.hasEnded == !endsByClose, "ended \(outcome.hasEnded): \(response)")
        try hold(outcome.left == (endsByClose ? 0 : behind.count), "\(outcome.left) bytes left of \(response)")
        let wanted = response.payload + (endsByClose ? behind : [])
        try hold(outcome.data == wanted, "\(outcome.data.count) bytes of \(wanted.count): \(response)")
        if endsByClose {
            try hold(connection.reader.close() == .complete, "not complete at its end: \(response)")
            try hold(!connection.reader.canCarryAnother, "kept after its end: \(response)")
        }
    }

    /// A truncated response is never complete, and the received part is its beginning.
    private static func checkCut(
        _ outcome: ResponseConnection.Outcome, _ connection: inout ResponseConnection, _ response: GeneratedResponse,
        at cut: Int
    ) throws(BrokenLaw) {
        try hold(outcome.fault == nil, "\(outcome.fault?.text ?? "") in \(response) cut at \(cut)")
        try hold(response.payload.starts(with: outcome.data), "other bytes: \(response) cut at \(cut)")
        guard !outcome.hasEnded else {
            try hold(cut == response.bytes.count, "complete at \(cut): \(response)")
            return
        }
        switch connection.reader.close() {
        case .complete:
            let isBody = response.endsByClose && cut >= response.headLength
            try hold(isBody || cut == response.bytes.count, "complete when cut at \(cut): \(response)")
        case .withoutResponse: try hold(cut == 0, "nothing came of \(cut) bytes")
        case .truncated: try hold(cut > 0, "truncated before it began")
        }
        try hold(!connection.reader.canCarryAnother, "kept although it was cut at \(cut): \(response)")
    }

    // MARK: anything

    /// The size of the pieces does not matter.
    private static func checkAnyBytes(_ input: inout FuzzInput) throws(BrokenLaw) {
        let size = input.size()
        let hasHead = input.flag()
        let isChunked = input.flag()
        let field = isChunked ? "Transfer-Encoding: chunked" : "Content-Length: \(input.byte())"
        let head = hasHead ? Array("HTTP/1.1 200 OK\r\n\(field)\r\n\r\n".utf8) : []
        let bytes = head + input.rest()
        var (one, other) = (ResponseConnection(pieces: size), ResponseConnection(pieces: bytes.count + 1))
        one.reader.begin()
        other.reader.begin()
        let outcome = try one.feed(bytes)
        try hold(try other.feed(bytes) == outcome, "pieces of \(size) make a difference")
        try hold(one.reader.canCarryAnother == other.reader.canCarryAnother, "kept or not, by pieces")
        try hold(outcome.data.count + outcome.left <= bytes.count, "more came out than went in")
    }

    /// However long an input is, the reader soon has data, an end or an error.
    private static func checkFlood(_ input: inout FuzzInput) throws(BrokenLaw) {
        var connection = ResponseConnection(pieces: 4096)
        connection.reader.begin()
        let response = GeneratedResponse(&input, number: 0)
        let cut = Int(input.number() % Int64(response.bytes.count + 1))
        let unit = Array(input.rest().prefix(64))
        guard !unit.isEmpty else { return }
        var stream = Array(response.bytes[..<cut])
        while stream.count < 600_000 { stream += unit }
        _ = try connection.feed(stream)
    }
}

extension FuzzInput {
    /// The size of pieces: mostly small, so that boundaries fall everywhere.
    fileprivate mutating func size() -> Int {
        let byte = Int(byte())
        return byte < 200 ? byte % 24 + 1 : 1 << (byte % 17)
    }
}

/// A connection's bytes on their way through the reader, in the order of `HTTP1Client.take`.
private struct ResponseConnection {
    struct Outcome: Hashable {
        var statuses: [Int] = []
        var data: [UInt8] = []
        var hasEnded = false
        var fault: TransferFault?
        /// Bytes behind the end.
        var left = 0
    }

    var reader = ResponseReader()
    let pieces: Int
    /// Bytes since the last one that was used.
    private var silent = 0
    private static let longestSilence = HTTP1Limits.longestHead + 3 * 64 * 1024

    init(pieces: Int) { self.pieces = pieces }

    mutating func feed(_ bytes: [UInt8]) throws(BrokenLaw) -> Outcome {
        var outcome = Outcome()
        silent = 0
        var start = 0
        repeat {
            let end = min(bytes.count, start + pieces)
            try feed(Array(bytes[start..<end]), &outcome)
            if outcome.hasEnded || outcome.fault != nil {
                if outcome.hasEnded { outcome.left += bytes.count - end }
                break
            }
            start = end
        } while start < bytes.count
        return outcome
    }

    private mutating func feed(_ piece: [UInt8], _ outcome: inout Outcome) throws(BrokenLaw) {
        var index = 0
        while true {
            let (used, step) = unsafe piece.withUnsafeBytes {
                unsafe reader.scan(UnsafeRawBufferPointer(rebasing: $0[index...]))
            }
            try hold(used >= 0 && index + used <= piece.count, "read beyond the bytes")
            index += used
            silent += used
            try hold(silent <= Self.longestSilence, "\(silent) bytes without data, end or fault")
            switch step {
            case .incomplete:
                try hold(index == piece.count, "incomplete, and bytes are left")
                return
            case .head(let head):
                try hold(outcome.statuses.isEmpty && outcome.data.isEmpty, "a second head")
                outcome.statuses.append(head.status)
            case .data(let count):
                try hold(outcome.statuses.count == 1, "data before a head")
                try hold(count > 0 && index + count <= piece.count, "data beyond the bytes")
                outcome.data += piece[index..<index + count]
                reader.take(count)
                index += count
                silent = 0
            case .end:
                outcome.hasEnded = true
                outcome.left = piece.count - index
                return
            case .broken(let fault):
                try hold(!reader.canCarryAnother, "kept although it is broken")
                outcome.fault = fault
                return
            }
        }
    }
}
