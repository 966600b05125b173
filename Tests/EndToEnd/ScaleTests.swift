import PawlTestKit
import Testing

/// Big files and many of them.
@Suite(.ownThreads, .serialized) struct ScaleTests {
    @Test func `C4 G3 a file over 4 GiB on 16 connections is right and takes under 40 MiB`() throws {
        let bench = try Bench(in: "/dev/shm")
        let payload = Payload(seed: 101, length: 4 << 30 + 12_345)
        let url = bench.origin.serve("/big", payload) { $0.cut = .stall(at: payload.length - 1) }
        let process = try bench.start(url, "-x", "16", "--timeout", "60")
        #expect(
            process.line(atMost: .seconds(180)) { Event(line: $0).number("written") == payload.length - 1 } != nil,
            "\(process.errors)")
        let peak = try #require(process.peakResident)
        bench.origin.adjust("/big") { $0.cut = nil }
        bench.origin.release("/big")
        let outcome = Outcome(of: process)
        #expect(outcome.code == 0, "\(outcome)")
        #expect(peak < 40 << 20, "\(peak >> 20) MiB resident")
        #expect(bench.folder.difference("big", from: payload) == nil)
        #expect(bench.folder.names == ["big"])
        #expect(bench.origin.log.mostOpen > 4)
    }

    @Test func `A4 a file over 4 GiB continues beyond the 32 bits`() throws {
        let bench = try Bench(in: "/dev/shm")
        let payload = Payload(seed: 102, length: 4 << 30 + 3_000_000)
        let url = bench.origin.serve("/big", payload) { $0.cut = .stall(at: 4 << 30 + 1_000_001) }
        let process = try bench.start(url, "-x", "1", "--timeout", "60")
        #expect(
            process.line(atMost: .seconds(180)) { Event(line: $0).number("written") == 4 << 30 + 1_000_001 } != nil,
            "\(process.errors)")
        process.send(9)
        process.wait()
        bench.origin.adjust("/big") { $0.cut = nil }
        let outcome = try bench.get(url, "-x", "1")
        #expect(outcome.code == 0, "\(outcome)")
        #expect(bench.origin.ended("/big").map(\.bodyStart) == [0, 4 << 30 + 1_000_001])
        #expect(bench.folder.difference("big", from: payload) == nil)
    }

    @Test func `C4 10,000 URLs from a file take under 80 MiB, each file right`() throws {
        let bench = try Bench(in: "/dev/shm")
        let count = 10_000
        var list = ""
        for number in 0..<count {
            let path = "/many/file-\(number).bin"
            list +=
                bench.origin.serve(path, Payload(seed: UInt64(number), length: 300)) { behaviour in
                    if number == count - 1 { behaviour.delay = .untilReleased }
                } + "\n"
        }
        try FileSystem.write(Array(list.utf8), to: bench.folder.path("list"))
        let process = try bench.start("-i", "list", "-d", "out", "-j", "16", "--timeout", "60")
        let last = "/many/file-\(count - 1).bin"
        #expect(bench.origin.wait(atMost: .seconds(120)) { $0.records.count >= count })
        #expect(bench.origin.wait(held: 1, of: last))
        let peak = try #require(process.peakResident)
        bench.origin.release(last)
        let outcome = Outcome(of: process)
        #expect(outcome.code == 0, "\(outcome.errors)")
        #expect(peak < 80 << 20, "\(peak >> 20) MiB resident")
        let out = bench.folder.path("out")
        #expect(FileSystem.names(in: out).count == count)
        let wrong = (0..<count).filter { number in
            let content = Payload(seed: UInt64(number), length: 300)
            return FileSystem.contents("\(out)/file-\(number).bin") != content.bytes
        }
        #expect(wrong.isEmpty, "\(wrong.prefix(5))")
    }
}
