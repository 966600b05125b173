import Testing

@testable import PawlWeb

/// A WebSocket's frames as a server reads them.
@Suite struct FrameReaderTests {
    private func frame(_ first: UInt8, _ payload: [UInt8], length: [UInt8]? = nil) -> [UInt8] {
        let mask: [UInt8] = [1, 2, 3, 4]
        var size = length ?? []
        if length == nil {
            size =
                payload.count < 126
                ? [0x80 | UInt8(payload.count)] : [0xFE, UInt8(payload.count >> 8), UInt8(payload.count & 255)]
        }
        return [first] + size + mask + payload.enumerated().map { $1 ^ mask[$0 & 3] }
    }

    private func steps(_ bytes: [UInt8], pieces size: Int = .max) -> [FrameReader.Step] {
        var reader = FrameReader(longest: 300)
        var steps: [FrameReader.Step] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = Array(rest.prefix(size))
            rest = rest.dropFirst(piece.count)
            unsafe piece.withUnsafeBytes { unsafe reader.take($0) }
            while true {
                let step = reader.next()
                if step == .incomplete { break }
                steps.append(step)
                if case .broken = step { return steps }
            }
        }
        return steps
    }

    @Test(arguments: [1, 3, .max]) func `messages, fragments and pings are distinguished, in pieces of any size`(
        size: Int
    ) {
        let long = [UInt8](repeating: 65, count: 200)
        let bytes =
            frame(0x81, long) + frame(0x01, [66]) + frame(0x89, [7]) + frame(0x00, []) + frame(0x80, [67])
            + frame(0x8A, []) + frame(0x88, [])
        #expect(steps(bytes, pieces: size) == [.message(long), .ping([7]), .message([66, 67]), .close])
    }

    @Test func `a protocol violation is reported with its code`() {
        let cases: [([UInt8], UInt16)] = [
            ([0x81, 0x01, 65], 1002), (frame(0xC1, [65]), 1002), (frame(0x83, [65]), 1002), (frame(0x80, [65]), 1002),
            (frame(0x01, [65]) + frame(0x01, [65]), 1002), (frame(0x09, []), 1002),
            (frame(0x89, [UInt8](repeating: 65, count: 126)), 1002), (frame(0x82, [65]), 1003),
            (frame(0x81, [0xFF]), 1007), (frame(0x81, [65], length: [0xFE, 0, 1]), 1002),
            (frame(0x81, [], length: [0xFF, 0x80, 0, 0, 0, 0, 0, 0, 0]), 1009),
            (frame(0x01, [UInt8](repeating: 65, count: 200)) + frame(0x80, [UInt8](repeating: 65, count: 200)), 1009),
        ]
        for (bytes, code) in cases { #expect(steps(bytes).last == .broken(code), "\(bytes.prefix(12))") }
    }

    @Test func `the start of a message can be examined before it is complete`() {
        var reader = FrameReader(longest: 300)
        let bytes = frame(0x01, [65, 66]) + frame(0x80, [UInt8](repeating: 67, count: 200)).prefix(11)
        unsafe bytes.withUnsafeBytes { unsafe reader.take($0) }
        #expect(reader.next() == .incomplete)
        #expect(reader.arriving == [65, 66, 67, 67, 67])
    }
}
