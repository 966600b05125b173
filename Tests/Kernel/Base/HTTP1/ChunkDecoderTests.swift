import PawlBase
import Testing

@Suite struct ChunkDecoderTests {
    private enum Outcome: Equatable {
        case complete(String, rest: Int)
        case incomplete(String)
        case broken
    }

    /// Feeds `text` in pieces of `size` bytes.
    private func decode(_ text: String, by size: Int) -> Outcome {
        var decoder = ChunkDecoder()
        var data: [UInt8] = []
        var pending = Array(text.utf8)[...]
        while !pending.isEmpty {
            var piece = Array(pending.prefix(size))
            pending = pending.dropFirst(size)
            while true {
                let (framing, step) = unsafe piece.withUnsafeBytes { unsafe decoder.scan($0) }
                piece.removeFirst(framing)
                switch step {
                case .data(let count):
                    data += piece.prefix(count)
                    piece.removeFirst(count)
                    decoder.take(count)
                    continue
                case .end: return .complete(String(decoding: data, as: UTF8.self), rest: piece.count + pending.count)
                case .broken: return .broken
                case .incomplete: break
                }
                break
            }
        }
        return .incomplete(String(decoding: data, as: UTF8.self))
    }

    @Test(arguments: [1, 2, 3, 7, 1000]) func `data is complete for any size of pieces`(size: Int) {
        let text = "5\r\nhello\r\nA;name=\"v\"\r\n, chunked!\r\n1 \t\n\n\r\n00b\nworld again\r\n0\r\n\r\n"
        #expect(decode(text, by: size) == .complete("hello, chunked!\nworld again", rest: 0))
    }

    @Test(arguments: [1, 4, 1000]) func `trailers are skipped, and bytes after the end are left`(size: Int) {
        #expect(decode("0;x\r\nETag: \"a\"\r\nB: c\n\r\nHTTP", by: size) == .complete("", rest: 4))
    }

    @Test(arguments: [
        "zz\r\n", "\r\n", "-5\r\nhello", "+5\r\nhello", "0x5\r\nhello", "5hello", "5\r\rhello", "5\r\nhelloX\r\n",
        "5\r\nhello\n0\r\n\r\n", "6\r\nhello\r\n0\r\n\r\n", "4\r\nhello\r\n0\r\n\r\n", "5\nhello\n0\n\n",
        "1\r\n\n\n0\r\n\r\n", "5\r\nhello\rX", "5 5\r\nhello", "8000000000000000\r\n", "ffffffffffffffffff\r\n",
        "0\r\n\rX",
    ]) func `an invalid chunk is an error`(text: String) {
        #expect(decode(text, by: 1) == .broken)
        #expect(decode(text, by: 1000) == .broken)
    }

    @Test func `a bare line feed behind data is refused by its name`() throws {
        for (text, fault) in [
            ("5\nhello\n0\n\n", TransferFault.bareChunks), ("5\r\nhello\n0\r\n\r\n", .bareChunks),
            ("5\r\nhelloX\r\n", .brokenChunks), ("zz\r\n", .brokenChunks),
        ] {
            var decoder = ChunkDecoder()
            var bytes = Array(text.utf8)
            while true {
                let (framing, step) = unsafe bytes.withUnsafeBytes { unsafe decoder.scan($0) }
                bytes.removeFirst(framing)
                guard case .data(let count) = step else {
                    #expect(step == .broken && decoder.fault == fault, "\(text)")
                    break
                }
                bytes.removeFirst(count)
                decoder.take(count)
            }
        }
    }

    @Test func `leading zeros are accepted, but only a limited number`() {
        #expect(decode("0000000000000002\r\nab\r\n0\r\n\r\n", by: 5) == .complete("ab", rest: 0))
        #expect(decode(String(repeating: "0", count: 40) + "\r\n\r\n", by: 5) == .broken)
    }

    @Test func `endless extensions and trailers are errors`() {
        let endless = String(repeating: "x", count: 70_000)
        #expect(decode("5;\(endless)", by: 999) == .broken)
        #expect(decode("0\r\n\(endless)", by: 999) == .broken)
    }

    @Test func `many chunks may each have an extension and padding`() {
        let chunk = "400  ;name=\"a value\"\r\n" + String(repeating: "z", count: 1024) + "\r\n"
        let body = String(repeating: chunk, count: 8_000) + "0\r\n\r\n"
        guard case .complete(let data, rest: 0) = decode(body, by: 65_536) else {
            Issue.record("a valid body is refused")
            return
        }
        #expect(data.utf8.count == 8_000 * 1024)
        let long = "1;" + String(repeating: "x", count: 60_000) + "\r\nz\r\n"
        #expect(decode(String(repeating: long, count: 3) + "0\r\n\r\n", by: 999) == .complete("zzz", rest: 0))
    }

    @Test func `a body that stops early stays incomplete`() {
        #expect(decode("5\r\nhel", by: 2) == .incomplete("hel"))
        #expect(decode("5\r\nhello\r\n0\r\n", by: 2) == .incomplete("hello"))
    }
}
