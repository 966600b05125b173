/// Parses the frames of a WebSocket client incrementally (RFC 6455 §5).
package struct FrameReader: Hashable, Sendable {
    package enum Step: Hashable, Sendable {
        case incomplete
        /// A whole text message.
        case message([UInt8])
        /// A ping; the pong has the same bytes.
        case ping([UInt8])
        /// The client closes the connection.
        case close
        /// A protocol error; the code is the one to close with (RFC 6455 §7.4.1).
        case broken(UInt16)
    }

    private struct Frame {
        let isFinal: Bool
        let kind: UInt8
        /// The bytes before the payload, mask included.
        let headLength: Int
        let length: Int
    }

    private let longest: Int
    /// The received bytes; frames before `start` are finished.
    private var bytes: [UInt8] = []
    private var start = 0
    /// Fragments of the incomplete message.
    private var message: [UInt8] = []
    private var isFragmented = false
    private var broken: UInt16?

    /// `longest` is the length of the longest message that is accepted.
    package init(longest: Int) { self.longest = min(longest, 1 << 40) }

    /// Bytes that were received and not returned.
    package var count: Int { bytes.count - start + message.count }

    /// The beginning of the message as far as it was received, unmasked.
    package var arriving: [UInt8] {
        guard case .success(let frame?) = frame, frame.kind < 8 else { return message }
        let begin = start + frame.headLength
        let end = min(bytes.count, begin + frame.length)
        return end > begin ? message + unmasked(begin..<end) : message
    }

    package mutating func take(_ more: UnsafeRawBufferPointer) { unsafe bytes.append(contentsOf: more) }

    package mutating func next() -> Step {
        while true {
            if let broken { return .broken(broken) }
            let frame: Frame
            switch self.frame {
            case .failure(let fault): return fail(fault.code)
            case .success(nil): return compact()
            case .success(let whole?): frame = whole
            }
            if let code = fault(of: frame) { return fail(code) }
            let begin = start + frame.headLength
            guard bytes.count >= begin + frame.length else { return compact() }
            let payload = unmasked(begin..<begin + frame.length)
            start = begin + frame.length
            if let step = take(frame, payload) { return step }
        }
    }

    private struct Fault: Error { let code: UInt16 }

    /// Called once for all frames received together, so that many small ones cost no more than their bytes.
    private mutating func compact() -> Step {
        bytes.removeSubrange(..<start)
        start = 0
        return .incomplete
    }

    /// The frame at the front; `nil` when its head is not complete.
    private var frame: Result<Frame?, Fault> { FrameReader.frame(Array(bytes[start...].prefix(14)), longest: longest) }

    private static func frame(_ bytes: [UInt8], longest: Int) -> Result<Frame?, Fault> {
        guard bytes.count >= 2 else { return .success(nil) }
        // No extension was negotiated, and a client's bytes are masked (RFC 6455 §5.1, §5.2).
        guard bytes[0] & 0x70 == 0, bytes[1] & 0x80 != 0 else { return .failure(Fault(code: 1002)) }
        var length = UInt64(bytes[1] & 0x7F)
        var headLength = 2
        if length > 125 {
            let count = length == 126 ? 2 : 8
            guard bytes.count >= 2 + count else { return .success(nil) }
            length = bytes[2..<2 + count].reduce(0) { $0 << 8 | UInt64($1) }
            // Only the shortest encoding of a length is valid.
            guard length > (count == 2 ? 125 : 65535) else { return .failure(Fault(code: 1002)) }
            headLength += count
        }
        guard length <= UInt64(longest) else { return .failure(Fault(code: 1009)) }
        headLength += 4
        guard bytes.count >= headLength else { return .success(nil) }
        return .success(
            Frame(isFinal: bytes[0] & 0x80 != 0, kind: bytes[0] & 0x0F, headLength: headLength, length: Int(length)))
    }

    private func fault(of frame: Frame) -> UInt16? {
        switch frame.kind {
        case 0 where !isFragmented, 1 where isFragmented: 1002
        // Binary messages are not supported.
        case 2: 1003
        case 0, 1: message.count + frame.length > longest ? 1009 : nil
        case 8, 9, 10: frame.isFinal && frame.length <= 125 ? nil : 1002
        default: 1002
        }
    }

    private mutating func take(_ frame: Frame, _ payload: [UInt8]) -> Step? {
        switch frame.kind {
        case 8: return .close
        case 9: return .ping(payload)
        case 10: return nil
        default:
            message += payload
            isFragmented = !frame.isFinal
            guard frame.isFinal else { return nil }
            guard String(validating: message, as: UTF8.self) != nil else { return fail(1007) }
            defer { message = [] }
            return .message(message)
        }
    }

    private func unmasked(_ range: Range<Int>) -> [UInt8] {
        let mask = Array(bytes[range.lowerBound - 4..<range.lowerBound])
        var plain = Array(bytes[range])
        for index in plain.indices { plain[index] ^= mask[index & 3] }
        return plain
    }

    private mutating func fail(_ code: UInt16) -> Step {
        broken = code
        bytes = []
        start = 0
        message = []
        return .broken(code)
    }
}

/// Writes a server's frames (RFC 6455 §5.2); they are not masked.
package enum FrameWriter {
    package static func text(_ message: [UInt8], into bytes: inout [UInt8]) { write(0x81, message, into: &bytes) }

    package static func pong(_ payload: [UInt8], into bytes: inout [UInt8]) { write(0x8A, payload, into: &bytes) }

    package static func close(_ code: UInt16, into bytes: inout [UInt8]) {
        write(0x88, [UInt8(code >> 8), UInt8(code & 0xFF)], into: &bytes)
    }

    private static func write(_ first: UInt8, _ payload: [UInt8], into bytes: inout [UInt8]) {
        bytes.append(first)
        switch payload.count {
        case ..<126: bytes.append(UInt8(payload.count))
        case ..<65536:
            bytes.append(126)
            bytes += [UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)]
        default:
            bytes.append(127)
            for shift in stride(from: 56, through: 0, by: -8) {
                bytes.append(UInt8(truncatingIfNeeded: payload.count >> shift))
            }
        }
        bytes += payload
    }
}
