/// How long the media of a transport stream are, by the presentation times of its packets (ISO/IEC 13818-1 §2.4.3).
enum TransportStreamTimes {
    /// In microseconds: the longest of its elementary streams; `nil` if fewer than two presentation times are there.
    ///
    /// The last frame of a stream is counted as long as the others are on average.
    static func duration<Bytes: RandomAccessCollection<UInt8>>(of bytes: Bytes) -> Int64? where Bytes.Index == Int {
        var streams: [Int: Span] = [:]
        for start in stride(from: bytes.startIndex, to: bytes.endIndex - packet + 1, by: packet) {
            guard let (stream, time) = time(in: bytes[start..<start + packet]) else { continue }
            streams[stream, default: Span(first: time)].add(time)
        }
        return streams.values.compactMap(\.duration).max().map { $0 * 1_000_000 / 90_000 }
    }

    private static let packet = 188

    /// Presentation times of one elementary stream, at 90 kHz.
    private struct Span {
        let first: Int64
        var earliest: Int64 = 0
        var latest: Int64 = 0
        var count: Int64 = 0

        init(first: Int64) { self.first = first }

        mutating func add(_ time: Int64) {
            // Times have 33 bits, and frames may refer to later ones.
            let distance = (time - first) & ((1 << 33) - 1)
            let signed = distance >= (1 << 32) ? distance - (1 << 33) : distance
            earliest = min(earliest, signed)
            latest = max(latest, signed)
            count += 1
        }

        var duration: Int64? { count < 2 ? nil : (latest - earliest) * count / (count - 1) }
    }

    /// The elementary stream and the time of a packet in which a frame begins.
    private static func time<Bytes: RandomAccessCollection<UInt8>>(in bytes: Bytes) -> (stream: Int, time: Int64)?
    where Bytes.Index == Int {
        let start = bytes.startIndex
        let begins = bytes[start + 1] & 0x40 != 0
        let hasPayload = bytes[start + 3] & 0x10 != 0
        guard begins, hasPayload else { return nil }
        let hasField = bytes[start + 3] & 0x20 != 0
        let frame = bytes.dropFirst(hasField ? 5 + Int(bytes[start + 4]) : 4).prefix(14)
        let at = frame.startIndex
        guard frame.count == 14, frame.starts(with: [0, 0, 1]), frame[at + 6] & 0xC0 == 0x80, frame[at + 7] & 0x80 != 0
        else { return nil }
        let stream = Int(bytes[start + 1] & 0x1F) << 8 | Int(bytes[start + 2])
        let high = Int64((frame[at + 9] >> 1) & 7) << 30
        let middle = ((Int64(frame[at + 10]) << 8 | Int64(frame[at + 11])) >> 1) << 15
        let low = (Int64(frame[at + 12]) << 8 | Int64(frame[at + 13])) >> 1
        return (stream, high | middle | low)
    }
}
