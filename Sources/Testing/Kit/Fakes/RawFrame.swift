/// Frames as a server may send them, also wrong ones (RFC 9113 §6).
package enum RawFrame {
    package static func frame(_ kind: UInt8, flags: UInt8 = 0, stream: Int32 = 0, _ payload: [UInt8] = []) -> [UInt8] {
        let length = payload.count
        let size = [UInt8(length >> 16 & 255), UInt8(length >> 8 & 255), UInt8(length & 255)]
        return size + [kind, flags] + number(UInt32(bitPattern: stream)) + payload
    }

    package static let settings = frame(4)

    package static func settings(mostStreams: Int?) -> [UInt8] {
        frame(4, mostStreams.map { [0, 3] + number(UInt32($0)) } ?? [])
    }

    /// Fields without Huffman coding and tables.
    package static func block(_ fields: [(String, String)]) -> [UInt8] {
        fields.flatMap { name, value in [0] + text(name) + text(value) }
    }

    package static func text(_ text: String) -> [UInt8] {
        let bytes = Array(text.utf8)
        guard bytes.count >= 127 else { return [UInt8(bytes.count)] + bytes }
        var (rest, number) = (bytes.count - 127, [UInt8(127)])
        while rest >= 128 {
            number.append(UInt8(rest & 127 | 128))
            rest >>= 7
        }
        return number + [UInt8(rest)] + bytes
    }

    /// `parts`: the number of frames, of which all but the first are CONTINUATION.
    package static func head(
        _ stream: Int32, _ fields: [(String, String)], ends: Bool = false, padding: Int? = nil, parts: Int = 1
    ) -> [UInt8] {
        let block = block(fields)
        let size = (block.count + parts - 1) / parts
        let pieces = stride(from: 0, to: block.count, by: max(1, size)).map {
            block[$0..<min(block.count, $0 + max(1, size))]
        }
        let flags: UInt8 = (ends ? 1 : 0) | (pieces.count == 1 ? 4 : 0)
        let first = padded(1, flags: flags, stream, pieces[0], padding)
        return pieces.indices.dropFirst().reduce(first) { bytes, index in
            bytes + frame(9, flags: index == pieces.count - 1 ? 4 : 0, stream: stream, Array(pieces[index]))
        }
    }

    package static func data(_ stream: Int32, _ text: String, ends: Bool = false, padding: Int? = nil) -> [UInt8] {
        data(stream, Array(text.utf8)[...], ends: ends, padding: padding)
    }

    package static func data(
        _ stream: Int32, _ bytes: ArraySlice<UInt8>, ends: Bool = false, padding: Int? = nil
    ) -> [UInt8] { padded(0, flags: ends ? 1 : 0, stream, bytes, padding) }

    private static func padded(
        _ kind: UInt8, flags: UInt8, _ stream: Int32, _ bytes: ArraySlice<UInt8>, _ padding: Int?
    ) -> [UInt8] {
        guard let padding else { return frame(kind, flags: flags, stream: stream, Array(bytes)) }
        let payload = [UInt8(padding)] + bytes + [UInt8](repeating: 0, count: padding)
        return frame(kind, flags: flags | 8, stream: stream, payload)
    }

    package static func reset(_ stream: Int32, _ code: UInt32) -> [UInt8] { frame(3, stream: stream, number(code)) }
    package static func goAway(last: Int32, _ code: UInt32) -> [UInt8] {
        frame(7, number(UInt32(bitPattern: last)) + number(code))
    }

    private static func number(_ value: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * UInt32($0))) }
    }
}

/// Reads what a client sends on an HTTP/2 connection, as far as a server without HPACK can.
package struct ClientFrames: Sendable {
    package enum Event: Hashable, Sendable {
        case request(Int32)
        case reset(Int32, UInt32)
        /// Stream 0 is the connection.
        case credit(Int32, Int)
        case settings(window: Int?)
        case settingsTaken
        case ping([UInt8])
        case pong([UInt8])
        case goAway(UInt32)
        case other(UInt8)
    }

    private static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
    private var rest: [UInt8] = []
    private var isBegun = false

    package init() {}

    /// Reads bytes that were cut anywhere.
    package mutating func read(_ bytes: [UInt8]) -> [Event] {
        rest += bytes
        var start = 0
        if !isBegun {
            guard rest.starts(with: Self.preface) else { return [] }
            (isBegun, start) = (true, Self.preface.count)
        }
        var events: [Event] = []
        while rest.count - start >= 9 {
            let head = rest[start..<(start + 9)]
            let length = Int(Self.number(head.prefix(3)))
            guard rest.count - start >= 9 + length else { break }
            let payload = rest[(start + 9)..<(start + 9 + length)]
            let stream = Int32(bitPattern: Self.number(head.suffix(4)) & 0x7FFF_FFFF)
            events.append(Self.event(head[start + 3], head[start + 4], stream, payload))
            start += 9 + length
        }
        rest.removeFirst(start)
        return events
    }

    private static func event(_ kind: UInt8, _ flags: UInt8, _ stream: Int32, _ payload: ArraySlice<UInt8>) -> Event {
        switch kind {
        case 1: .request(stream)
        case 3: .reset(stream, number(payload))
        case 4 where flags & 1 != 0: .settingsTaken
        case 4: .settings(window: window(Array(payload)))
        case 6: flags & 1 != 0 ? .pong(Array(payload)) : .ping(Array(payload))
        case 7: .goAway(number(payload.suffix(from: payload.startIndex + 4).prefix(4)))
        case 8: .credit(stream, Int(number(payload)))
        default: .other(kind)
        }
    }

    /// SETTINGS_INITIAL_WINDOW_SIZE.
    private static func window(_ settings: [UInt8]) -> Int? {
        stride(from: 0, to: settings.count - 5, by: 6).first { number(settings[$0..<($0 + 2)]) == 4 }
            .map { Int(number(settings[($0 + 2)..<($0 + 6)])) }
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt32 { bytes.reduce(0) { $0 << 8 | UInt32($1) } }
}
