import Pawl
import PawlTestKit
import Testing

/// The options of a request whose URL is in the queue already (D11).
@Suite struct KnownAddressTests {
    private let digest = "sha-256=" + String(repeating: "ab", count: 32)

    private func request(_ url: String, _ change: (inout DownloadRequest) -> Void = { _ in }) -> DownloadRequest {
        var request = DownloadRequest(url)
        request.start = .paused
        change(&request)
        return request
    }

    private func options(_ manager: DownloadManager, _ id: Download.ID) async throws -> DownloadOptions {
        try #require(try await manager.details(of: [id]).first).options
    }

    @Test func `D11 options of the transfer are updated`() async throws {
        let bench = try ManagerBench()
        let manager = try await bench.open()
        let url = "http://127.0.0.1:9/f"
        let first = try await manager.add(request(url) { $0.options.referer = "http://old.example/" })
        let second = try await manager.add(
            request(url) {
                $0.options.headers = ["X-Token: new"]
                $0.options.user = "me"
                $0.options.password = "secret"
                $0.options.rateLimit = 1000
                $0.options.connections = 2
                $0.options.retries = 9
                $0.options.proxy = "http://127.0.0.1:3128"
                $0.options.checksum = digest
                $0.options.mirrors = ["http://127.0.0.1:9/mirror"]
                $0.options.taskDescription = "lesson"
                $0.priority = 4
                $0.group = "films"
            })
        #expect(second.id == first.id)
        let options = try await options(manager, first.id)
        #expect(options.headers == ["X-Token: new"] && options.user == "me" && options.password == "secret")
        #expect(options.rateLimit == 1000 && options.connections == 2 && options.retries == 9)
        #expect(options.proxy == "http://127.0.0.1:3128" && options.checksum == digest)
        #expect(options.mirrors == ["http://127.0.0.1:9/mirror"])
        #expect(options.referer == "http://old.example/", "unset options stay")
        let snapshot = try #require(try await manager.downloads().first)
        #expect(snapshot.priority == 4 && snapshot.group == "films" && snapshot.taskDescription == "lesson")
        // And unset options change nothing.
        _ = try await manager.add(request(url))
        #expect(try await self.options(manager, first.id) == options)
        await manager.shutDown()
    }

    @Test func `D11 a running one continues with the new headers`() async throws {
        let bench = try ManagerBench()
        let manager = try await bench.open()
        let (url, payload) = bench.serveStalling("/f", seed: 951)
        let first = try await manager.add(bench.request(url))
        await first.reaches(bytes: 2_000_000)
        bench.origin.adjust("/f") { $0.cut = nil }
        _ = try await manager.add(bench.request(url) { $0.options.headers = ["X-Token: new"] })
        _ = try await first.file
        #expect(bench.origin.ended("/f").last?.request.header("X-Token") == "new")
        #expect(bench.root.difference("f", from: payload) == nil)
        await manager.shutDown()
    }

    @Test func `D11 another part, name or folder is another file, and the same request again is that one`() async throws
    {
        let bench = try ManagerBench()
        let manager = try await bench.open()
        let url = "http://127.0.0.1:9/f"
        let first = try await manager.add(request(url))
        let selections: [@Sendable (inout DownloadRequest) -> Void] = [
            { $0.options.range = "100-" }, { $0.options.fileName = "other" }, { $0.options.folder = "sub" },
            { $0.options.naming = .hash },
        ]
        for selection in selections {
            let other = try await manager.add(request(url, selection))
            #expect(other.id != first.id)
            #expect(try await manager.add(request(url, selection)).id == other.id)
        }
        #expect(try await manager.add(request(url)).id == first.id)
        #expect(try await manager.downloads().count == 5)
        await manager.shutDown()
    }

    @Test func `D11 a checksum or length that contradicts the known one is refused with an error`() async throws {
        let bench = try ManagerBench()
        let manager = try await bench.open()
        let url = "http://127.0.0.1:9/f"
        let first = try await manager.add(request(url) { $0.options.checksum = digest })
        #expect(try await manager.add(request(url) { $0.options.checksum = digest.uppercased() }).id == first.id)
        let other = request(url) { $0.options.checksum = "md5=" + String(repeating: "cd", count: 16) }
        let error = await #expect(throws: PawlError.self) { try await manager.add(other) }
        #expect(error?.code == .badOption)
        #expect(error?.description.contains("with another checksum") == true)
        #expect(try await options(manager, first.id).checksum == digest)
        await manager.shutDown()
    }

    @Test func `D11 a checksum for a finished download is refused, and not ignored`() async throws {
        let bench = try ManagerBench()
        let manager = try await bench.open()
        let url = bench.origin.serve("/f", Payload(seed: 952, length: 1000))
        _ = try await manager.add(bench.request(url)).file
        let late = bench.request(url) { $0.options.checksum = digest }
        let error = await #expect(throws: PawlError.self) { try await manager.add(late) }
        #expect(error?.description.contains("finished without this checksum") == true)
        await manager.shutDown()
    }

    @Test func `D11 many simultaneous adds of one URL are one`() async throws {
        let bench = try ManagerBench()
        let manager = try await bench.open()
        let url = "http://127.0.0.1:9/f"
        let ids = try await withThrowingTaskGroup(of: Download.ID.self) { group in
            for _ in 0..<30 { group.addTask { try await manager.add(request(url)).id } }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(ids.count == 1)
        await manager.shutDown()
    }
}
