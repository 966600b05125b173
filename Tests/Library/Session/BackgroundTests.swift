import Glibc
import Pawl
import PawlSession
import PawlTestKit
import Testing

/// State that outlives a session, and state that outlives a program.
@Suite struct BackgroundTests {
    private func run(_ bench: SessionBench, _ arguments: String...) throws -> PawlProcess {
        try PawlProcess(PawlBinary.beside("SessionProgram"), [bench.folder.path("state")] + arguments)
    }

    @Test func `A2 after a kill the tasks are restored, and missed events are delivered in order`() async throws {
        let bench = try SessionBench()
        let urls = (0..<2).map { number in
            bench.origin.serve("/f\(number)", Payload(seed: 710 + UInt64(number), length: 300_000)) {
                if number == 1 { $0.delay = .untilReleased }
            }
        }
        let (stalling, _) = bench.serveStalling("/last", seed: 720, length: 91_000_000)
        let missing = bench.origin.serve("/missing", Payload([])) {
            $0.delay = .untilReleased
            $0.instead = .status(404)
        }
        let first = try run(bench, "hold", urls[0], urls[1], missing, stalling)
        let finished = await aside { first.line { $0.hasPrefix("finish") } }
        #expect(finished == "finish task 0 300000 300000")
        #expect(await aside { first.line { $0 == "all are there" } } != nil, "\(first.errors)")
        // A task frees its slot before its file is in place, so the next one could be reported first.
        await aside {
            bench.origin.wait(held: 1, of: "/f1")
            bench.origin.release("/f1")
            bench.wait { $0.contains("f1") && !$0.contains("f1.pawl") }
            bench.origin.wait(held: 1, of: "/missing")
            bench.origin.release("/missing")
        }
        // Most of it was read by the program: sockets hold up to some 40 MB (tcp_rmem, tcp_wmem).
        #expect(await aside { bench.origin.wait(bytes: 90_000_000, of: "/last") }, "\(first.lines) \(first.errors)")
        first.send(SIGKILL)
        await aside { _ = first.wait() }
        #expect(first.lines.count == 2, "the others were missed: \(first.lines)")
        await bench.quiet("/last")
        bench.origin.adjust("/last") { $0.cut = nil }

        let second = try run(bench, "again")
        #expect(await aside { second.line { $0.hasPrefix("over") } } == "over 0", "\(second.lines) \(second.errors)")
        await aside { _ = second.wait() }
        let output = second.lines.filter { !$0.hasPrefix("found") }
        #expect(
            output.prefix(6) == [
                "finish task 0 300000 300000", "complete task 0 0", "finish task 1 300000 300000", "complete task 1 0",
                "complete task 2 3", "events",
            ], "\(output)")
        #expect(output.contains("complete task 3 0"), "\(output)")
        #expect(output.contains("complete asleep 7"), "\(output)")
        #expect(output.contains { $0.hasPrefix("resumed task 3 at") })
        #expect(second.lines.contains("found task 3 running"))
        #expect(second.lines.contains("found asleep suspended"))
        #expect(bench.origin.log.sentTwice("/last") < 60_000_000)
        #expect(bench.origin.ended("/f0").count == 1)
        #expect(bench.leftovers.isEmpty, "\(bench.leftovers)")
    }

    @Test func `A2 task identifiers are kept, and new ones are above all that were given`() async throws {
        let bench = try SessionBench()
        func list(_ names: String...) async throws -> [String: (number: Int, isNew: Bool)] {
            let program = try PawlProcess(
                PawlBinary.beside("SessionProgram"), [bench.folder.path("state"), "numbers"] + names)
            #expect(await aside { program.line { $0 == "all are there" } } != nil, "\(program.errors)")
            program.send(SIGKILL)
            await aside { _ = program.wait() }
            var tasks: [String: (number: Int, isNew: Bool)] = [:]
            for line in program.lines.dropLast() {
                let words = line.split(separator: " ")
                tasks[String(words[1])] = (try #require(Int(words[0])), words.count == 3)
            }
            return tasks
        }
        let first = try await list("a", "b", "c")
        #expect(first.values.map(\.number).sorted() == [1, 2, 3])
        // Made before the earlier ones are restored.
        let second = try await list("d")
        #expect(second.count == 4 && second["d"]?.isNew == true)
        for name in ["a", "b", "c"] { #expect(second[name]?.number == first[name]?.number) }
        let highest = try #require(second["d"]?.number)
        #expect(highest > 3)
        let third = try await list("e")
        #expect(third["d"]?.number == highest)
        #expect(try #require(third["e"]?.number) > highest)
    }

    @Test func `B6 resume data is valid once, also in another process`() async throws {
        let bench = try SessionBench()
        let notes = Notes()
        let (url, payload) = bench.serveStalling("/f", seed: 730)
        let session = bench.session(notes)
        let task = session.downloadTask(with: url)
        task.resume()
        #expect(await notes.until(bytes: 1_500_000))
        let data = try #require(await task.cancelByProducingResumeData())
        #expect(try DownloadResumeData(data).url == url)
        #expect(await notes.until("complete 7"))
        session.invalidateAndCancel()
        #expect(await notes.until("over 0"))
        await bench.quiet("/f")
        bench.origin.adjust("/f") { $0.cut = nil }
        let digits = data.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        let received = try DownloadResumeData(data).received

        let other = try run(bench, "data", digits)
        await aside { _ = other.wait() }
        #expect(other.lines.contains("resumed data at \(received) of \(payload.length)"), "\(other.lines)")
        #expect(other.lines.contains("complete data 0"), "\(other.lines) \(other.errors)")
        #expect(bench.origin.ended("/f").last?.bodyStart == received)
        let again = try run(bench, "data", digits)
        await aside { _ = again.wait() }
        #expect(again.lines == ["is made", "complete data 8", "over 0"], "\(again.lines) \(again.errors)")
        #expect(bench.leftovers.isEmpty, "\(bench.leftovers)")
    }

    @Test func `B6 when resume data is handed out, a kill does not bring its task back`() async throws {
        let bench = try SessionBench()
        let (url, payload) = bench.serveStalling("/f", seed: 731)
        let first = try run(bench, "hand", url)
        let line = try #require(await aside { first.line { $0.hasPrefix("data ") } })
        first.send(SIGKILL)
        await aside { _ = first.wait() }
        await bench.quiet("/f")
        bench.origin.adjust("/f") { $0.cut = nil }

        let second = try run(bench, "data", String(line.dropFirst(5)))
        #expect(await aside { second.line { $0.hasPrefix("over") } } == "over 0", "\(second.lines) \(second.errors)")
        await aside { _ = second.wait() }
        #expect(second.lines.contains { $0.hasPrefix("finish data \(payload.length) ") }, "\(second.lines)")
    }

    @Test func `A2 an identifier belongs to one session at a time, and is free when that is over`() async throws {
        let bench = try SessionBench()
        let (firstNotes, secondNotes, thirdNotes) = (Notes(), Notes(), Notes())
        let first = bench.session(firstNotes, identifier: "../films")
        #expect(await first.allTasks.isEmpty)
        let second = bench.session(secondNotes, identifier: "../films")
        let task = second.downloadTask(with: bench.origin.url("/f"))
        task.resume()
        #expect(await secondNotes.until("over 11"))
        // The session may have ended before the task was created; then that was refused.
        #expect(await secondNotes.until("complete 11"))
        let reports = secondNotes.all
        #expect([["complete 11 completed", "over 11"], ["over 11", "complete 11 completed"]].contains(reports))
        #expect(task.state == .completed && task.error != nil)
        let heard = secondNotes.all.count
        let late = second.downloadTask(with: bench.origin.url("/f"))
        #expect(late.state == .completed && late.error?.code == .alreadyDownloading)
        #expect(secondNotes.all.count == heard, "the program does not know the task yet")
        late.resume()
        late.resume()
        #expect(await secondNotes.until("complete 11 completed", times: 2))
        second.downloadTask(with: bench.origin.url("/f")).cancel()
        #expect(await secondNotes.until("complete 11 completed", times: 3))
        let error = await withCheckedContinuation { continuation in
            let handled = second.downloadTask(with: bench.origin.url("/f")) { _, _, error in
                continuation.resume(returning: error)
            }
            handled.resume()
        }
        #expect(error?.code == .alreadyDownloading)
        // What could not be used is handed back.
        let data = DownloadResumeData(
            DownloadResumeData.Request(url: bench.origin.url("/f"), headers: [:]), received: 5,
            partialName: "PawlDownload_x.tmp")
        let resumed = second.downloadTask(withResumeData: data.bytes)
        #expect(resumed.error?.downloadTaskResumeData == data.bytes)
        #expect(await second.allTasks.isEmpty)
        second.invalidateAndCancel()
        #expect(second.delegate == nil)
        first.invalidateAndCancel()
        #expect(await firstNotes.until("over 0"))
        let third = bench.session(thirdNotes, identifier: "../films")
        #expect(await third.allTasks.isEmpty)
        third.invalidateAndCancel()
        #expect(await thirdNotes.until("over 0"))
        #expect(bench.folder.names == ["state"])
    }
}
