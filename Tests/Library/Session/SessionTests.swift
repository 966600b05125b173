import Glibc
import PawlTestKit
import Testing

@testable import Pawl
@testable import PawlSession
@testable import PawlSystem

/// Tasks of one session, as code for NSURLSession uses them.
@Suite struct SessionTests {
    private let payload = Payload(seed: 700, length: 3_000_000)

    @Test func `A3 nothing runs before resume, and a task carries a description`() async throws {
        let bench = try SessionBench()
        let notes = Notes()
        let session = bench.session(notes)
        let task = session.downloadTask(with: bench.origin.serve("/f", payload))
        task.taskDescription = "film"
        #expect(await session.allTasks.map(\.taskDescription) == ["film"])
        #expect(task.state == .suspended)
        #expect(bench.origin.log.of("/f").isEmpty)
        task.resume()
        #expect(await notes.until("complete"))
        #expect(task.state == .completed)
        session.finishTasksAndInvalidate()
        #expect(await notes.until("over"))
    }

    @Test func `B3 didWrite, didFinish with the headers, didComplete; the file can be moved away`() async throws {
        let bench = try SessionBench()
        let notes = Notes(moving: bench.folder.path("moved"))
        let session = bench.session(notes)
        let task = session.downloadTask(with: bench.origin.serve("/film.mp4", payload))
        task.resume()
        #expect(await notes.until("complete"))
        #expect(Set(notes.all.dropLast(2)) == ["write"], "\(notes.all)")
        #expect(notes.all.suffix(2) == ["finish 200 film.mp4", "complete 0 completed"])
        #expect(notes.writes.reduce(0) { $0 + $1.new } == payload.length)
        #expect(notes.writes.last?.written == payload.length)
        #expect(notes.writes.allSatisfy { $0.expected == payload.length })
        #expect(task.countOfBytesReceived == payload.length)
        #expect(task.response?.value(forHTTPHeaderField: "content-type") == "application/octet-stream")
        #expect(bench.folder.difference("moved", from: payload) == nil)
        session.finishTasksAndInvalidate()
        #expect(await notes.until("over 0"))
        #expect(bench.leftovers.isEmpty, "\(bench.leftovers)")
    }

    @Test func `B3 every header of the response is there, repeated ones joined, whatever their letter case`()
        async throws
    {
        let bench = try SessionBench()
        let notes = Notes()
        let session = bench.session(notes)
        let url = bench.origin.serve("/f", payload) {
            $0.add(header: "X-Archive-Place: shelf 7")
            $0.add(header: "Set-Cookie: id=1")
            $0.add(header: "set-cookie: id=2")
            $0.add(header: "x-lower: yes")
        }
        let task = session.downloadTask(with: url)
        task.resume()
        #expect(await notes.until("complete 0"))
        let response = try #require(task.response)
        #expect(response.statusCode == 200)
        #expect(response.allHeaderFields["X-Archive-Place"] == "shelf 7")
        #expect(response.allHeaderFields["Set-Cookie"] == "id=1, id=2")
        #expect(response.allHeaderFields["X-Lower"] == "yes")
        #expect(response.value(forHTTPHeaderField: "x-archive-PLACE") == "shelf 7")
        #expect(response.value(forHTTPHeaderField: "content-length") == "3000000")
        #expect(response.value(forHTTPHeaderField: "x-none") == nil)
        #expect(response.mimeType == "application/octet-stream")
        session.invalidateAndCancel()
        #expect(await notes.until("over 0"))
    }

