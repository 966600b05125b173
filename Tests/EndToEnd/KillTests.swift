import Glibc
import PawlBase
import PawlJournal
import PawlTestKit
import Testing

/// Kills and clean ends: nothing is lost, nothing is fetched twice.
@Suite(.ownThreads) struct KillTests {
    private let payload = Payload(seed: 51, length: 9_000_000)

    @Test func `A4 C5 killed repeatedly on one connection, no byte is fetched twice`() throws {
        let bench = try Bench()
        let url = bench.origin.serve("/f", payload)
        let stops: [Int64] = [1_048_577, 1_500_000, 1_500_001, 4_194_304, 7_777_777, 8_999_999]
        for stop in stops { try bench.leavePartial(of: "/f", bytes: stop) }
        let outcome = try bench.get(url, "-x", "1")
        #expect(outcome.code == 0, "\(outcome)")
        #expect(outcome.events("started").first?.number("resumedAt") == 8_999_999, "\(outcome)")
        #expect(bench.folder.difference("f", from: payload) == nil)
        #expect(bench.folder.names == ["f"])
        let requests = bench.origin.ended("/f")
        #expect(requests.map(\.bodyStart) == [0] + stops)
        #expect(bench.origin.log.sentTwice("/f") == 0)
    }

    @Test func `A4 killed at any byte the next run continues from what the kernel had`() throws {
        let bench = try Bench()
        let url = bench.origin.serve("/f", payload) { $0.pace = 20_000_000 }
        var resumes: [Int64] = []
        var left: Int64 = 0
        for round in 1...12 {
            let sent = bench.origin.log.bodySent("/f")
            let process = try bench.start(url, "-x", "1")
            bench.origin.wait(bytes: sent + 150_000 + Int64(round) * 37_019, of: "/f")
            process.send(SIGKILL)
            process.wait()
            let start = try #require(bench.origin.ended("/f").last).bodyStart
            // A write that a kill interrupted is not known to be Pawl's alone, and is fetched again.
            #expect(start <= left && left - start <= 1 << 20, "the run began where the killed one was")
            left = FileSystem.size(bench.folder.path("f.part")) ?? 0
            resumes.append(start)
        }
        #expect(resumes == resumes.sorted(), "a later run never begins before an earlier one: \(resumes)")
        try #expect(#require(resumes.last) > 1_000_000, "\(resumes)")
        let outcome = try bench.get(url, "-x", "1")
        #expect(outcome.code == 0, "\(outcome)")
        #expect(bench.folder.difference("f", from: payload) == nil, "\(outcome)")
        #expect(bench.folder.names == ["f"])
    }

    @Test func `A4 A7 killed with several connections the file is correct in the end`() throws {
        let bench = try Bench()
        let big = Payload(seed: 52, length: 24_000_000)
        let url = bench.origin.serve("/f", big) { $0.pace = 8_000_000 }
        var resumes: [Int64] = []
        for round in 1...6 {
            let sent = bench.origin.log.bodySent("/f")
            let process = try bench.start(url, "-x", "4")
            bench.origin.wait(bytes: sent + 1_500_000 + Int64(round) * 401_000, of: "/f")
            process.send(SIGKILL)
            process.wait()
            resumes += process.lines.map(Event.init).filter { $0.word == "started" }.compactMap {
                $0.number("resumedAt")
            }
        }
        let outcome = try bench.get(url, "-x", "4")
        #expect(outcome.code == 0, "\(outcome)")
        #expect(bench.folder.difference("f", from: big) == nil, "\(outcome)")
        #expect(bench.folder.names == ["f"])
        #expect(resumes == resumes.sorted(), "\(resumes)")
    }

    @Test func `A4 D18 killed while the file is moved to its place, it is there once and complete`() throws {
        let bench = try Bench()
        for round in 0..<12 {
            let content = Payload(seed: UInt64(round), length: 1_500_000)
            let path = "/f\(round)"
            let url = bench.origin.serve(path, content)
            let process = try bench.start(url, "-x", "1")
            if round.isMultiple(of: 2) {
                bench.origin.wait(bytes: content.length, of: path)
            } else {
                process.event("finished")
            }
            process.send(SIGKILL)
            process.wait()
            let outcome = try bench.get(url, "-x", "1", "--if-exists", "skip")
            #expect(outcome.code == 0, "\(outcome)")
            #expect(bench.folder.difference("f\(round)", from: content) == nil, "\(outcome)")
        }
        #expect(bench.folder.names == (0..<12).map { "f\($0)" }.sorted())
    }

