import Glibc
import PawlSystem
import Testing

@testable import PawlPipe

/// `pawl pipe` waits for messages; it used a whole core while it waited for the last samples.
@Suite struct `The messages of pawl pipe` {
    @Test func `after the end of the input, a wait ends with the next message only`() throws {
        var ends: [Int32] = [-1, -1]
        try #require(unsafe pipe(&ends) == 0)
        defer { close(ends[0]) }
        let inbox = PipeInbox()
        inbox.read(from: ends[0], to: nil)
        close(ends[1])
        guard case .inputEnded? = inbox.wait(until: nil, wantsLines: true).first else {
            Issue.record("the end of the input is a message")
            return
        }
        #expect(inbox.isExhausted)
        let poster = SystemThread.start { inbox.stop() }
        defer { poster.join() }
        guard case .stop? = inbox.wait(until: nil, wantsLines: true).first else {
            Issue.record("a wait ended without a message")
            return
        }
    }

    @Test func `lines are read as room for them appears`() throws {
        var ends: [Int32] = [-1, -1]
        try #require(unsafe pipe(&ends) == 0)
        defer { close(ends[0]) }
        let inbox = PipeInbox()
        inbox.read(from: ends[0], to: nil)
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
        while !inbox.isExhausted {
            _ = inbox.wait(until: nil, wantsLines: true)
            while inbox.nextLine() != nil { lines += 1 }
        }
        #expect(lines == count)
    }
}
