@testable import PawlBase

/// The framing of chunked bodies: the size of the pieces does not matter.
enum ChunkLaws {
    private struct Outcome: Hashable {
        var data: [UInt8] = []
        var step = ChunkDecoder.Step.incomplete
        /// Bytes after the end of the body, which belong to the next response.
        var left = 0
    }

    static func check(_ input: inout FuzzInput) throws(BrokenLaw) {
        let size = Int(input.byte()) + 1
        let isFraming = input.flag()
        let bytes = input.rest()
        if isFraming {
            let framed = framing(bytes, size: size)
            let outcome = try decode(framed, pieces: size)
            try hold(outcome == Outcome(data: bytes, step: .end, left: 0), "\(bytes.count) bytes in \(size)s")
        } else {
            let outcome = try decode(bytes, pieces: size)
            try hold(try decode(bytes, pieces: bytes.count + 1) == outcome, "pieces of \(size) differ")
            try hold(outcome.data.count + outcome.left <= bytes.count, "more came out than went in")
        }
    }

    private static func framing(_ data: [UInt8], size: Int) -> [UInt8] {
        var framed: [UInt8] = []
        for start in stride(from: 0, to: data.count, by: size) {
            let chunk = data[start..<min(data.count, start + size)]
            framed += Array("\(String(chunk.count, radix: 16))\r\n".utf8) + chunk + Array("\r\n".utf8)
        }
        return framed + Array("0\r\nTrailer: x\r\n\r\n".utf8)
    }

    private static func decode(_ bytes: [UInt8], pieces size: Int) throws(BrokenLaw) -> Outcome {
        var decoder = ChunkDecoder()
        var outcome = Outcome()
        var start = 0
        while start < bytes.count {
            let end = min(bytes.count, start + size)
            try feed(&decoder, Array(bytes[start..<end]), &outcome)
            if outcome.step == .broken { return outcome }
            if outcome.step == .end {
                outcome.left += bytes.count - end
                return outcome
            }
            start = end
        }
        return outcome
    }

    private static func feed(
        _ decoder: inout ChunkDecoder, _ piece: [UInt8], _ outcome: inout Outcome
    ) throws(BrokenLaw) {
        var index = 0
        while true {
            let (framing, step) = unsafe piece.withUnsafeBytes {
                unsafe decoder.scan(UnsafeRawBufferPointer(rebasing: $0[index...]))
            }
            try hold(framing >= 0 && index + framing <= piece.count, "framing beyond the bytes")
            index += framing
            outcome.step = step
            guard case .data(let count) = step else {
                outcome.left = step == .end ? piece.count - index : 0
                return
            }
            outcome.step = .incomplete
            try hold(count > 0 && index + count <= piece.count, "data beyond the bytes")
            outcome.data += piece[index..<index + count]
            decoder.take(count)
            index += count
        }
    }
}
