import Pawl
import PawlTesting
import Testing

/// Bytes of a file that is still being fetched.
@Suite struct ReadingTests {
    private static let content = makeContent(20_000_000)
    private let film = Self.content
    private let url = "https://videos.example/film.mp4"

    private func bytes(_ download: Download, _ range: Range<Int64>) async throws -> [UInt8] {
        var all: [UInt8] = []
        for try await chunk in download.bytes(in: range) { all += chunk }
        return all
    }

    @Test func `the index at the end is read while the beginning stands still`() async throws {
        let folder = try Scratch()
        let gate = StubGate()
        // Only a request for the index itself is answered before the gate is open.
        let origin = StubOrigin { [film] request in
            let isIndex = request.value(of: "Range")?.hasPrefix("bytes=199") ?? false
            return isIndex ? .ok(film) : .ok(film).held(after: request.number == 1 ? 1_000_000 : 0, until: gate)
        }
        let downloads = downloader(origin, in: folder)
        let download = try downloads.add(url)
        download.resume()
        await gate.reached()
        let index = try await bytes(download, 19_900_000..<30_000_000)
        #expect(index == Array(film[19_900_000...]))
        #expect(download.snapshot.state == .transferring)
        gate.open()
        #expect(try await download.file.length == 20_000_000)
        #expect(try folder.bytes(of: "film.mp4") == film)
        #expect(try await bytes(download, 5..<10) == Array(film[5..<10]))
    }

    @Test func `a film is read from its beginning as it comes`() async throws {
        let folder = try Scratch()
        let origin = StubOrigin(["/film.mp4": [.ok(film)]])
        let downloads = downloader(origin, in: folder)
        let download = try downloads.add(url)
        download.resume()
        var read: [UInt8] = []
        for try await chunk in download.bytes(from: 0) { read += chunk }
        #expect(read == film)
        _ = try await download.file
    }

    @Test func `a jump takes the place of what was fetched, with one connection too`() async throws {
        let folder = try Scratch()
        let (first, second) = (StubGate(), StubGate())
        // The first response is lost, so that the second is a part: the server is known to send them.
        let origin = StubOrigin { [film] request in
            switch request.number {
            case 1: .ok(film).cut(after: 1_000_000)
            case 2: .ok(film).held(after: 1_000_000, until: first)
            default: .ok(film).held(after: 2_000_000, until: second)
            }
        }
        let downloads = downloader(origin, in: folder) { $0.connections = 1 }
        let download = try downloads.add(url)
        download.resume()
        await first.reached()
        #expect(try await bytes(download, 15_000_000..<15_100_000) == Array(film[15_000_000..<15_100_000]))
        second.open()
        first.open()
        #expect(try await download.file.length == 20_000_000)
        #expect(try folder.bytes(of: "film.mp4") == film)
        #expect(origin.requests.map { $0.value(of: "Range") }[2] == "bytes=15000000-19999999")
    }

    @Test func `a server without ranges is read in its order`() async throws {
        let folder = try Scratch()
        let gate = StubGate()
        let origin = StubOrigin(["/film.mp4": [.ok(film).withoutRanges().held(after: 1_000_000, until: gate)]])
        let downloads = downloader(origin, in: folder)
        let download = try downloads.add(url)
        download.resume()
        await gate.reached()
        async let index = bytes(download, 19_900_000..<20_000_000)
        #expect(try await bytes(download, 0..<1_000_000) == Array(film[..<1_000_000]))
        gate.open()
        #expect(try await index == Array(film[19_900_000...]))
        _ = try await download.file
    }

    @Test func `another version ends the reading`() async throws {
        let folder = try Scratch()
        let gate = StubGate()
        let other = makeContent(20_000_000, seed: 3)
        let origin = StubOrigin { [film] request in
            request.number == 1 ? .ok(film).held(after: 1_000_000, until: gate).cut(after: 1_000_000) : .ok(other)
        }
        let downloads = downloader(origin, in: folder) { $0.connections = 1 }
        let download = try downloads.add(url)
        download.resume()
        await gate.reached()
        var reading = download.bytes(from: 0).makeAsyncIterator()
        let chunk = try #require(try await reading.next())
        #expect(chunk == Array(film[..<chunk.count]))
        gate.open()
        let error = await #expect(throws: PawlError.self) { while try await reading.next() != nil {} }
        #expect(error?.code == .cannotResume)
        _ = try await download.file
    }

    @Test func `a failure and a cancelled task end it`() async throws {
        let folder = try Scratch()
        let gate = StubGate()
        let origin = StubOrigin([
            "/film.mp4": [.ok(film).held(after: 1_000_000, until: gate).cut(after: 1_000_000), .status(404)]
        ])
        let downloads = downloader(origin, in: folder) { $0.connections = 1 }
        let download = try downloads.add(url)
        download.resume()
        await gate.reached()
        let cancelled = Task { try await bytes(download, 1_000_000..<2_000_000) }
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        gate.open()
        let error = await #expect(throws: PawlError.self) { try await bytes(download, 1_000_000..<2_000_000) }
        #expect(error?.status == 404)
    }

    @Test func `a download of a queue is read as well`() async throws {
        let folder = try Scratch()
        let gate = StubGate()
        // Only a request for the index itself is answered before the gate is open.
        let origin = StubOrigin { [film] request in
            let isIndex = request.value(of: "Range")?.hasPrefix("bytes=199") ?? false
            return isIndex ? .ok(film) : .ok(film).held(after: request.number == 1 ? 1_000_000 : 0, until: gate)
        }
        var configuration = DownloadManager.Configuration()
        configuration.transport = origin.transport
        let manager = try await DownloadManager(root: folder.path, configuration)
        let download = try await manager.add(url)
        await gate.reached()
        #expect(try await bytes(download, 19_900_000..<20_000_000) == Array(film[19_900_000...]))
        gate.open()
        _ = try await download.file
        #expect(try await bytes(download, 100..<200) == Array(film[100..<200]))
        await manager.shutDown()
    }
}
