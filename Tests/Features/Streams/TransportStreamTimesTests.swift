import PawlBase
import Testing

@testable import PawlStreams

@Suite struct TransportStreamTimesTests {
    /// A packet in which a frame begins, with its presentation time at 90 kHz.
    private func packet(_ time: Int64, stream: Int = 256, field: Int? = nil) -> [UInt8] {
        let stamp: [UInt8] = [
            UInt8(0x21 | time >> 29 & 0x0E), UInt8(time >> 22 & 0xFF), UInt8(time >> 14 & 0xFE | 1),
            UInt8(time >> 7 & 0xFF),
            UInt8(time << 1 & 0xFE | 1),
        ]
        var bytes: [UInt8] = [0x47, 0x40 | UInt8(stream >> 8), UInt8(stream & 0xFF), field == nil ? 0x10 : 0x30]
        if let field { bytes += [UInt8(field)] + [UInt8](repeating: 0xFF, count: field) }
        bytes += [0, 0, 1, 0xE0, 0, 0, 0x80, 0x80, 5] + stamp
        return bytes + [UInt8](repeating: 0xAA, count: 188 - bytes.count)
    }

    private func failure(_ bytes: [UInt8], stated: Int64) -> String? {
        SegmentCheck.failure(of: bytes, container: .transportStream, isInitialization: false, duration: stated)
    }

    @Test(arguments: [0, 90_000 * 3600, (1 << 33) - 40_000] as [Int64])
    func `a segment that was cut between two packets is shorter than stated`(start: Int64) {
        // 25 frames a second, in the order of their decoding: each fourth is shown late.
        let frames = (0..<50).map { packet((start + 3600 * ($0 ^ 3)) & ((1 << 33) - 1), field: $0 % 7 == 0 ? 20 : nil) }
        #expect(TransportStreamTimes.duration(of: frames.flatMap(\.self)) ?? 0 > 1_900_000)
        #expect(failure(frames.flatMap(\.self), stated: 2_000_000) == nil)
        #expect(failure(frames.dropLast(10).flatMap(\.self), stated: 2_000_000) == nil)
        let cut = failure(frames.prefix(24).flatMap(\.self), stated: 2_000_000)
        #expect(cut?.hasPrefix("it ends after 0.9 s, where the playlist states 2.0 s") == true, "\(cut ?? "no flaw")")
    }

    @Test func `the longest stream counts, and what has no times says nothing`() {
        let picture = packet(0)
        let sound = (0..<20).flatMap { packet(9000 * $0, stream: 257) }
        #expect(failure(picture + sound, stated: 2_000_000) == nil)
        #expect(failure(picture, stated: 2_000_000) == nil)
        #expect(TransportStreamTimes.duration(of: picture) == nil)
        #expect(failure(Media.packets(40), stated: 9_000_000) == nil)
        #expect(failure(packet(0) + packet(90), stated: 900_000) == nil, "too short to be measured")
    }
}
