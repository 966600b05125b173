import Pawl
import PawlTesting
import Testing

// The code of the tutorial "Servers that cannot be trusted", Hostile.md of the catalogue of Pawl.

/// Saves files of servers that nobody vouches for.
struct Fetcher {
    let downloader: Downloader

    static var configuration: Downloader.Configuration {
        var configuration = Downloader.Configuration()
        configuration.deniesPrivateAddresses = true
        configuration.options.timeout = .seconds(20)
        configuration.options.lowestSpeed = 1000
        configuration.options.retries = 3
        configuration.options.maximumRetryAfter = .seconds(120)
        configuration.options.maximumRedirects = 5
        return configuration
    }

    /// The file with this SHA-256 digest, or the reason why there is none.
    func fetch(_ url: String, digest: String, atMost limit: Int64) async throws -> DownloadedFile {
        var options = downloader.options
        options.checksum = "sha-256=\(digest)"
        var hooks = DownloadHooks()
        hooks.validateResponse = { received in
            guard let length = received.length, length > limit else { return .allow }
            return .cancel(reason: "it has \(length) bytes")
        }
        return try await downloader.download(url, options: options, hooks: hooks)
    }
}

func advice(for error: PawlError) -> String {
    switch error.code {
    case .checksumMismatch: "The server has another file than promised."
    case .rejected, .tooLarge: "It is larger than agreed."
    case .timeout, .tooSlow, .network, .overloaded: "Try again later; what has come is kept."
    case .insecure: "The connection cannot be trusted."
    case .cannotResume: "The file has changed on the server since."
    default: "\(error)"
    }
}

@Suite struct HostileTutorial {
    private let film = makeContent(300_000)
    private let digest = "09cbfc7f2b30c329cc9b863c4c350fddc5174792f0e6d7ba26dc7e31cbb60eec"

    private func fetcher(_ origin: StubOrigin, in folder: Scratch) -> Fetcher {
        var configuration = Fetcher.configuration
        configuration.transport = origin.transport
        configuration.options.folder = folder.path
        configuration.options.retryDelay = .zero
        return Fetcher(downloader: Downloader(configuration))
    }

    private func fetch(_ responses: [StubResponse], in folder: Scratch) async throws -> DownloadedFile {
        let origin = StubOrigin(["/film.mp4": responses])
        let fetcher = fetcher(origin, in: folder)
        return try await fetcher.fetch("https://example.org/film.mp4", digest: digest, atMost: 1_000_000)
    }

    @Test func `the right file, whatever the server does in between`() async throws {
        let folder = try Scratch()
        let other = makeContent(300_000, seed: 2)
        let responses: [StubResponse] = [
            .ok(other).cut(after: 100_000), .status(503), .ok(film).cut(after: 200_000), .ok(film),
        ]
        let file = try await fetch(responses, in: folder)
        #expect(try folder.bytes(of: "film.mp4") == film)
        #expect(file.verification?.level == .given)
    }

    @Test func `a wrong file never gets the name`() async throws {
        let folder = try Scratch()
        let error = await #expect(throws: PawlError.self) {
            try await fetch([.ok(makeContent(300_000, seed: 2))], in: folder)
        }
        #expect(advice(for: try #require(error)) == "The server has another file than promised.")
        #expect(!folder.names.contains("film.mp4"))
    }

    @Test func `a file that is too large is refused before its first byte`() async throws {
        let folder = try Scratch()
        let error = await #expect(throws: PawlError.self) { try await fetch([.ok(makeContent(2_000_000))], in: folder) }
        #expect(advice(for: try #require(error)) == "It is larger than agreed.")
        #expect(folder.names.isEmpty)
    }

    @Test func `a server that does not respond`() async throws {
        let folder = try Scratch()
        let error = await #expect(throws: PawlError.self) {
            try await fetch([.failure(.connectionRefused)], in: folder)
        }
        #expect(advice(for: try #require(error)) == "Try again later; what has come is kept.")
    }
}