    @Test(arguments: [SIGINT, SIGTERM]) func `A5 a signal pauses cleanly with code 7 and the same command resumes`(
        signal: Int32
    ) throws {
        let bench = try Bench()
        let url = bench.origin.serve("/f", payload) { $0.cut = .stall(at: 4_000_000) }
        let process = try bench.start(url, "-x", "1")
        #expect(process.progress(reaches: 4_000_000))
        process.send(signal)
        let paused = Outcome(of: process)
        #expect(paused.code == 7, "\(paused)")
        #expect(paused.errors.contains("again") || paused.errors.contains("continue"), "\(paused)")
        #expect(bench.folder.names == ["f.part", "f.pawl"])
        let outcome = try bench.get(url, "-x", "1")
        #expect(outcome.code == 0, "\(outcome)")
        #expect(bench.folder.difference("f", from: payload) == nil)
        #expect(bench.folder.names == ["f"])
        #expect(bench.origin.ended("/f").map(\.bodyStart) == [0, 4_000_000])
        #expect(bench.origin.log.sentTwice("/f") == 0)
    }

    @Test func `A5 C2 paused repeatedly with several connections, no byte is fetched twice`() throws {
        let bench = try Bench()
        let url = bench.origin.serve("/f", payload) { $0.pace = 2_000_000 }
        for _ in 0..<3 {
            let sent = bench.origin.log.bodySent("/f")
            let process = try bench.start(url, "-x", "3")
            bench.origin.wait(bytes: sent + 1_500_000, of: "/f")
            process.send(SIGINT)
            let paused = Outcome(of: process)
            #expect(paused.code == 7, "\(paused)")
        }
        bench.origin.adjust("/f") { $0.pace = nil }
        let written = try #require(bench.journal("f")).written
        #expect(written.runs.count > 1, "several connections left several runs: \(written)")
        let outcome = try bench.get(url, "-x", "1")
        #expect(outcome.code == 0, "\(outcome)")
        #expect(bench.folder.difference("f", from: payload) == nil, "\(outcome)")
        #expect(outcome.events("finished").last?.number("received") == payload.length - written.count)
    }

    @Test func `A8 a new signature in the URL continues the same file`() throws {
        let bench = try Bench()
        let url = bench.origin.serve("/f", payload)
        try bench.leavePartial(of: "/f", query: "?signature=1", bytes: 4_000_000)
        bench.origin.adjust("/f") { $0.pace = 20_000_000 }
        let outcome = try bench.get(url + "?signature=2", "-x", "1")
        #expect(outcome.code == 0, "\(outcome)")
        #expect(bench.folder.difference("f", from: payload) == nil, "\(outcome)")
        #expect(bench.folder.names == ["f"])
        // A tag says nothing about another URL: the last 64 KiB on disk are compared.
        #expect(bench.origin.ended("/f").last?.bodyStart == Int64(4_000_000 - 64 * 1024))
    }

    @Test func `A4 a file whose name leaves no room for a suffix is continued too`() throws {
        let bench = try Bench()
        let name = String(repeating: "n", count: 251) + ".bin"
        let url = bench.origin.serve("/" + name, payload)
        try bench.leavePartial(of: "/" + name, bytes: 4_000_000)
        #expect(bench.folder.names.count == 2)
        let outcome = try bench.get(url, "-x", "1")
        #expect(outcome.code == 0, "\(outcome)")
        #expect(bench.folder.difference(name, from: payload) == nil, "\(outcome)")
        #expect(bench.folder.names == [name])
        #expect(bench.origin.ended("/" + name).map(\.bodyStart) == [0, 4_000_000])
    }

    @Test func `A7 the same file twice at once is refused with code 11 and the first is unharmed`() throws {
        let bench = try Bench()
        let url = bench.origin.serve("/f", payload) { $0.cut = .stall(at: 4_000_000) }
        let first = try bench.start(url, "-x", "1")
        #expect(first.progress(reaches: 4_000_000))
        let second = try bench.get(url, "-x", "1")
        #expect(second.code == 11, "\(second)")
        bench.origin.release("/f")
        let outcome = Outcome(of: first)
        #expect(outcome.code == 0, "\(outcome)")
        #expect(bench.folder.difference("f", from: payload) == nil)
        #expect(bench.folder.names == ["f"])
    }
}
