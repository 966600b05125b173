import Glibc
import Pawl
import PawlSession
import PawlSystem
import PawlTestKit
import Testing

/// When tasks may run, and what is left of them.
@Suite struct TimeTests {
    @Test func `a task waits for its begin date, and a resource's time ends it with its resume data`() async throws {
        let bench = try SessionBench()
        let notes = Notes(moving: bench.folder.path("moved"))
        var configuration = bench.configuration()
        let (url, payload) = bench.serveStalling("/f", seed: 761)
        let session = DownloadSession(configuration: configuration, delegate: notes)
        let later = session.downloadTask(with: url)
        later.earliestBeginDate = Double(time(nil)) + 3600
        later.resume()
        _ = await session.allTasks
        #expect(later.state == .running)
        #expect(bench.origin.log.of("/f").isEmpty)
        later.earliestBeginDate = nil
        #expect(await notes.until(bytes: 1_000_000))
        session.invalidateAndCancel()
        #expect(await notes.until("over 0"))

        configuration.timeoutIntervalForResource = 0.5
        let hasty = Notes(moving: bench.folder.path("moved"))
        let second = DownloadSession(configuration: configuration, delegate: hasty)
        let task = second.downloadTask(with: url)
        task.resume()
        #expect(await hasty.until("complete 2"))
        let data = try #require(task.error?.downloadTaskResumeData)
        second.invalidateAndCancel()
        configuration.timeoutIntervalForResource = 604_800
        bench.origin.adjust("/f") { $0.cut = nil }
        let third = Notes(moving: bench.folder.path("moved"))
        let last = DownloadSession(configuration: configuration, delegate: third)
        last.downloadTask(withResumeData: data).resume()
        #expect(await third.until("complete 0"))
        #expect(bench.folder.difference("moved", from: payload) == nil)
        last.invalidateAndCancel()
        #expect(await third.until("over 0"))
    }

    @Test(arguments: [0, -1, -Double.infinity, .nan])
    func `a time for the resource that is none fails instead of meaning no limit`(seconds: Double) async throws {
        let bench = try SessionBench()
        let notes = Notes()
        var configuration = bench.configuration()
        configuration.timeoutIntervalForResource = seconds
        let session = DownloadSession(configuration: configuration, delegate: notes)
        let task = session.downloadTask(with: bench.origin.serve("/f", Payload(seed: 763, length: 1)))
        task.resume()
        #expect(await notes.until("complete 28"))
        #expect(bench.origin.log.of("/f").isEmpty)
        session.invalidateAndCancel()
        #expect(await notes.until("over 0"))
    }

    @Test func `B6 resume data whose task lives returns that task, also after a kill`() async throws {
        let bench = try SessionBench()
        let (url, _) = bench.serveStalling("/f", seed: 762)
        let state = bench.folder.path("state")
        let program = PawlBinary.beside("SessionProgram")
        let first = try PawlProcess(program, [state, "keep", url])
        let line = try #require(await aside { first.line { $0.hasPrefix("data ") } })
        #expect(await aside { first.line { $0.hasPrefix("resumed next at") } } != nil, "\(first.errors)")
        #expect(await aside { bench.origin.wait(held: 1, of: "/f") })
        first.send(SIGKILL)
        await aside { _ = first.wait() }

        let second = try PawlProcess(program, [state, "data", String(line.dropFirst(5))])
        // The restored task must not end before.
        #expect(await aside { second.line { $0 == "is made" } } != nil, "\(second.errors)")
        bench.origin.adjust("/f") { $0.cut = nil }
        bench.origin.release("/f")
        #expect(await aside { second.line { $0.hasPrefix("over") } } == "over 0", "\(second.lines) \(second.errors)")
        await aside { _ = second.wait() }
        let finishes = second.lines.filter { $0.hasPrefix("finish") }
        #expect(finishes.count == 1 && finishes[0].hasPrefix("finish data 3000000 "), "\(second.lines)")
        #expect(second.lines.contains("complete data 0"), "\(second.lines)")
        #expect(bench.origin.log.of("/f").last?.request.header("Range") != nil)
    }

    @Test func `a coded response has no resume data`() async throws {
        let bench = try SessionBench()
        let notes = Notes(moving: bench.folder.path("moved"))
        let session = bench.session(notes)
        let (url, _) = bench.serveStalling("/f", seed: 765)
        bench.origin.adjust("/f") { $0.coding = .gzip }
        let task = session.downloadTask(with: url)
        task.resume()
        #expect(await notes.until(bytes: 1_000_000))
        #expect(await task.cancelByProducingResumeData() as [UInt8]? == nil)
        session.invalidateAndCancel()
        #expect(await notes.until("over 0"))
    }

    @Test func `a part that does not begin the content has no resume data`() async throws {
        let bench = try SessionBench()
        let (url, _) = bench.serveStalling("/f", seed: 766)
        for range in ["1000-", "0-2500000"] {
            let notes = Notes()
            var configuration = bench.configuration()
            configuration.options.range = range
            let session = DownloadSession(configuration: configuration, delegate: notes)
            let task = session.downloadTask(with: url)
            task.resume()
            #expect(await notes.until(bytes: 1_000_000))
            let data = await task.cancelByProducingResumeData() as [UInt8]?
            #expect((data != nil) == range.hasPrefix("0-"))
            session.invalidateAndCancel()
            #expect(await notes.until("over 0"))
        }
    }

    @Test func `resume data with another URL is not that of the living task`() async throws {
        let bench = try SessionBench()
        let notes = Notes(moving: bench.folder.path("moved"))
        let session = bench.session(notes)
        let (url, _) = bench.serveStalling("/f", seed: 764)
        let first = session.downloadTask(with: url)
        first.resume()
        #expect(await notes.until(bytes: 1_000_000))
        let data: [UInt8] = try #require(await first.cancelByProducingResumeData())
        let task = session.downloadTask(withResumeData: data)
        var changed = try DownloadResumeData(data)
        changed.change(url: url + "?token=2")
        let other = session.downloadTask(withResumeData: changed.bytes)
        #expect(other !== task)
        #expect(session.downloadTask(withResumeData: data) === task)
        other.resume()
        #expect(await notes.until("complete 8"))
        session.invalidateAndCancel()
        #expect(await notes.until("over 0"))
    }

    @Test func `resume data is handed out once, and to the task that has it`() async throws {
        let bench = try SessionBench()
        let notes = Notes(moving: bench.folder.path("moved"))
        let session = bench.session(notes)
        let (url, payload) = bench.serveStalling("/f", seed: 763)
        let first = session.downloadTask(with: url)
        first.resume()
        #expect(await notes.until(bytes: 1_000_000))
        let data: [UInt8] = try #require(await first.cancelByProducingResumeData())
        bench.origin.adjust("/f") { $0.cut = nil }
        // From several threads at once, too.
        let tasks = await withTaskGroup(of: DownloadTask.self) { group in
            for _ in 1...32 { group.addTask { session.downloadTask(withResumeData: data) } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        let task = tasks[0]
        #expect(tasks.allSatisfy { $0 === task })
        #expect(session.downloadTask(withResumeData: data) === task)
        task.resume()
        #expect(await notes.until("complete 0"))
        #expect(bench.folder.difference("moved", from: payload) == nil)
        session.downloadTask(withResumeData: data).resume()
        #expect(await notes.until("complete 8"))
        session.invalidateAndCancel()
        #expect(await notes.until("over 0"))
    }
}
