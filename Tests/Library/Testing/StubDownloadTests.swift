import Pawl
import PawlTesting
import Testing

/// Handles that a test or a preview makes itself.
@Suite struct StubDownloadTests {
    private let url = "https://example.org/film.mp4"

    /// What a row of a list shows of a download: code of a program.
    private func lines(_ download: Download) async -> [String] {
        var lines: [String] = []
        for await snapshot in download.updates { lines.append("\(snapshot.state) \(snapshot.written)") }
        return lines
    }

    @Test func `updates and the file of a download that a test moves`() async throws {
        let stub = StubDownload(url)
        let shown = Task { await lines(stub.download) }
        stub.show { ($0.state, $0.written, $0.total) = (.transferring, 40, 100) }
        #expect(stub.download.snapshot.percent == 40)
        stub.finish(DownloadedFile(path: "film.mp4", length: 100))
        #expect(try await stub.download.file.path == "film.mp4")
        #expect(await shown.value.last == "finished 100")
        #expect(stub.download.snapshot.toggle == .done)
    }

    @Test func `its failure is that of the wait`() async throws {
        let stub = StubDownload(url)
        let file = Task { try await stub.download.file }
        stub.fail(PawlError(.notFound, place: url, why: "it is gone", status: 404))
        let error = await #expect(throws: PawlError.self) { try await file.value }
        #expect(error?.status == 404 && stub.download.snapshot.error?.code == .notFound)
        #expect(stub.download.snapshot.state == .failed)
        stub.download.toggle()
        #expect(stub.download.snapshot.state == .transferring)
    }

    @Test func `a button acts on what a preview shows`() async throws {
        var snapshot = DownloadSnapshot(id: Download.ID(rawValue: 7), source: url)
        (snapshot.state, snapshot.written) = (.transferring, 1)
        let download = Download(showing: snapshot)
        #expect(download.id.rawValue == 7 && download.source == url)
        download.toggle()
        #expect(download.snapshot.state == .paused && download.snapshot.toggle == .continue)
        download.toggle()
        #expect(download.snapshot.state == .transferring)
        try await download.remove()
        #expect(download.snapshot.state == .removed)
        let error = await #expect(throws: PawlError.self) { try await download.file }
        #expect(error?.code == .unfinished)
        download.resume()
        #expect(download.snapshot.state == .removed)
    }

    @Test func `one that has ended shows its end`() async throws {
        var snapshot = DownloadSnapshot(id: Download.ID(rawValue: 1), source: url, state: .finished)
        snapshot.name = "film.mp4"
        let file = DownloadedFile(path: "films/film.mp4", length: 5)
        let download = Download(showing: snapshot, result: .success(file))
        #expect(try await download.file == file)
        download.pause()
        #expect(download.snapshot.state == .finished)
    }

    @Test func `events of a test are a manager's`() async {
        let id = Download.ID(rawValue: 3)
        let events = DownloadEvents([
            DownloadEvent(id: id, kind: .state(.transferring)),
            DownloadEvent(id: id, kind: .finished(DownloadedFile(path: "f", length: 1))),
        ])
        var finished: [String] = []
        for await event in events { if case .finished(let file) = event.kind { finished.append(file.path) } }
        #expect(finished == ["f"])
    }

    @Test func `a responder is asked without a server`() {
        let respond: StubOrigin.Responder = { $0.value(of: "Authorization") == nil ? .status(401) : .ok([1]) }
        let login = DownloadResponse.Field(name: "Authorization", value: "Bearer t")
        #expect(respond(StubRequest(url: url)).status == 401)
        let request = StubRequest(url: url + "?a=1", headers: [login])
        #expect(respond(request).status == 200)
        #expect(request.host == "example.org" && request.target == "/film.mp4?a=1" && request.number == 1)
    }
}
