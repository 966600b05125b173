package import PawlBase
import Synchronization

/// How a server uses HTTP/2; the odds are those of one response, unless they say otherwise.
package struct SimulatedHTTP2: Sendable, Hashable {
    /// Requests that ask for a connection of their own share one too, so that there are more streams than the real transport
    /// would open.
    package var takesAll = false
    /// The time until a connection is established.
    package var connecting = Interval.zero
    /// The number of streams that it announces.
    package var streams: Int?
    /// It announces that only with its first response.
    package var announcesLate = false
    /// The number shrinks, and rises again after a while.
    package var shrinks = 0.0
    /// A connection ends with GOAWAY after a few requests; of one connection.
    package var goesAway = 0.0
    /// A request is refused (REFUSED_STREAM).
    package var refuses = 0.0
    /// A request is refused by ENHANCE_YOUR_CALM, on its stream or with its connection.
    package var calms = 0.0
    package var requiresHTTP1 = 0.0
    /// The whole body is sent, and then a reset instead of the end.
    package var cutsEnds = 0.0
    /// More content follows than was stated.
    package var exceeds = 0.0
    /// How often what is no habit but a fault happens: a client cannot cope with all of it.
    package var luck = 0

    /// The end of the stream comes apart from the last content.
    package var endsApart = 0.0
    package var trailers = 0.0
    /// A stream is reset, without an error, after its end.
    package var resetsEnded = 0.0
    package var hints = 0.0
    /// Header sections and content are padded.
    package var pads = 0.0
    /// Content is sent in small frames, and header sections with CONTINUATION.
    package var splits = 0.0
    /// What is sent waits for more, also of other streams; of one segment.
    package var joins = 0.0
    /// The client receives a segment in several reads; of one segment.
    package var cuts = 0.0
    package var pings = 0.0
    /// An idle connection is closed.
    package var closesIdle = 0.0
    /// A connection that has served is lost when a request arrives.
    package var dies = 0.0

    package init() {}

    /// Removes what is a fault.
    mutating func calmDown() {
        (luck, dies, refuses, requiresHTTP1, goesAway, shrinks) = (0, 0, 0, 0, 0, 0)
        connecting = .zero
    }
}

/// How one response is sent on a stream.
struct StreamForm: Sendable {
    enum Ending: Sendable, Hashable {
        /// END_STREAM is in the last frame of the content, or in the header section.
        case withLast
        case apart
        case trailers
        case resetAfterwards
        /// A reset instead, although the whole body was sent.
        case cut(HTTP2Code)
        case tooLong
    }

    /// How a response breaks that has a fault.
    enum Break: Sendable, Hashable {
        case reset(HTTP2Code)
        /// The connection is lost with all its streams.
        case connection
        /// END_STREAM before the stated length.
        case early
    }

    var interim: [Int] = []
    var pads = false
    var splits = false
    var ending = Ending.withLast
    var breaking = Break.connection
}

/// Writes one response as frames.
struct StreamWriter: Sendable {
    let response: SimulatedResponse
    let form: StreamForm
    let stream: Int32
    private let fields: [(String, String)]
    /// The bytes of the body that were written.
    private(set) var written: Int64 = 0
    private var dice: Dice

    init(_ response: SimulatedResponse, _ form: StreamForm, stream: Int32, number: Int, dice: Dice) {
        self.response = response
        self.form = form
        self.stream = stream
        self.dice = dice
        let lines = ["X-Request: \(number)"] + response.head.fieldLines
        fields = (lines + (response.head.contentLength.map { ["Content-Length: \($0)"] } ?? [])).map { line in
            let parts = line.split(separator: ":", maxSplits: 1)
            return (parts[0].lowercased(), String(parts[1].drop { $0 == " " }))
        }
    }

    /// The final header section as the client is to see it.
    var head: [UInt8] {
        let lines = ["HTTP/2 \(response.head.status)"] + fields.map { "\($0): \($1)" }
        return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
    }

    /// Whether the header section is all of the response.
    var isEmpty: Bool { response.length == 0 && form.ending == .withLast }
    var isComplete: Bool { written == response.length }

    /// The interim header sections and the final one.
    mutating func heads() -> [UInt8] {
        let interim = form.interim.flatMap {
            RawFrame.head(stream, [(":status", "\($0)"), ("link", "</style.css>; rel=preload")])
        }
        let final = [(":status", "\(response.head.status)")] + fields
        let parts = form.splits ? 1 + dice.below(4) : 1
        return interim + RawFrame.head(stream, final, ends: isEmpty, padding: padding, parts: parts)
    }

