import Pawl
import PawlTestKit
import Testing

/// A part file begun by another program and continued by this one.
@Suite struct ResumeDataTests {
    private let payload = Payload(seed: 601, length: 900_000)
    private let received: Int64 = 300_000

    /// The folder of an app's part file, and the target folder of this program.
    private struct Site {
        let origin: OriginServer
        let old: TemporaryFolder
        let new: TemporaryFolder

        init() throws {
            origin = try OriginServer()
            old = try TemporaryFolder()
            new = try TemporaryFolder()
        }

        func download(_ data: DownloadResumeData, safeCopy: String? = nil) async throws -> DownloadedFile {
            let downloader = Downloader()
            var options = DownloadOptions()
            options.folder = new.path
            options.connections = 1
            let download = try downloader.add(data, partialFolder: old.path, safeCopy: safeCopy, options: options)
            #expect(origin.log.of("/film.mp4").isEmpty)
            download.resume()
            let file = try await download.file
            await downloader.shutDown()
            return file
        }
    }

    private func data(_ url: String, tag: String?) -> DownloadResumeData {
        let request = DownloadResumeData.Request(url: url, headers: ["X-App": "films", "Range": "bytes=1-2"])
        var data = DownloadResumeData(request, received: received, partialName: "CFNetworkDownload_x.tmp")
        data.entityTag = tag
        return data
    }

    private func head(_ count: Int64) -> [UInt8] { Array(payload.bytes.prefix(Int(count))) }
    private var tag: String { "\"version-0-\(payload.fingerprint)\"" }

    @Test func `D3 bytes that an app received are not fetched again, and its headers are sent`() async throws {
        let site = try Site()
        defer { site.origin.stop() }
        let url = site.origin.serve("/film.mp4", payload)
        // More bytes may have reached the file than the data records; those are not trusted.
        try FileSystem.write(head(received) + [1, 2, 3], to: site.old.path("CFNetworkDownload_x.tmp"))
        _ = try await site.download(DownloadResumeData(data(url, tag: tag).bytes))
        #expect(site.new.difference("film.mp4", from: payload) == nil)
        #expect(site.new.names == ["film.mp4"])
        #expect(site.origin.log.bodySent("/film.mp4") == payload.length - received)
        #expect(site.origin.log.of("/film.mp4").allSatisfy { $0.request.header("X-App") == "films" })
        #expect(site.old.names == ["CFNetworkDownload_x.tmp"])
    }

    @Test(arguments: [true, false]) func `D3 bytes other than the server's content give no wrong file`(
        _ hasTag: Bool
    ) async throws {
        let site = try Site()
        defer { site.origin.stop() }
        let url = site.origin.serve("/film.mp4", payload)
        let other = Payload(seed: 602, length: received)
        try FileSystem.write(other.bytes, to: site.old.path("CFNetworkDownload_x.tmp"))
        _ = try await site.download(data(url, tag: hasTag ? "\"of another time\"" : nil))
        #expect(site.new.difference("film.mp4", from: payload) == nil)
        #expect(site.origin.log.bodySent("/film.mp4") >= payload.length)
    }

    @Test func `R7 an equal tag of another address is no proof`() async throws {
        let site = try Site()
        defer { site.origin.stop() }
        let url = site.origin.serve("/film.mp4", payload)
        let other = Payload(seed: 603, length: received)
        try FileSystem.write(other.bytes, to: site.old.path("CFNetworkDownload_x.tmp"))
        var data = data("\(url)?token=1", tag: tag)
        data.change(url: "\(url)?token=2")
        data.change(url: url)
        _ = try await site.download(DownloadResumeData(data.bytes))
        #expect(site.new.difference("film.mp4", from: payload) == nil)
    }

    @Test func `R5 the backup copy replaces a part file that is too short`() async throws {
        let site = try Site()
        defer { site.origin.stop() }
        let url = site.origin.serve("/film.mp4", payload)
        try FileSystem.write(head(received - 1), to: site.old.path("CFNetworkDownload_x.tmp"))
        try FileSystem.write(head(200_000), to: site.old.path("safe"))
        _ = try await site.download(data(url, tag: tag), safeCopy: site.old.path("safe"))
        #expect(site.new.difference("film.mp4", from: payload) == nil)
        #expect(site.origin.log.bodySent("/film.mp4") == payload.length - 200_000)
    }

    @Test func `R5 without part file and backup copy it starts over`() async throws {
        let site = try Site()
        defer { site.origin.stop() }
        _ = try await site.download(data(site.origin.serve("/film.mp4", payload), tag: tag))
        #expect(site.new.difference("film.mp4", from: payload) == nil)
        #expect(site.origin.log.bodySent("/film.mp4") == payload.length)
    }