    @Test func `B6 a failure offers resume data to a new task, once`() async throws {
        let bench = try SessionBench()
        let notes = Notes()
        let session = bench.session(notes)
        let (url, payload) = bench.serveStalling("/f", seed: 706)
        let task = session.downloadTask(with: url)
        task.resume()
        #expect(await notes.until(bytes: 1_000_000))
        task.suspend()
        await bench.quiet("/f")
        bench.origin.adjust("/f") { $0.instead = .status(403) }
        task.resume()
        #expect(await notes.until("complete"))
        let error = try #require(task.error)
        let data = try #require(error.downloadTaskResumeData)
        let received = try DownloadResumeData(data).received
        #expect(received > 0 && received <= 2_000_000)
        bench.origin.adjust("/f") { ($0.cut, $0.instead) = (nil, nil) }
        let heard = Monitor<[String]>([])
        let moved = bench.folder.path("moved")
        for _ in 0..<2 {
            let next = session.downloadTask(withResumeData: data) { location, _, error in
                if let location { try? FileSystem.move(location, to: moved) }
                heard.with { $0.append("\(error?.code.rawValue ?? 0)") }
            }
            next.resume()
        }
        #expect(await aside { heard.wait { $0.count == 2 ? $0.sorted() : nil } } == ["0", "8"])
        #expect(bench.folder.difference("moved", from: payload) == nil)
        #expect(bench.origin.ended("/f").last?.bodyStart == received)
        // Nothing was received: nothing is offered.
        session.downloadTask(with: bench.origin.url("/missing")) { _, _, error in
            heard.with { $0.append("\(error?.downloadTaskResumeData == nil)") }
        }.resume()
        #expect(await aside { heard.wait { $0.count == 3 ? $0.last : nil } } == "true")
        session.invalidateAndCancel()
        #expect(await notes.until("over 0"))
        #expect(bench.leftovers.isEmpty, "\(bench.leftovers)")
    }

    @Test func `partials of failures are kept a month for their tasks, requested ones always`() async throws {
        let bench = try SessionBench()
        let folder = bench.folder.path("state/.partials")
        let names = ["PawlDownload_failed_old.tmp", "PawlDownload_failed_new.tmp", "PawlDownload_old.tmp"]
        for path in [bench.folder.path("state"), folder] { unsafe mkdir(path, 0o700) }
        for name in names { try FileSystem.write([1], to: "\(folder)/\(name)") }
        let old = [timeval(tv_sec: 1_000_000_000, tv_usec: 0), timeval(tv_sec: 1_000_000_000, tv_usec: 0)]
        for name in names where name.contains("old") { unsafe utimes("\(folder)/\(name)", old) }
        let notes = Notes()
        let session = bench.session(notes)
        #expect(await session.allTasks.isEmpty)
        #expect(FileSystem.names(in: folder) == ["PawlDownload_failed_new.tmp", "PawlDownload_old.tmp"])
        session.invalidateAndCancel()
        #expect(await notes.until("over 0"))
    }

    @Test func `B3 a file that is not moved is removed, and a failure is reported by didComplete alone`() async throws {
        let bench = try SessionBench()
        let notes = Notes()
        let session = bench.session(notes, identifier: "films")
        session.downloadTask(with: bench.origin.serve("/f", payload)).resume()
        #expect(await notes.until("complete"))
        session.downloadTask(with: bench.origin.url("/missing")).resume()
        session.downloadTask(with: "gopher://example.org/").resume()
        #expect(await notes.until("complete", times: 3))
        let completions = notes.all.filter { $0.hasPrefix("complete") }.sorted()
        #expect(completions == ["complete 0 completed", "complete 0 completed", "complete 28 completed"])
        #expect(notes.all.filter { $0.hasPrefix("finish") } == ["finish 200 f", "finish 404 missing"])
        session.finishTasksAndInvalidate()
        #expect(await notes.until("over 0"))
        #expect(bench.leftovers.isEmpty, "\(bench.leftovers)")
    }

    @Test func `B2 a completion handler wins over the delegate`() async throws {
        let bench = try SessionBench()
        let notes = Notes()
        let session = bench.session(notes)
        let moved = bench.folder.path("moved")
        let heard = Monitor<[String]>([])
        session.downloadTask(with: bench.origin.serve("/f", payload)) { location, response, error in
            if let location { try? FileSystem.move(location, to: moved) }
            heard.with { $0.append("\(response?.statusCode ?? 0) \(error?.code.rawValue ?? 0)") }
        }.resume()
        session.downloadTask(with: bench.origin.url("/missing")) { location, response, error in
            let status = location == nil ? nil : response?.statusCode
            heard.with { $0.append("\(status ?? 0) \(error?.code.rawValue ?? 0)") }
        }.resume()
        let words = await aside { heard.wait { $0.count == 2 ? Set($0) : nil } }
        #expect(words == ["200 0", "404 0"])
        #expect(bench.folder.difference("moved", from: payload) == nil)
        session.finishTasksAndInvalidate()
        #expect(await notes.until("over 0"))
        #expect(notes.all == ["over 0"])
    }

