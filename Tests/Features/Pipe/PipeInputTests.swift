import Glibc
import PawlBase
import PawlTestKit
import Testing

@testable import PawlPipe
@testable import PawlSystem

/// `pawl pipe` waits for messages; it used a whole core while it waited for the last samples.
@Suite struct `The messages of pawl pipe` {
    @Test func `after the end of the input, a wait ends with the next message only`() throws {
        var ends: [Int32] = [-1, -1]
        try #require(unsafe pipe(&ends) == 0)
        defer { close(ends[0]) }
        let inbox = PipeInbox()
        var input = PipeInput(inbox)
        input.read(from: ends[0], to: nil)
        close(ends[1])
        guard case .inputEnded? = input.wait(until: nil, wantsLines: true).first else {
            Issue.record("the end of the input is a message")
            return
        }
        #expect(input.isExhausted)
        let poster = SystemThread.start { inbox.post(.stop) }
        defer { poster.join() }
        guard case .stop? = input.wait(until: nil, wantsLines: true).first else {
            Issue.record("a wait ended without a message")
            return
        }
    }

    @Test func `a wait that wants no lines ends with the next message only`() throws {
        var ends: [Int32] = [-1, -1]
        try #require(unsafe pipe(&ends) == 0)
        defer { close(ends[0]) }
        var input = PipeInput(PipeInbox())
        input.read(from: ends[0], to: nil)
        _ = unsafe write(ends[1], "a\nb\n", 4)
        close(ends[1])
        guard case .inputEnded? = input.wait(until: nil, wantsLines: false).last else {
            Issue.record("a wait ended without a message")
            return
        }
        #expect([input.nextLine()?.number, input.nextLine()?.number, input.nextLine()?.number] == [1, 2, nil])
        #expect(input.isExhausted)
    }

    @Test func `lines are read as room for them appears`() throws {
        var ends: [Int32] = [-1, -1]
        try #require(unsafe pipe(&ends) == 0)
        defer { close(ends[0]) }
        let inbox = PipeInbox()
        var input = PipeInput(inbox)
        input.read(from: ends[0], to: nil)
        let count = 100_000
        let writer = SystemThread.start { [end = ends[1]] in
            let text = Array(String(repeating: "http://localhost/\n", count: 1000).utf8)
            for _ in 0..<count / 1000 {
                var sent = 0
                while sent < text.count {
                    let rest = Array(text[sent...])
                    sent += max(0, unsafe write(end, rest, rest.count))
                }
            }
            close(end)
        }
        defer { writer.join() }
        var lines = 0
        while !input.isExhausted {
            _ = input.wait(until: nil, wantsLines: true)
            while input.nextLine() != nil { lines += 1 }
        }
        #expect(lines == count)
    }
}

@Suite struct `The results of pawl pipe` {
    @Test func `a pipe takes whole lines`() {
        let lines = (0..<100).map { [UInt8](repeating: 0x61, count: $0 * 7 % 1300) + [0x0A] }
        let long = [UInt8](repeating: 0x62, count: 10_000) + [0x0A]
        let bytes = Array((lines + [long] + lines).joined())
        var starts = [0]
        while let start = starts.last, start < bytes.count { starts.append(ResultWriter.piece(of: bytes, from: start)) }
        #expect(starts.dropFirst().allSatisfy { bytes[$0 - 1] == 0x0A })
        let sizes = zip(starts, starts.dropFirst()).map { $1 - $0 }
        #expect(sizes.filter { $0 > 4096 } == [10_001])
        #expect(sizes.count < 30)
    }
}
