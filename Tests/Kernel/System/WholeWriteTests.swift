import Glibc
import PawlTestKit
import Testing

@testable import PawlSystem

@Suite struct WholeWriteTests {
    @Test func `a pipe that another process made non-blocking gets every byte`() throws {
        var ends: [Int32] = [-1, -1]
        try #require(unsafe pipe(&ends) == 0)
        let (reader, writer) = (ends[0], ends[1])
        #expect(fcntl(writer, F_SETFL, O_NONBLOCK) == 0)
        let bytes = Payload(seed: 5, length: 1 << 20).bytes
        let received = Monitor<[UInt8]?>(nil)
        let thread = SystemThread.start {
            var all: [UInt8] = []
            var piece = [UInt8](repeating: 0, count: 10_000)
            while case let count = unsafe read(reader, &piece, piece.count), count > 0 {
                all.append(contentsOf: piece[..<count])
            }
            received.with { $0 = all }
        }
        try WholeWrite.perform(bytes, to: writer)
        close(writer)
        thread.join()
        close(reader)
        #expect(received.read { $0 } == bytes)
    }

    @Test func `only a reader that is gone leaves its writer unread`() throws {
        var ends: [Int32] = [-1, -1]
        try #require(unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        #expect(shutdown(ends[0], Int32(SHUT_RD)) == 0)
        #expect(!WholeWrite.isUnread(ends[0]))
        close(ends[0])
        close(ends[1])
        try #require(unsafe pipe(&ends) == 0)
        defer { close(ends[1]) }
        #expect(!WholeWrite.isUnread(ends[1]))
        close(ends[0])
        #expect(WholeWrite.isUnread(ends[1]))
    }

    @Test func `a reader that is gone is reported`() throws {
        _ = signal(SIGPIPE, SIG_IGN)
        var ends: [Int32] = [-1, -1]
        try #require(unsafe pipe(&ends) == 0)
        close(ends[0])
        let error = #expect(throws: SystemError.self) { try WholeWrite.perform([1, 2, 3], to: ends[1]) }
        #expect(error?.number == EPIPE)
        close(ends[1])
    }
}