    @Test func `A7 two tasks of one URL never collide`() async throws {
        let bench = try SessionBench()
        let notes = Notes()
        let session = bench.session(notes)
        let (url, _) = bench.serveStalling("/f", seed: 701)
        let first = session.downloadTask(with: url)
        first.resume()
        #expect(await notes.until(bytes: 1_000_000))
        first.suspend()
        await bench.quiet("/f")
        let second = session.downloadTask(with: url)
        second.cancel()
        #expect(await notes.until("complete 7"))
        bench.origin.adjust("/f") { $0.cut = nil }
        first.resume()
        #expect(await notes.until("complete 0"))
        #expect(bench.origin.ended("/f").last?.bodyStart ?? 0 > 0, "its bytes were kept")
        session.invalidateAndCancel()
        #expect(await notes.until("over 0"))
    }

    @Test func `D1 suspend keeps the slot, cancel with resume data frees it, resume after a cancel does nothing`()
        async throws
    {
        let bench = try SessionBench()
        let notes = Notes()
        let session = bench.session(notes, slots: 1)
        let first = session.downloadTask(with: bench.serveStalling("/a", seed: 702).url)
        let second = session.downloadTask(with: bench.serveStalling("/b", seed: 703).url)
        first.resume()
        #expect(await notes.until(bytes: 1_000_000))
        first.suspend()
        second.resume()
        await bench.quiet("/a")
        #expect(await session.allTasks.map(\.state) == [.suspended, .running])
        #expect(bench.origin.log.of("/b").isEmpty)
        let data = await first.cancelByProducingResumeData()
        #expect(data != nil)
        #expect(await aside { bench.origin.wait(requests: 1, of: "/b") })
        second.cancel()
        #expect(await notes.until("complete 7", times: 2))
        // As of NSURLSession, the error has them too.
        #expect(first.error?.downloadTaskResumeData == data)
        #expect(second.error?.downloadTaskResumeData == nil)
        let requested = bench.origin.log.records.count
        second.resume()
        #expect(second.state == .completed)
        #expect(await second.cancelByProducingResumeData() == nil)
        #expect(bench.origin.log.records.count == requested)
        session.invalidateAndCancel()
        #expect(await notes.until("over 0"))
        #expect(bench.leftovers.count == 1, "the partial that waits for its resume data: \(bench.leftovers)")
    }

    @Test func `B8 a smaller total after a resume never makes progress decrease or exceed the end`() async throws {
        let bench = try SessionBench()
        let notes = Notes(moving: bench.folder.path("moved"))
        let session = bench.session(notes)
        let smaller = Payload(seed: 705, length: 2_500_000)
        let url = bench.origin.serve("/f", versions: [Payload(seed: 704, length: 3_000_000), smaller]) {
            $0.cut = .stall(from: 2_000_000)
        }
        let task = session.downloadTask(with: url)
        task.resume()
        #expect(await notes.until(bytes: 1_500_000))
        task.suspend()
        await bench.quiet("/f")
        bench.origin.advance("/f")
        bench.origin.adjust("/f") { $0.cut = nil }
        task.resume()
        #expect(await notes.until("complete 0"))
        let written = notes.writes.map(\.written)
        #expect(written == written.sorted())
        #expect(notes.writes.allSatisfy { $0.written <= $0.expected })
        #expect(bench.folder.difference("moved", from: smaller) == nil)
        #expect(task.countOfBytesExpectedToReceive == smaller.length)
        session.invalidateAndCancel()
        #expect(await notes.until("over 0"))
    }

    @Test func `a session's record of a task is read back unchanged`() {
        var request = SessionRequest(url: "http://a.example/x?y=1")
        request.setValue("a: b", forHTTPHeaderField: "X-Note")
        request.timeoutInterval = 2.5
        for description in [nil, "", "two\n\nparts\n"] {
            let note = TaskNote(number: 7, folder: "f", request: request, description: description)
            #expect(TaskNote(note.text) == note)
        }
        #expect(TaskNote("") == nil)
        #expect(TaskNote("x\n\n") == nil)
    }

    @Test func `a task whose file nobody would receive fails instead of losing it`() async throws {
        let bench = try SessionBench()
        let url = bench.origin.serve("/f", Payload(seed: 741, length: 1000))
        let session = bench.session()
        let task = session.downloadTask(with: url)
        task.resume()
        // A task with a handler runs.
        let length = await withCheckedContinuation { continuation in
            session.downloadTask(with: url) { path, _, _ in
                continuation.resume(returning: path.map { FileSystem.size($0) ?? -1 } ?? -1)
            }.resume()
        }
        #expect(length == 1000)
        #expect(task.state == .completed)
        #expect(task.error?.code == .badOption)
        #expect(bench.origin.log.of("/f").count == 1)
        session.invalidateAndCancel()
    }

