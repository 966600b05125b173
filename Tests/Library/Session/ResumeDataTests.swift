import Glibc
import Pawl
import PawlSession
import PawlSystem
import PawlTestKit
import Testing

/// Resume data whose task ends before it has a response.
@Suite(.timeLimit(.minutes(2))) struct ResumeDataTests {
    /// Resume data of a task that has received more than a million bytes.
    private func data(_ session: DownloadSession, _ notes: Notes, _ url: String) async throws -> [UInt8] {
        let task = session.downloadTask(with: url)
        task.resume()
        #expect(await notes.until(bytes: 1_000_000))
        return try #require(await task.cancelByProducingResumeData())
    }

    @Test(arguments: [false, true]) func `B6 a task from resume data that is cancelled at once has new resume data`(
        isResumed: Bool
    ) async throws {
        let bench = try SessionBench()
        let notes = Notes(moving: bench.folder.path("moved"))
        let session = bench.session(notes)
        let (url, payload) = bench.serveStalling("/f", seed: 770)
        var data = try await data(session, notes, url)
        let received = try DownloadResumeData(data).received
        await bench.quiet("/f")
        for _ in 0..<3 {
            let task = session.downloadTask(withResumeData: data)
            if isResumed { task.resume() }
            data = try #require(await task.cancelByProducingResumeData())
            #expect(try DownloadResumeData(data).received >= received)
        }
        await bench.quiet("/f")
        bench.origin.adjust("/f") { $0.cut = nil }
        session.downloadTask(withResumeData: data).resume()
        #expect(await notes.until("complete 0"))
        #expect(bench.folder.difference("moved", from: payload) == nil)
        #expect(try #require(bench.origin.ended("/f").last?.bodyStart) >= received)
        session.invalidateAndCancel()
        #expect(await notes.until("over 0"))
        #expect(bench.leftovers.isEmpty, "\(bench.leftovers)")
    }

    @Test func `B6 a task from resume data that cannot run keeps the data`() async throws {
        let bench = try SessionBench()
        let notes = Notes(moving: bench.folder.path("moved"))
        let session = bench.session(notes)
        let (url, payload) = bench.serveStalling("/f", seed: 771)
        var data = try await data(session, notes, url)
        await bench.quiet("/f")
        bench.origin.adjust("/f") { $0.cut = nil }
        // Its options are refused, and nobody would receive the file of the second.
        var configuration = bench.configuration()
        configuration.timeoutIntervalForRequest = -1
        let strict = DownloadSession(configuration: configuration, delegate: Notes())
        let deaf = bench.session()
        for other in [strict, deaf] {
            let task = other.downloadTask(withResumeData: data)
            task.resume()
            while task.state != .completed { await Task.yield() }
            #expect(task.error?.code == .badOption)
            data = try #require(task.error?.downloadTaskResumeData)
            other.invalidateAndCancel()
        }
        session.downloadTask(withResumeData: data).resume()
        #expect(await notes.until("complete 0"))
        #expect(bench.folder.difference("moved", from: payload) == nil)
        #expect(bench.origin.ended("/f").last?.bodyStart ?? 0 > 0)
        session.invalidateAndCancel()
        #expect(await notes.until("over 0"))
    }

    /// Holds the session's thread at the first bytes of a task.
    private final class Holding: DownloadSessionDelegate {
        let gate = Monitor(false)
        let lines = Monitor<[String]>([])
        private let moved: String

        init(moving path: String) { moved = path }

        func urlSession(
            _ session: DownloadSession, downloadTask: DownloadTask, didWriteData bytesWritten: Int64,
            totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
        ) {
            lines.with { $0.append("write") }
            _ = gate.wait { $0 ? true : nil }
        }

        func urlSession(_ session: DownloadSession, downloadTask: DownloadTask, didFinishDownloadingTo location: String)
        {
            try? FileSystem.move(location, to: moved)
            lines.with { $0.append("finish") }
        }

        func urlSession(_ session: DownloadSession, task: DownloadTask, didCompleteWithError error: PawlError?) {
            lines.with { $0.append("complete \(error?.code.rawValue ?? 0)") }
        }
    }

    @Test func `B6 a file that is complete when its resume data is requested is reported as finished`() async throws {
        let bench = try SessionBench()
        let delegate = Holding(moving: bench.folder.path("moved"))
        let payload = Payload(seed: 772, length: 500_000)
        let url = bench.origin.serve("/f", payload)
        let session = DownloadSession(configuration: bench.configuration(), delegate: delegate)
        let task = session.downloadTask(with: url)
        task.resume()
        #expect(await aside { delegate.lines.wait { $0.isEmpty ? nil : true } } == true)
        await aside { bench.wait { $0 == ["f"] } }
        let data = Monitor<[UInt8]??>(nil)
        task.cancel { (bytes: [UInt8]?) in data.with { $0 = .some(bytes) } }
        #expect(task.state == .canceling)
        delegate.gate.with { $0 = true }
        #expect(await aside { data.wait { $0 } } == .some(nil))
        let ends = await aside { delegate.lines.wait { $0.contains { $0.hasPrefix("complete") } ? $0 : nil } }
        #expect(ends == ["write", "finish", "complete 0"])
        #expect(bench.folder.difference("moved", from: payload) == nil)
        session.invalidateAndCancel()
    }

    /// The part files in the tasks' folders.
    private func parts(_ bench: SessionBench) -> [String] {
        let state = bench.folder.path("state")
        return FileSystem.names(in: state).filter { $0 != ".partials" }.flatMap { root in
            FileSystem.names(in: "\(state)/\(root)").filter { $0 != ".pawl" }.flatMap { task in
                FileSystem.names(in: "\(state)/\(root)/\(task)").filter { $0.hasSuffix(".part") }.map {
                    "\(state)/\(root)/\(task)/\($0)"
                }
            }
        }
    }

    @Test func `B6 the bytes of a task from resume data are moved, not copied`() async throws {
        let bench = try SessionBench()
        let notes = Notes(moving: bench.folder.path("moved"))
        let session = bench.session(notes)
        let (url, payload) = bench.serveStalling("/f", seed: 772)
        let data = try await data(session, notes, url)
        await bench.quiet("/f")
        let name = try #require(FileSystem.names(in: bench.folder.path("state/.partials")).first)
        let inode = FileSystem.inode(bench.folder.path("state/.partials/\(name)"))
        #expect(inode != nil)
        bench.origin.adjust("/f") { $0.cut = .stall(from: payload.length - 1) }
        let task = session.downloadTask(withResumeData: data)
        task.resume()
        #expect(await notes.until(bytes: payload.length - 1))
        #expect(parts(bench).map { FileSystem.inode($0) } == [inode])
        #expect(FileSystem.names(in: bench.folder.path("state/.partials")).isEmpty)
        let again = try #require(await task.cancelByProducingResumeData())
        bench.origin.adjust("/f") { $0.cut = nil }
        session.downloadTask(withResumeData: again).resume()
        #expect(await notes.until("complete 0"))
        #expect(bench.folder.difference("moved", from: payload) == nil)
        session.invalidateAndCancel()
        #expect(await notes.until("over 0"))
        #expect(bench.leftovers.isEmpty, "\(bench.leftovers)")
    }

    @Test func `B6 a kill between taking the bytes over and storing the task loses nothing`() async throws {
        let bench = try SessionBench()
        let notes = Notes()
        let first = bench.session(notes)
        let (url, payload) = bench.serveStalling("/f", seed: 773)
        let data = try await data(first, notes, url)
        let content = try DownloadResumeData(data)
        await bench.quiet("/f")
        bench.origin.adjust("/f") { $0.cut = nil }

        // What the kill leaves, made while the session cannot open its queue.
        let root = bench.folder.path("state/s")
        let holder = try await DownloadManager(root: root)
        let later = Notes(moving: bench.folder.path("moved"))
        let session = bench.session(later, identifier: "s")
        let task = session.downloadTask(withResumeData: data)
        let name = try #require(content.partialName)
        let note = try #require(FileSystem.contents("\(root)/.pawl/resumed/\(name)"))
        var request = DownloadRequest(url)
        request.options.folder = String(String(decoding: note, as: UTF8.self).split(separator: "\n")[1])
        try FileSystem.move(bench.folder.path("state/.partials/\(name)"), to: "\(root)/\(name)")
        let part = try await holder.takeOver(content, partialFolder: root, isGiven: true, for: request)
        #expect(part != nil && !FileSystem.exists("\(root)/\(name)"))
        await holder.shutDown()

        task.resume()
        #expect(await later.until("complete 0"))
        #expect(bench.folder.difference("moved", from: payload) == nil)
        #expect(try #require(bench.origin.ended("/f").last?.bodyStart) >= content.received)
        for other in [first, session] { other.invalidateAndCancel() }
        #expect(await later.until("over 0"))
        #expect(await notes.until("over 0"))
        #expect(bench.leftovers.isEmpty, "\(bench.leftovers)")
    }
}
