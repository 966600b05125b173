import PawlBase
import PawlHTTP

/// What a server sends over HTTP/2 to a client with three requests.
enum FrameLaws {
    /// What the receivers have got.
    private struct Outcome: Equatable {
        var heads: [Int32: Int] = [:]
        var bodies: [Int32: [UInt8]] = [:]
        var endings: [Int32: HTTP2Connection.Ending] = [:]
        var fault: TransferFault?
    }

    private static let requests = 3

    static func check(_ input: inout FuzzInput) throws(BrokenLaw) {
        let (piece, habits) = (Int(input.byte()) + 1, input.byte())
        let bytes = input.rest()
        let whole = try outcome(bytes, piece: max(1, bytes.count), habits)
        let pieces = try outcome(bytes, piece: piece, habits)
        try hold(
            pieces.heads == whole.heads && pieces.endings == whole.endings && pieces.fault == whole.fault,
            "pieces of \(piece) bytes have another outcome: \(pieces), not \(whole)")
        for (stream, ending) in whole.endings {
            let (one, other) = (pieces.bodies[stream] ?? [], whole.bodies[stream] ?? [])
            // Of a frame with too much, what is not too much may have been delivered before the rest arrived.
            let isPart = ending != .complete && (one.starts(with: other) || other.starts(with: one))
            try hold(one == other || isPart, "pieces of \(piece) bytes have another content")
        }
        try hold(whole.endings.count == requests, "a request has no end")
        try hold(whole.bodies.values.reduce(0) { $0 + $1.count } <= bytes.count, "more content than bytes")
    }

    /// The receiver of the second request pauses, that of the third one may not want its body.
    private static func outcome(_ bytes: [UInt8], piece: Int, _ habits: UInt8) throws(BrokenLaw) -> Outcome {
        guard let codec = HTTP2Codec() else { throw BrokenLaw(description: "no codec") }
        var run = Run(codec: codec, habits: habits)
        guard let request = HTTP2Request(Array("GET / HTTP/1.1\r\nHost: a\r\n\r\n".utf8)) else {
            throw BrokenLaw(description: "no request")
        }
        for _ in 0..<requests {
            guard let stream = codec.send(request) else { throw BrokenLaw(description: "no stream") }
            run.machine.open(stream, refusals: 0, at: Run.now)
        }
        run.send()
        var rest = bytes[...]
        while !rest.isEmpty, run.outcome.fault == nil {
            try run.read(Array(rest.prefix(piece)))
            rest = rest.dropFirst(piece)
        }
        try run.close()
        return run.outcome
    }

    private struct Run {
        static let now = Instant(nanoseconds: 0)
        let codec: HTTP2Codec
        let habits: UInt8
        var machine = HTTP2Connection(at: now)
        var outcome = Outcome()
        var ended: Set<Int32> = []
        var held: [Int32: [UInt8]] = [:]
        /// Sent at the end: whether a reset of ours or the server's next frame comes first is a matter of time.
        var resets: [(stream: HTTP2StreamID, code: HTTP2Code)] = []

        mutating func read(_ piece: [UInt8]) throws(BrokenLaw) {
            var bytes = piece
            repeat {
                let used = unsafe bytes.withUnsafeMutableBytes { unsafe codec.receive($0) }
                try takeEvents(bytes)
                guard let used else {
                    try lose(machine.broken(.protocolError))
                    return
                }
                bytes.removeFirst(used)
            } while outcome.fault == nil && (!bytes.isEmpty || codec.isPaused)
        }

        func send() {
            var output: [UInt8] = []
            codec.output(into: &output, limit: .max)
        }

