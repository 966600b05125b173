import PawlTestKit

/// Small sounds that a browser plays.
enum Sounds {
    /// Seconds of noise as WAV: 8,000 values of 16 bits a second, one channel.
    static func wave(seconds: Int) -> [UInt8] {
        let noise = Payload(seed: 77, length: Int64(seconds * 16_000)).bytes
        let format =
            number(16, 4) + number(1, 2) + number(1, 2) + number(8000, 4) + number(16_000, 4) + number(2, 2)
            + number(16, 2)
        let chunks = Array("WAVEfmt ".utf8) + format + Array("data".utf8) + number(noise.count, 4) + noise
        return Array("RIFF".utf8) + number(chunks.count, 4) + chunks
    }

    private static func number(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }
}
