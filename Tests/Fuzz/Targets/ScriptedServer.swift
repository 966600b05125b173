import PawlBase
import PawlTestKit
import Synchronization

/// A server with two versions of a content, one after the other, that makes its responses up from the fuzzer's bytes.
final class ScriptedServer: Sendable {
    /// How a response ends when all of its bytes are sent.
    enum Ending { case close, reset, stall }

    struct Response {
        var bytes: [UInt8]
        var ending = Ending.close
        /// A failure in place of a response.
        var fault: TransferFault?
    }

    private struct State {
        var input: FuzzInput
        var version = 0
        /// Whether a response contradicted the content: its range, its length, its version or its bytes.
        var hasLied = false
        var requests = 0
    }

    let versions: [[UInt8]]
    private let validators: UInt8
    private let honoursRanges: Bool
    private let state: Mutex<State>

    init(_ input: FuzzInput) {
        var input = input
        let length = input.number() % 80_000
        let other = input.flag() ? length : input.number() % 80_000
        validators = input.byte()
        honoursRanges = input.byte() % 4 != 0
        versions = [(3, length), (4, other)].map { seed, length in
            Payload(seed: seed, length: length).bytes(in: ByteRange(0, length))
        }
        state = Mutex(State(input: input))
    }

    var hasLied: Bool { state.withLock { $0.hasLied } }

    func response(to range: RequestedRange) -> Response {
        state.withLock { state in
            state.requests += 1
            // One after so many finds no script any more.
            guard state.requests < 400 else { return Response(bytes: [], fault: Self.refused) }
            return respond(to: range, &state)
        }
    }

    private static let refused = TransferFault(.connectionRefused, foreign: "refused")

    private func respond(to range: RequestedRange, _ state: inout State) -> Response {
        switch state.input.byte() % 16 {
        case 0: return Response(bytes: [], fault: Self.refused)
        case 1: return Response(bytes: [], ending: .stall)
        case 2: return plain(&state.input)
        case 3: return raw(&state)
        case 4: if versions[0] != versions[1] { state.version = 1 }
        case _: break
        }
        return content(range, &state)
    }

    /// A status without content.
    private func plain(_ input: inout FuzzInput) -> Response {
        let statuses = [301, 302, 307, 403, 404, 408, 412, 416, 429, 500, 502, 503]
        let status = statuses[Int(input.byte()) % statuses.count]
        var lines = ["HTTP/1.1 \(status) Text", "Content-Length: 6", "Content-Type: text/plain"]
        if status < 400 {
            lines.append("Location: \(["/f.bin", "/g.bin", "http://other.test/f.bin"][Int(input.byte() % 3)])")
        }
        if status == 416 { lines.append("Content-Range: bytes */\(versions[0].count)") }
        if input.flag() { lines.append("Retry-After: \(input.byte())") }
        return Response(bytes: Self.head(lines) + Array("go on\n".utf8))
    }

    /// Any bytes, and some of the content.
    private func raw(_ state: inout State) -> Response {
        state.hasLied = true
        let text = state.input.part()
        return Response(
            bytes: text + Array("\r\n\r\n".utf8) + versions[state.version].prefix(Int(state.input.number() % 4_096)))
    }

    private func content(_ range: RequestedRange, _ state: inout State) -> Response {
        let body = versions[state.version]
        var part = ByteRange(0, Int64(body.count))
        let isPart = range != .whole && honoursRanges
        if isPart { part = range.part(of: part.end) }
        if isPart, part.isEmpty {
            return Response(
                bytes: Self.head(["HTTP/1.1 416 Text", "Content-Range: bytes */\(body.count)", "Content-Length: 0"]))
        }
        var fields = ContentFields(part: part, total: Int64(body.count), tag: state.version, start: part.start)
        let lies = state.input.byte()
        // One response of four has a lie.
        if lies % 4 == 3 {
            state.hasLied = true
            fields.lie(lies / 4, &state.input)
        }
        let bytes = body[min(body.count, max(0, Int(fields.start)))...].prefix(Int(part.count))
        return frame(bytes, isPart, fields, &state.input)
    }

    private func frame(
        _ body: ArraySlice<UInt8>, _ isPart: Bool, _ fields: ContentFields, _ input: inout FuzzInput
    ) -> Response {
        var lines = ["HTTP/1.1 \(isPart ? 206 : 200) OK", "Date: Thu, 01 Jan 2026 00:00:00 GMT"] + fields.lines
        if isPart { lines.append(fields.contentRange) }
        lines += validatorLines(fields.tag)
        var bytes: [UInt8] = []
        let framing = input.byte()
        switch framing % 4 {
        case 0:
            lines.append("Transfer-Encoding: chunked")
            var rest = body
            while !rest.isEmpty {
                let chunk = rest.prefix(1 + Int(framing) * 300)
                rest = rest.dropFirst(chunk.count)
                bytes += Array((String(chunk.count, radix: 16) + "\r\n").utf8) + chunk + Array("\r\n".utf8)
            }
            bytes += Array("0\r\n\r\n".utf8)
        case _:
            lines.append("Content-Length: \(Int64(body.count) + fields.excess)")
            bytes = Array(body)
        }
        var response = Response(bytes: Self.head(lines) + bytes)
        let cut = input.byte()
        guard cut % 4 == 3 else { return response }
        response.bytes.removeLast(Int(input.number() % Int64(response.bytes.count + 1)))
        response.ending = [.close, .reset, .stall][Int(cut / 4) % 3]
        return response
    }

    private func validatorLines(_ tag: Int) -> [String] {
        let day = ["Mon, 01", "Tue, 02", "Wed, 03"][tag % 3]
        let date = "Last-Modified: \(day) Dec 2025 00:00:00 GMT"
        return switch validators % 5 {
        case 0: ["ETag: \"v\(tag)\""]
        case 1: ["ETag: W/\"v\(tag)\""]
        case 2: [date]
        case 3: ["ETag: \"v\(tag)\"", date]
        case _: []
        }
    }

    private static func head(_ lines: [String]) -> [UInt8] {
        Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
    }
}

/// What a response says of its content.
private struct ContentFields {
    var part: ByteRange
    var total: Int64
    var tag: Int
    /// Where its bytes really begin.
    var start: Int64
    /// How much longer than it is its length is stated.
    var excess: Int64 = 0
    var lines: [String] = []

    var contentRange: String { "Content-Range: bytes \(part.start)-\(part.end - 1)/\(total)" }

    mutating func lie(_ kind: UInt8, _ input: inout FuzzInput) {
        let shift = input.number() % 300 - 150
        switch kind % 8 {
        case 0: part = ByteRange(max(0, part.start + shift), max(part.start + shift + 1, part.end))
        case 1: part = ByteRange(part.start, max(part.start + 1, part.end + shift))
        case 2: total = max(0, total + shift)
        case 3: excess = shift
        case 4: start += shift
        case 5: tag += 1
        case 6: lines.append(input.text().filter { !$0.isNewline })
        case _: lines.append("Content-Encoding: \(["gzip", "identity", "br"][Int(kind / 8) % 3])")
        }
    }
}
