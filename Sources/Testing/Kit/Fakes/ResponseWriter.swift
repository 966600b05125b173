import PawlBase
import PawlJournal

/// Writes one response as the bytes that are sent over an HTTP/1.1 connection (RFC 9112).
struct ResponseWriter: Sendable {
    let response: SimulatedResponse
    let form: ResponseForm
    /// The final header section, with a field that no other response has.
    let head: [UInt8]
    /// The bytes of the body that were written.
    private(set) var written: Int64 = 0
    /// The rest of the current chunk.
    private var chunk: Int64 = 0
    private var isTerminated: Bool
    private var dice: Dice

    /// `number` is that of the request.
    init(_ response: SimulatedResponse, _ form: ResponseForm, number: Int, hidesClose: Bool, dice: Dice) {
        self.response = response
        self.form = form
        self.dice = dice
        isTerminated = form.framing != .chunked
        var lines = ["HTTP/1.\(form.isOld ? 0 : 1) \(response.head.status) Status", "X-Request: \(number)"]
        lines += response.head.fieldLines
        switch form.framing {
        case .length: lines.append("Content-Length: \(response.head.contentLength ?? response.length)")
        case .chunked: lines.append("Transfer-Encoding: chunked")
        case .untilClose: break
        }
        if form.closes, !hidesClose { lines.append("Connection: close") }
        head = Self.section(lines)
    }

    private static func section(_ lines: [String]) -> [UInt8] {
        Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
    }

    /// The interim header sections and the final one.
    ///
    /// With `disguised`, the interim ones look like final ones.
    func heads(disguised: Bool) -> [UInt8] {
        let interim = form.interim.map { status in
            let status = disguised ? 200 : status
            return Self.section(["HTTP/1.1 \(status) Hints", "Link: </style.css>; rel=preload"])
        }
        return interim.joined() + head
    }

    /// Whether the whole body was written, with the end of its framing.
    var isComplete: Bool { written == response.length && isTerminated }

    /// Whether only the end of the connection ends the body, or shows that it is too short.
    var endsByClose: Bool {
        form.framing == .untilClose
            || form.framing == .length && (response.head.contentLength ?? response.length) > response.length
    }

    /// Whether it is in the middle of a chunk's data.
    var isInChunk: Bool { chunk > 0 }

    /// Writes the next `count` bytes of the body.
    mutating func body(_ count: Int) -> [UInt8] {
        let start = response.start + written
        let data = response.payload.bytes(in: ByteRange(start, start + Int64(count)))
        guard form.framing == .chunked else {
            written += Int64(count)
            return data
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + 64)
        var rest = data[...]
        while !rest.isEmpty {
            if chunk == 0 {
                chunk = nextChunk(rest.count)
                bytes += sizeLine
            }
            let taken = rest.prefix(Int(min(chunk, Int64(rest.count))))
            bytes += taken
            rest = rest.dropFirst(taken.count)
            chunk -= Int64(taken.count)
            written += Int64(taken.count)
            if chunk == 0 { bytes += [0x0D, 0x0A] }
        }
        if written == response.length {
            bytes += lastChunk
            isTerminated = true
        }
        return bytes
    }

    /// The size of a chunk that begins before `count` bytes of data.
    private mutating func nextChunk(_ count: Int) -> Int64 {
        guard form.pads else { return Int64(count) }
        // One that is longer than this segment continues in the next one.
        let size = dice.chance(0.3) ? 1 + dice.below(200) : 1 + dice.below(2 * count)
        return min(Int64(size), response.length - written)
    }

    private var sizeLine: [UInt8] {
        mutating get {
            var line = String(chunk, radix: 16, uppercase: form.pads)
            if form.pads {
                line = String(repeating: "0", count: dice.below(4)) + line
                line += String(repeating: dice.chance(0.5) ? " " : "\t", count: dice.below(40))
                if dice.chance(0.3) { line += ";name=\"a value\"" }
            }
            return Array((line + "\r\n").utf8)
        }
    }

    private var lastChunk: [UInt8] {
        mutating get {
            guard form.pads else { return Array("0\r\n\r\n".utf8) }
            let trailers = (0..<dice.below(3)).map { "X-Trailer-\($0): HTTP/1.1 200 OK\r\n" }
            return Array(("000" + (dice.chance(0.5) ? " ;last" : "") + "\r\n" + trailers.joined() + "\r\n").utf8)
        }
    }

    /// Bytes that belong to no response: some of them look like the next one.
    mutating func stray() -> [UInt8] {
        switch dice.below(4) {
        case 0: Array("\r\n".utf8)
        case 1: Array("0\r\n\r\n".utf8)
        case 2: Self.section(["HTTP/1.1 200 OK", "Content-Length: 11"]) + Array("not for you".utf8)
        // The same response again, as a cache sends it that has lost count.
        default:
            head + response.payload.bytes(in: ByteRange(response.start, response.start + min(response.length, 300)))
        }
    }
}

extension ResponseHead {
    /// The fields of this head except those of the framing.
    var fieldLines: [String] {
        var lines: [String] = []
        func add(_ name: String, _ value: String?) { if let value { lines.append("\(name): \(value)") } }
        add("Date", date.map { HTTPDate.text($0.seconds) })
        add("Content-Type", contentType)
        add("Content-Encoding", contentEncoding)
        add("Content-Range", contentRange.fieldText)
        add("Content-Disposition", contentDisposition)
        switch acceptRanges {
        case .unstated: break
        case .bytes: add("Accept-Ranges", "bytes")
        case .none: add("Accept-Ranges", "none")
        }
        add("ETag", entityTag?.text)
        add("Last-Modified", lastModified.map { HTTPDate.text($0.seconds) })
        add("Retry-After", retryAfter)
        add("RateLimit", rateLimit?.limit)
        add("Location", location)
        return lines
    }
}

extension ContentRangeField {
    /// The value of the field; `nil` when it is absent.
    fileprivate var fieldText: String? {
        switch self {
        case .absent: nil
        case .range(let range, let total): "bytes \(range.start)-\(range.end - 1)/" + (total.map { "\($0)" } ?? "*")
        case .unsatisfied(let total): "bytes */\(total)"
        case .malformed(let text): text
        }
    }
}
