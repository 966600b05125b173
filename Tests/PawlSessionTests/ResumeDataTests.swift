import Glibc
import Pawl
import PawlSession
import PawlTestKit
import Testing

/// Resume data whose task ends before it has a response.
@Suite(.timeLimit(.minutes(2)))
struct ResumeDataTests {
    /// Resume data of a task that has received more than a million bytes.
    private func data(
        _ session: DownloadSession,
        _ notes: Notes,
        _ url: String
    ) async throws -> [UInt8] {
        let task = session.downloadTask(with: url)
        task.resume()
        #expect(await notes.until(bytes: 1_000_000))
        return try #require(await task.cancelByProducingResumeData())
    }

    @Test(arguments: [false, true])
    func `B6 a task from resume data that is cancelled at once has new resume data`(
        isResumed: Bool
    ) async throws {
        let bench = try SessionBench()
        let notes = Notes(moving: bench.folder.path("moved"))
        let session = bench.session(notes)
        let (url, payload) = bench.serveStalling("/f", seed: 770)
        var data = try await data(session, notes, url)
        let received = try ResumeData(data).received
        await bench.quiet("/f")
        for _ in 0..<3 {
            let task = session.downloadTask(withResumeData: data)
            if isResumed { task.resume() }
            data = try #require(await task.cancelByProducingResumeData())
            #expect(try ResumeData(data).received >= received)
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
}