    @Test func `a request that is no download is refused, and its timeout is honoured`() async throws {
        let bench = try SessionBench()
        let notes = Notes()
        let url = bench.origin.serve("/f", Payload(seed: 742, length: 3_000_000)) { $0.cut = .stall(from: 1000) }
        let session = bench.session(notes)
        var post = SessionRequest(url: url)
        post.httpMethod = "POST"
        var body = SessionRequest(url: url)
        body.httpBody = [1]
        var ranged = SessionRequest(url: url)
        ranged.setValue("bytes=0-9", forHTTPHeaderField: "range")
        // Nothing of a request is left out without a word.
        var framed = SessionRequest(url: url)
        framed.setValue("1", forHTTPHeaderField: "Content-Length")
        var empty = SessionRequest(url: url)
        empty.setValue(" ", forHTTPHeaderField: "X-Key")
        for request in [post, body, ranged, framed, empty] {
            let task = session.downloadTask(with: request)
            task.resume()
        }
        #expect(await notes.until("complete 28", times: 5))
        #expect(bench.origin.log.of("/f").isEmpty)
        var hasty = SessionRequest(url: url)
        hasty.timeoutInterval = 0.2
        session.downloadTask(with: hasty).resume()
        // The session's own is a minute.
        #expect(await notes.until("complete 2 "))
        session.invalidateAndCancel()
        #expect(await notes.until("over 0"))
    }

    @Test func `a completion handler is called although its session was invalidated before`() async throws {
        let bench = try SessionBench()
        let notes = Notes()
        let url = bench.origin.serve("/f", Payload(seed: 743, length: 1000))
        let session = bench.session(notes)
        session.invalidateAndCancel()
        #expect(await notes.until("over 0"))
        let error = await withCheckedContinuation { continuation in
            session.downloadTask(with: url) { _, _, error in continuation.resume(returning: error) }.resume()
        }
        #expect(error?.code == .cannotResume)
        #expect(bench.origin.log.of("/f").isEmpty)
    }

    @Test func `a session that finishes its tasks accepts none from then on`() async throws {
        let bench = try SessionBench()
        let notes = Notes()
        let url = bench.origin.serve("/f", Payload(seed: 744, length: 1000))
        let session = bench.session(notes)
        session.downloadTask(with: url).resume()
        session.finishTasksAndInvalidate()
        let late = session.downloadTask(with: url)
        late.resume()
        #expect(late.state == .completed && late.error?.code == .cannotResume)
        #expect(await notes.until("over 0"))
        #expect(notes.all.filter { $0.hasPrefix("complete") } == ["complete 0 completed"])
        #expect(bench.origin.log.of("/f").count == 1)
    }

    /// Records the ends of one task.
    private final class Ends: DownloadTaskDelegate {
        let codes = Monitor<[UInt8?]>([])

        func urlSession(_ session: DownloadSession, task: DownloadTask, didCompleteWithError error: PawlError?) {
            codes.with { $0.append(error?.code.rawValue) }
        }
    }

    @Test func `a late task's own delegate is called, and not that of its invalidated session`() async throws {
        let bench = try SessionBench()
        let notes = Notes()
        let session = bench.session(notes)
        let first = session.downloadTask(with: bench.origin.url("/f"))
        session.finishTasksAndInvalidate()
        let (late, ends) = (session.downloadTask(with: bench.origin.url("/f")), Ends())
        late.delegate = ends
        late.resume()
        late.cancel()
        #expect(await aside { ends.codes.wait { $0.isEmpty ? nil : $0 } } == [8])
        #expect(notes.all.isEmpty)
        first.cancel()
        #expect(await notes.until("over 0"))
        #expect(ends.codes.read { $0 } == [8])
    }

    /// Invalidates the session in the first call.
    private final class Hasty: DownloadSessionDelegate {
        let lines = Monitor<[String]>([])

        func urlSession(_ session: DownloadSession, downloadTask: DownloadTask, didFinishDownloadingTo location: String)
        {}