        private mutating func takeEvents(_ bytes: [UInt8]) throws(BrokenLaw) {
            // A record for each frame of 9 bytes at most; heads are taken one after the other.
            try hold(codec.size <= 1 << 20 + 8 * bytes.count + (4 << 20), "\(codec.size) bytes for \(bytes.count)")
            for index in 0..<codec.eventCount where outcome.fault == nil {
                switch codec.event(index) {
                case .frame(let kind): if let fault = machine.frame(kind, at: Self.now) { try lose(fault) }
                case .head(let stream, let size, let ends):
                    try take(machine.head(stream, codec.text(ofHead: index), size: size), stream, ends: ends)
                case .trailer(let stream, let size): try take(machine.trailer(stream, size: size), stream)
                case .data(let stream, let range):
                    try take(machine.data(stream, range.count), stream, Array(bytes[range]))
                case .ended(let stream):
                    ended.insert(stream.rawValue)
                    try end(stream, machine.ended(stream, at: Self.now))
                case .closed(let stream, let code, let isByPeer):
                    try end(stream, machine.closed(stream, code, byPeer: isByPeer, at: Self.now))
                case .settings(let streams): machine.settings(streams: streams)
                case .goAway(let last, let code):
                    for request in machine.goAway(last: last, code, at: Self.now) {
                        try hold(request.stream > last, "a handled request is sent again")
                        try end(request.stream, request.ending)
                    }
                    try hold(machine.room == 0, "room after GOAWAY")
                case .pong(let value): _ = machine.pong(value, at: Self.now)
                case .broken(let code): try lose(machine.broken(code))
                }
            }
            codec.forgetEvents()
        }

        private mutating func take(
            _ verdict: HTTP2Connection.Verdict, _ stream: HTTP2StreamID, _ bytes: [UInt8] = [], ends: Bool = false
        ) throws(BrokenLaw) {
            let number = stream.rawValue
            switch verdict {
            case .head(let head, _):
                try hold(outcome.heads.updateValue(head.status, forKey: number) == nil, "two heads")
                try hold(head.status >= 200, "an interim head")
                if number == 5, habits & 1 == 1 {
                    outcome.endings[number] = .complete
                    if case .reset(let code) = machine.leave(stream, hasEnded: ends, at: Self.now) {
                        resets.append((stream, code))
                    }
                } else {
                    machine.wantsBody(stream)
                }
            case .data where number == 3 && habits & 2 == 2:
                machine.pause(stream, holding: bytes.count)
                held[number, default: []] += bytes
            case .data:
                try hold(outcome.endings[number] == nil, "content for a request that is over")
                outcome.bodies[number, default: []] += bytes
                codec.consume(stream, machine.took(stream, bytes.count))
            case .held: held[number, default: []] += bytes
            case .nothing: break
            case .refused(let ending, let code):
                held[number] = nil
                resets.append((stream, code))
                try end(stream, ending)
            }
            try hold(machine.held == held.values.reduce(0) { $0 + $1.count }, "other bytes are held than there are")
        }

        private mutating func end(
            _ stream: HTTP2StreamID, _ ending: HTTP2Connection.Ending?
        ) throws(BrokenLaw) {
            guard let ending else { return }
            let number = stream.rawValue
            try hold(outcome.endings.updateValue(ending, forKey: number) == nil, "a request ended twice")
            switch ending {
            case .complete:
                try hold(outcome.heads[number] != nil && ended.contains(number), "complete without a head or an end")
            case .retry: try hold(outcome.heads[number] == nil, "sent again after its response began")
            case .failed: break
            }
        }

        private mutating func lose(_ fault: TransferFault) throws(BrokenLaw) {
            guard outcome.fault == nil else { return }
            outcome.fault = fault
            for request in machine.lost(fault, at: Self.now) { try end(request.stream, request.ending) }
        }

        /// The server closes the connection, and the paused receiver resumes.
        mutating func close() throws(BrokenLaw) {
            for reset in resets { codec.reset(reset.stream, reset.code) }
            send()
            if outcome.fault == nil { try takeEvents([]) }
            try lose(.noResponse)
            for (number, bytes) in held {
                let stream = HTTP2StreamID(rawValue: number)
                try hold(machine.resume(stream, at: Self.now), "held, and not paused")
                outcome.bodies[number, default: []] += bytes
                _ = machine.took(stream, bytes.count)
                try end(stream, machine.settled(stream, at: Self.now))
            }
            try hold(machine.isOver && machine.isIdle, "a connection outlives its end")
        }
    }
}