    /// The next `count` bytes of the body, of which frames use up no more than `credit` of the windows.
    ///
    /// Returns the frames and what they use up beyond the content.
    mutating func body(_ count: Int, credit: Int) -> (frames: [UInt8], padding: Int) {
        var (frames, left, spare): ([UInt8], Int, Int) = ([], count, credit)
        var paddings = 0
        while left > 0, spare > 0 {
            let most = form.splits ? 1 + dice.below(dice.chance(0.5) ? 40 : 16_000) : 16_000
            let padding = spare > 300 ? padding : nil
            let overhead = padding.map { $0 + 1 } ?? 0
            let size = min(most, left, spare - overhead)
            let start = response.start + written
            let data = response.payload.bytes(in: ByteRange(start, start + Int64(size)))
            written += Int64(size)
            let ends = isComplete && form.ending == .withLast
            frames += RawFrame.data(stream, data[...], ends: ends, padding: padding)
            (left, spare, paddings) = (left - size, spare - size - overhead, paddings + overhead)
        }
        return (frames, paddings)
    }

    private var padding: Int? {
        mutating get { form.pads && dice.chance(0.5) ? dice.below(256) : nil }
    }

    /// What follows the content.
    var ending: [UInt8] {
        let apart = RawFrame.data(stream, [][...], ends: true)
        return switch form.ending {
        case .withLast: []
        case .apart: apart
        case .trailers: RawFrame.head(stream, [("x-trailer", "HTTP/2 200")], ends: true)
        case .resetAfterwards: apart + RawFrame.reset(stream, HTTP2Code.none.rawValue)
        case .cut(let code): RawFrame.reset(stream, code.rawValue)
        case .tooLong: RawFrame.data(stream, "more than was stated", ends: true)
        }
    }
}

extension SimulatedNetwork.State {
    mutating func streamForm(of response: SimulatedResponse, host: String) -> StreamForm {
        guard let odds = servers[host]?.http2 else { return StreamForm() }
        var form = StreamForm()
        form.pads = draws(odds.pads)
        form.splits = draws(odds.splits)
        if draws(odds.hints) { form.interim = dice.pick([[103], [103], [103, 103], [100], [102, 103]]) }
        let isStated = response.head.contentLength == response.length
        if draws(odds.cutsEnds), takesFault(of: host) {
            form.ending = .cut(dice.pick([.none, .none, .cancel, HTTP2Code(rawValue: 2)]))
        } else if isStated, draws(odds.exceeds), takesFault(of: host) {
            form.ending = .tooLong
        } else if draws(odds.trailers) {
            form.ending = .trailers
        } else if draws(odds.endsApart) {
            form.ending = .apart
        } else if draws(odds.resetsEnded) {
            form.ending = .resetAfterwards
        }
        form.breaking = breaking(of: response)
        note(form)
        return form
    }

    private mutating func breaking(of response: SimulatedResponse) -> StreamForm.Break {
        guard let fault = response.fault?.end else { return .connection }
        // Without a length, the end of a stream is the end of the body.
        let isStated = response.head.contentLength != nil
        if fault.kind == .truncated, isStated, dice.chance(0.5) { return .early }
        if dice.chance(0.5) { return .connection }
        return .reset(dice.pick([.none, .cancel, HTTP2Code(rawValue: 2), .refusedStream, .protocolError]))
    }

    private mutating func draws(_ odds: Double) -> Bool { odds > 0 && dice.chance(odds) }

    /// Whether there is still a fault to be had.
    mutating func takesFault(of host: String) -> Bool {
        guard let luck = servers[host]?.http2?.luck, luck > 0 else { return false }
        servers[host]?.http2?.luck = luck - 1
        return true
    }

    private mutating func note(_ form: StreamForm) {
        if !form.interim.isEmpty { tally.note("interim heads on streams") }
        if form.pads { tally.note("padded frames") }
        if form.splits { tally.note("heads and content in small frames") }
        switch form.ending {
        case .withLast: break
        case .apart: tally.note("streams ended apart from their content")
        case .trailers: tally.note("trailers")
        case .resetAfterwards: tally.note("streams reset after their end")
        case .cut: tally.note("streams reset after all their content")
        case .tooLong: tally.note("streams longer than stated")
        }
    }
}

extension SimulatedNetwork {
    func streamForm(of response: SimulatedResponse, host: String) -> StreamForm {
        state.withLock { $0.streamForm(of: response, host: host) }
    }

    /// Draws whether something happens; if it `isFault`, only while there are any left.
    func draws(_ odds: any KeyPath<SimulatedHTTP2, Double> & Sendable, _ host: String, isFault: Bool = false) -> Bool {
        state.withLock { state in
            guard let odds = state.servers[host]?.http2?[keyPath: odds], odds > 0, state.dice.chance(odds) else {
                return false
            }
            return !isFault || state.takesFault(of: host)
        }
    }
}