        func urlSession(_ session: DownloadSession, task: DownloadTask, didCompleteWithError error: PawlError?) {
            lines.with { $0.append("complete \(error?.code.rawValue ?? 0)") }
            session.invalidateAndCancel()
        }

        func urlSession(_ session: DownloadSession, didBecomeInvalidWithError error: PawlError?) {
            lines.with { $0.append("over \(error?.code.rawValue ?? 0)") }
        }
    }

    @Test func `an invalidation does not silence a session that could not be opened`() async throws {
        let bench = try SessionBench()
        let owner = bench.session(identifier: "films")
        #expect(await owner.allTasks.isEmpty)
        let hasty = Hasty()
        // The session fails when all tasks are there.
        let areThere = Monitor(false)
        let blocker = Task(executorPreference: DownloadSession.executor) { _ = areThere.wait { $0 ? true : nil } }
        let session = DownloadSession(configuration: bench.configuration("films"), delegate: hasty)
        for _ in 0..<3 { session.downloadTask(with: bench.origin.url("/f")).resume() }
        areThere.with { $0 = true }
        await blocker.value
        let lines = await aside { hasty.lines.wait { $0.contains("over 11") && $0.count == 4 ? $0 : nil } }
        #expect(lines?.filter { $0 == "complete 11" }.count == 3, "\(hasty.lines.read { $0 })")
        owner.invalidateAndCancel()
        let end = ContinuousClock.now + .patience
        while session.delegate != nil, ContinuousClock.now < end { await Task.yield() }
        #expect(session.delegate == nil)
        // It has left its identifier alone.
        let notes = Notes()
        let next = bench.session(notes, identifier: "films")
        #expect(await next.allTasks.isEmpty)
        next.invalidateAndCancel()
        #expect(await notes.until("over 0"))
    }

    @Test func `tasks of a session that could not be opened fail with its reason`() async throws {
        let bench = try SessionBench()
        let notes = Notes()
        var configuration = bench.configuration("films")
        configuration.stateFolder = "/proc/none"
        let session = DownloadSession(configuration: configuration, delegate: notes)
        #expect(await notes.until("over 18"))
        let task = session.downloadTask(with: bench.origin.url("/f"))
        #expect(task.error?.code == .cannotMakeFolder)
        let other = Notes()
        configuration.stateFolder = ""
        _ = DownloadSession(configuration: configuration, delegate: other)
        #expect(await other.until("over 28"))
    }

    @Test func `an invalidated session, its tasks and its delegate are released`() async throws {
        let bench = try SessionBench()
        let url = bench.origin.serve("/f", Payload(seed: 745, length: 1000))
        weak var ended: DownloadTask?
        weak var over: DownloadSession?
        func run() async {
            let notes = Notes()
            let session = bench.session(notes)
            let task = session.downloadTask(with: url)
            (ended, over) = (task, session)
            task.resume()
            #expect(await notes.until("complete 0"))
            session.finishTasksAndInvalidate()
            #expect(await notes.until("over 0"))
        }
        await run()
        let end = ContinuousClock.now + .patience
        while over != nil || ended != nil, ContinuousClock.now < end { await Task.yield() }
        #expect(over == nil && ended == nil)
    }

    @Test func `a background session is created again right after it was invalidated`() async throws {
        let bench = try SessionBench()
        let payload = Payload(seed: 779, length: 100_000)
        let url = bench.origin.serve("/f", payload)
        let (stalling, _) = bench.serveStalling("/s", seed: 780)
        let all = (0..<4).map { _ in Notes(moving: bench.folder.path("moved")) }
        for notes in all.dropLast() {
            let session = bench.session(notes, identifier: "again")
            session.downloadTask(with: stalling).resume()
            session.invalidateAndCancel()
        }
        let session = bench.session(all[3], identifier: "again")
        session.downloadTask(with: url).resume()
        #expect(await all[3].until("complete 0"))
        #expect(bench.folder.difference("moved", from: payload) == nil)
        for notes in all.dropLast() { #expect(await notes.until("over 0")) }
        // One that is not invalidated is not waited for.
        let second = Notes()
        let other = bench.session(second, identifier: "again")
        #expect(await second.until("over 11"))
        session.invalidateAndCancel()
        #expect(await all[3].until("over 0"))
        other.invalidateAndCancel()
        #expect(bench.leftovers.isEmpty, "\(bench.leftovers)")
    }
}
