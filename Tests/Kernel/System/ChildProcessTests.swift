import Glibc
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
}
