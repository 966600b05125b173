import Foundation
import Pawl
import PawlTesting
import Testing

/// A folder that is gone with its test.
final class Scratch: Sendable {
    let path: String

    init() throws {
        path = NSTemporaryDirectory() + "pawl-consumer-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: path).sorted()) ?? [] }
    func write(_ bytes: [UInt8], to name: String) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: "\(path)/\(name)"))
    }
    func bytes(of name: String) throws -> [UInt8] {
        try [UInt8](Data(contentsOf: URL(fileURLWithPath: "\(path)/\(name)")))
    }
}

/// Content without repeating windows: swapped blocks would be noticed.
func makeContent(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
    var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
    let words = (0..<count / 8 + 1).map { _ in
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state
    }
    return words.withUnsafeBytes { Array($0.prefix(count)) }
}

/// A downloader of files in a folder, from an origin.
func downloader(
    _ origin: StubOrigin, in folder: Scratch, clock: ManualClock? = nil,
    change: (inout DownloadOptions) -> Void = { _ in }
) -> Downloader {
    var configuration = Downloader.Configuration()
    configuration.transport = clock.map { origin.transport(clock: $0) } ?? origin.transport
    configuration.options.folder = folder.path
    configuration.options.retryDelay = .zero
    change(&configuration.options)
    return Downloader(configuration)
}

/// What becomes of a file when its server misbehaves: a fault a line.
@Suite struct FaultTests {
    let film = makeContent(3_000_000)
    let url = "https://videos.example/film.mp4"

    /// What is done to the first response.
    enum Fault: CaseIterable {
        case cut, noLength, noRanges, noEntityTag

        func happens(to response: StubResponse) -> StubResponse {
            switch self {
            case .cut: response.cut(after: 1_000_000)
            case .noLength: response.withoutLength()
            case .noRanges: response.withoutRanges().cut(after: 10)
            case .noEntityTag: response.withoutEntityTag()
            }
        }
    }

    @Test(arguments: Fault.allCases) func `a file survives`(fault: Fault) async throws {
        let folder = try Scratch()
        let origin = StubOrigin(["/film.mp4": [fault.happens(to: .ok(film)), .ok(film)]])
        let file = try await downloader(origin, in: folder).download(url)
        #expect(try folder.bytes(of: "film.mp4") == film)
        #expect(file.length == 3_000_000)
        #expect(folder.names == ["film.mp4"])
    }

    @Test(arguments: [404, 410]) func `what is gone fails with its status`(status: Int) async throws {
        let folder = try Scratch()
        let origin = StubOrigin(["/film.mp4": [.status(status)]])
        let error = await #expect(throws: PawlError.self) { try await downloader(origin, in: folder).download(url) }
        #expect(error?.code == .notFound)
        #expect(error?.status == status)
        #expect(folder.names.isEmpty)
    }

    @Test func `only the rest is requested after a lost connection`() async throws {
        let folder = try Scratch()
        let origin = StubOrigin(["/film.mp4": [.ok(film).cut(after: 1_000_000), .ok(film)]])
        _ = try await downloader(origin, in: folder).download(url)
        let requests = origin.requests(for: "/film.mp4")
        #expect(requests.count == 2)
        #expect(requests.first?.value(of: "Range") == nil)
        #expect(requests.last?.value(of: "Range") == "bytes=1000000-2999999")
    }

    @Test func `content that changed in between is never mixed`() async throws {
        let folder = try Scratch()
        let other = makeContent(3_000_000, seed: 2)
        let origin = StubOrigin(["/film.mp4": [.ok(film).cut(after: 1_000_000), .ok(other)]])
        let file = try await downloader(origin, in: folder).download(url)
        #expect(try [UInt8](Data(contentsOf: URL(fileURLWithPath: file.path))) == other)
    }

    @Test func `a pause keeps what came, and another downloader resumes it`() async throws {
        let folder = try Scratch()
        let gate = StubGate()
        let stuck = StubOrigin { [film] request in
            .ok(film).held(after: request.number == 1 ? 2_000_000 : 0, until: gate)
        }
        let first = downloader(stuck, in: folder)
        let download = try first.add(url)
        download.resume()
        await gate.reached()
        download.pause()
        for await snapshot in download.updates where snapshot.state == .paused {
            #expect(snapshot.written == 2_000_000)
            break
        }
        await first.shutDown()
        let file = try await downloader(StubOrigin(["/film.mp4": [.ok(film)]]), in: folder).download(url)
        #expect(file.received == 1_000_000)
        #expect(try folder.bytes(of: "film.mp4") == film)
    }

    @Test func `a redirect is followed, and the login is not sent to another host`() async throws {
        let folder = try Scratch()
        let origin = StubOrigin { request in
            request.host == "cdn.example" ? .ok([1, 2, 3]) : .redirect(to: "https://cdn.example/real")
        }
        let file = try await downloader(origin, in: folder) { $0.setHeader("Authorization", to: "Bearer secret") }
            .download(url, to: "film.mp4")
        #expect(file.response?.url == "https://cdn.example/real")
        #expect(file.response?.value(of: "content-length") == "3")
        #expect(origin.requests.map { $0.value(of: "Authorization") } == ["Bearer secret", nil])
    }

    @Test func `a login and a cookie reach the server as they would`() async throws {
        let folder = try Scratch()
        let origin = StubOrigin { request in
            if request.value(of: "Authorization") == nil {
                return .status(401, headers: ["WWW-Authenticate": "Basic realm=\"films\"", "Set-Cookie": "visit=1"])
            }
            return .ok([1, 2, 3])
        }
        let bytes = try await downloader(origin, in: folder) { ($0.user, $0.password) = ("u", "p") }.data(from: url)
        #expect(bytes == [1, 2, 3])
        #expect(origin.requests.last?.value(of: "Authorization") == "Basic dTpw")
        #expect(origin.requests.last?.value(of: "Cookie") == "visit=1")
    }

    @Test(arguments: StubResponse.Failure.allCases) func `a server that does not respond is tried again`(
        failure: StubResponse.Failure
    ) async throws {
        let folder = try Scratch()
        let origin = StubOrigin(["/film.mp4": [.failure(failure), .ok(film)]])
        let result = await Result { try await downloader(origin, in: folder).download(url) }
        switch (failure, result) {
        case (.certificateRejected, .failure(let error as PawlError)): #expect(error.code == .insecure)
        case (.unknownHost, .failure(let error as PawlError)): #expect(error.code == .nameResolution)
        case (_, .success): #expect(origin.requests.count == 2)
        case (_, .failure(let error)): Issue.record(error)
        }
    }

    @Test func `a queue downloads from it too`() async throws {
        let folder = try Scratch()
        let origin = StubOrigin(["/film.mp4": [.ok(film).cut(after: 10), .ok(film)]])
        var configuration = DownloadManager.Configuration()
        configuration.transport = origin.transport
        configuration.options.retryDelay = .zero
        let manager = try await DownloadManager(root: folder.path, configuration)
        #expect(try await manager.add(url).file.length == 3_000_000)
        #expect(try await manager.content(from: "https://x.example/film.mp4").response?.status == 200)
        await manager.shutDown()
    }
}

extension Result where Failure == any Error {
    init(_ body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}