    /// The name that the server gives to the content of another URL.
    private func named(_ site: Site, _ name: String) -> String {
        site.origin.serve("/q", payload) { $0.disposition = Array("attachment; filename=\"\(name)\"".utf8) }
    }

    @Test func `D3 the server's name replaces the URL's, which was not chosen by the user`() async throws {
        let site = try Site()
        defer { site.origin.stop() }
        let url = named(site, "movie.mp4")
        try FileSystem.write(head(received), to: site.old.path("CFNetworkDownload_x.tmp"))
        let file = try await site.download(data(url, tag: tag))
        #expect(file.path == site.new.path("movie.mp4") && site.new.names == ["movie.mp4"])
        #expect(site.new.difference("movie.mp4", from: payload) == nil)
        #expect(site.origin.log.bodySent("/q") == payload.length - received)
    }

    @Test func `D3 a file that has the server's name stays, and the new one is numbered`() async throws {
        let site = try Site()
        defer { site.origin.stop() }
        let url = named(site, "movie.mp4")
        try FileSystem.write([1, 2, 3], to: site.new.path("movie.mp4"))
        try FileSystem.write(head(received), to: site.old.path("CFNetworkDownload_x.tmp"))
        _ = try await site.download(data(url, tag: tag))
        #expect(site.new.names == ["movie (1).mp4", "movie.mp4"])
        #expect(FileSystem.contents(site.new.path("movie.mp4")) == [1, 2, 3])
        #expect(site.new.difference("movie (1).mp4", from: payload) == nil)
    }

    @Test func `D3 a given name stays, and another one is provisional until the end, also after a pause`() async throws
    {
        let site = try Site()
        defer { site.origin.stop() }
        let url = named(site, "movie.mp4")
        site.origin.adjust("/q") { $0.cut = .stall(from: 600_000) }
        try FileSystem.write(head(received), to: site.old.path("CFNetworkDownload_x.tmp"))
        var options = DownloadOptions()
        options.folder = site.new.path
        options.connections = 1
        do {
            let downloader = Downloader()
            let download = try downloader.add(data(url, tag: tag), partialFolder: site.old.path, options: options)
            download.resume()
            await download.reaches(bytes: 500_000)
            await downloader.shutDown()
        }
        site.origin.adjust("/q") { $0.cut = nil }
        let again = Downloader()
        let plain = try again.add(url, options: options)
        plain.resume()
        _ = try await plain.file
        #expect(site.new.names == ["movie.mp4"])
        options.fileName = "mine"
        let mine = try again.add(data(url, tag: tag), partialFolder: site.old.path, options: options)
        mine.resume()
        _ = try await mine.file
        await again.shutDown()
        #expect(site.new.names == ["mine", "movie.mp4"])
    }

    @Test func `D3 a queue gives it the server's name too, and records it`() async throws {
        let site = try Site()
        defer { site.origin.stop() }
        let url = named(site, "movie.mp4")
        try FileSystem.write(head(received), to: site.old.path("CFNetworkDownload_x.tmp"))
        let manager = try await DownloadManager(root: site.new.path)
        let (content, request) = (data(url, tag: tag), DownloadRequest(url))
        let part = try await manager.takeOver(content, partialFolder: site.old.path, isGiven: false, for: request)
        #expect(part != nil)
        #expect(site.old.names == ["CFNetworkDownload_x.tmp"], "an app's file stays")
        let download = try await manager.add(content, as: request)
        #expect(try await download.file.path == site.new.path("movie.mp4"))
        #expect(site.new.difference("movie.mp4", from: payload) == nil)
        #expect(site.origin.log.bodySent("/q") == payload.length - received)
        #expect(try await manager.snapshot(of: download.id)?.name == "movie.mp4")
        await manager.shutDown()
        #expect(site.new.names.filter { !$0.hasPrefix(".") } == ["movie.mp4"])
    }

    @Test func `R1 invalid resume data is refused with the reason`() {
        let error = #expect(throws: PawlError.self) { try DownloadResumeData(Array("hello".utf8)) }
        #expect(error?.code == .cannotResume)
        #expect(error?.why == "it is not a property list")
        #expect(DownloadResumeData.better(of: [1], than: [2]) == [2])
    }

    @Test func `R7 a changed URL is written everywhere`() throws {
        var data = data("http://a.example/1", tag: nil)
        data.change(url: "http://a.example/2", headers: ["A": "b"])
        #expect(data.url == "http://a.example/2")
        #expect(data.currentRequest == .init(url: "http://a.example/2", headers: ["A": "b"]))
        #expect(data.originalRequest == data.currentRequest)
        #expect(data.partialName == "CFNetworkDownload_x.tmp" && data.received == received && data.version == 2)
    }
}
