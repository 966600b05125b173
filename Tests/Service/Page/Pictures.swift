import PawlBase
import PawlTestKit

/// Small content that a browser displays.
enum Pictures {
    /// Two dots wide and high.
    static let png: [UInt8] =
        Base64.decode(
            "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAFklEQVR4nGP4z8DAwMDA8J+BgYGBgQEAFwYC/6N5k3UAAAAASUVORK5CYII="
                .utf8) ?? []

    /// Five seconds of WebM with an index for seeking: images that the browser itself encodes as WebP, which are key
    /// frames of VP8, in a container built here.
    static func film(in page: BrowserPage) async throws -> [UInt8] {
        let coded = try await page.evaluate(
            """
            Array.from({ length: 25 }, (_, number) => {
              const canvas = Object.assign(document.createElement("canvas"), { width: 64, height: 64 });
              const context = canvas.getContext("2d");
              context.fillStyle = `hsl(${number * 14} 60% 50%)`;
              context.fillRect(0, 0, 64, 64);
              return canvas.toDataURL("image/webp", 0.5).split(",")[1];
            })
            """)
        let frames = (coded.array ?? []).compactMap { $0.string.flatMap { Base64.decode($0.utf8) } }.map(frame)
        return Matroska.film(frames, width: 64, height: 64, milliseconds: 200)
    }

    /// The VP8 chunk of a RIFF file (RFC 9649 §2.5).
    private static func frame(_ riff: [UInt8]) -> [UInt8] {
        var at = 12
        while at + 8 <= riff.count {
            let length = (0..<4).reduce(0) { $0 | Int(riff[at + 4 + $1]) << ($1 * 8) }
            if Array(riff[at..<(at + 4)]) == Array("VP8 ".utf8) { return Array(riff[(at + 8)..<(at + 8 + length)]) }
            at += 8 + length + length % 2
        }
        return []
    }
}

/// As much of Matroska (RFC 9559) as one film of key frames needs.
private enum Matroska {
    static func film(_ frames: [[UInt8]], width: Int, height: Int, milliseconds: Int) -> [UInt8] {
        let head = element(
            0x1A45_DFA3,
            number(0x4286, 1) + number(0x42F7, 1) + number(0x42F2, 4) + number(0x42F3, 8)
                + element(0x4282, Array("webm".utf8)) + number(0x4287, 2) + number(0x4285, 2))
        let duration = Float64(frames.count * milliseconds).bitPattern
        let info = element(
            0x1549_A966,
            number(0x2AD7B1, 1_000_000) + element(0x4489, bytes(duration, count: 8))
                + element(0x4D80, Array("test".utf8)) + element(0x5741, Array("test".utf8)))
        let track = element(
            0xAE,
            number(0xD7, 1) + number(0x73C5, 1) + number(0x9C, 0) + number(0x83, 1) + element(0x86, Array("V_VP8".utf8))
                + element(0xE0, number(0xB0, width) + number(0xBA, height)))
        let tracks = element(0x1654_AE6B, track)
        let clusters = frames.enumerated().map { index, frame in
            element(0x1F43_B675, number(0xE7, index * milliseconds) + element(0xA3, [0x81, 0, 0, 0x80] + frame))
        }
        // The index contains offsets in the segment, so it has a fixed length: eight bytes each.
        let indexLength = cues(clusters, from: 0, milliseconds).count
        let start = info.count + tracks.count + indexLength
        let index = cues(clusters, from: start, milliseconds)
        return head + element(0x1853_8067, info + tracks + index + clusters.flatMap(\.self))
    }

    private static func cues(_ clusters: [[UInt8]], from start: Int, _ milliseconds: Int) -> [UInt8] {
        var at = start
        var points: [UInt8] = []
        for (number, cluster) in clusters.enumerated() {
            let place = self.number(0xF7, 1) + element(0xF1, bytes(UInt64(at), count: 8))
            let time = element(0xB3, bytes(UInt64(number * milliseconds), count: 8))
            points += element(0xBB, time + element(0xB7, place))
            at += cluster.count
        }
        return element(0x1C53_BB6B, points)
    }

    private static func number(_ id: UInt32, _ value: Int) -> [UInt8] { element(id, bytes(UInt64(value), count: 4)) }

    /// Lengths are always written in eight bytes.
    private static func element(_ id: UInt32, _ content: [UInt8]) -> [UInt8] {
        let name = bytes(UInt64(id), count: 4).drop { $0 == 0 }
        return name + bytes(UInt64(content.count) | 1 << 56, count: 8) + content
    }

    private static func bytes(_ value: UInt64, count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> UInt64((count - 1 - $0) * 8)) }
    }
}
