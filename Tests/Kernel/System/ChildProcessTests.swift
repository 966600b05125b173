import Glibc
import PawlBase
import PawlSystem
import Testing

@Suite struct ChildProcessTests {
    @Test func `a program inherits no descriptor that is open here`() throws {
        var ends: [Int32] = [0, 0]
        try #require(unsafe pipe(&ends) == 0)
        defer { for end in ends { close(end) } }
        let isClosed = try ChildProcess.run("/bin/sh", ["-c", "! [ -e /proc/self/fd/\(ends[1]) ]"])
        #expect(isClosed == 0)
    }

    @Test func `a program can write to the descriptor that it is given`() throws {
        var ends: [Int32] = [0, 0]
        try #require(unsafe pipe(&ends) == 0)
        defer { for end in ends { close(end) } }
        let words = ["sh", "-c", "printf x >&\(ChildProcess.firstDescriptor)"]
        let child = try ChildProcess.start("/bin/sh", words, passing: ends[1])
        #expect(ChildProcess.status(of: child) == 0)
        var byte: UInt8 = 0
        #expect(unsafe read(ends[0], &byte, 1) == 1 && byte == UInt8(ascii: "x"))
    }

    @Test func `a program answers on its output what it is asked on its input`() throws {
        let script = "cat; printf %s \"$1\"; exit 3"
        let answer = try ChildProcess.ask(
            "sh", ["-c", script, "sh", "!"], Array("question".utf8), limit: 100, patience: .seconds(60))
        #expect(answer?.code == 3 && answer?.bytes == Array("question!".utf8))
        let silent = try ChildProcess.ask("sh", ["-c", "exec sleep 100"], [], limit: 9, patience: .milliseconds(1))
        #expect(silent == nil)
        let long = try ChildProcess.ask("sh", ["-c", "printf 1234567890"], [], limit: 9, patience: .seconds(60))
        #expect(long == nil)
        let none = #expect(throws: Failure.self) {
            try ChildProcess.ask("pawl-no-such-program", [], [], limit: 9, patience: .seconds(60))
        }
        #expect(none?.code == .cannotOpen)
    }
}
