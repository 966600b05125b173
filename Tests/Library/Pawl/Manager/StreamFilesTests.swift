import Pawl
import PawlBase
import PawlQueue
import PawlTestKit
import Testing

/// What is done to a finished download with several files is done to all of them, or to none.
@Suite struct StreamFilesTests {
    private let show: ShowBench
    private var root: TemporaryFolder { show.bench.root }

    init() throws { show = try ShowBench() }

    /// A finished download with `show.video.ts` and `show.audio.en.aac`.
    private func finished(
        _ manager: DownloadManager, _ change: (inout DownloadRequest) -> Void = { _ in }
    ) async throws -> (id: Download.ID, file: DownloadedFile) {
        var request = show.request(show.serveApart())
        change(&request)
        let download = try await manager.add(request)
        return (download.id, try await download.file)
    }

    private func differences(_ video: String, _ audio: String) -> [String] {
        [root.difference(video, from: show.whole), root.difference(audio, from: show.sound)].compactMap(\.self)
    }

    private func parts(_ id: Download.ID, _ manager: DownloadManager) async throws -> [String] {
        try await manager.details(of: [id]).first?.files ?? []
    }

    @Test func `a renaming gives all files the new name, also after a restart, and a removal takes all`() async throws {
        var manager = try await show.bench.open()
        let (id, _) = try await finished(manager)
        #expect(try await manager.rename(id, to: "film.mp4"))
        #expect(Set(show.names) == ["film.mp4", "film.audio.en.aac"])
        #expect(differences("film.mp4", "film.audio.en.aac").isEmpty)
        #expect(try await manager.snapshot(of: id)?.file == .there)
        #expect(Set(try await parts(id, manager)) == ["film.mp4", "film.audio.en.aac"])
        await manager.shutDown()
        manager = try await show.bench.open()
        let known = try await #require(try await manager.download(withID: id)).file
        #expect(known.path == root.path("film.mp4") && known.others == [root.path("film.audio.en.aac")])
        try await manager.remove(id)
        #expect(show.names.isEmpty, "\(show.names)")
        await manager.shutDown()
    }

    @Test(arguments: [true, false]) func `a renaming that a kill interrupted is completed, if it had begun`(
        hasBegun: Bool
    ) async throws {
        var manager = try await show.bench.open()
        let (id, _) = try await finished(manager)
        await manager.shutDown()
        if hasBegun { try FileSystem.move(root.path("show.video.ts"), to: root.path("film.ts")) }
        let intent = "\(id) film.ts\nshow.audio.en.aac\tfilm.audio.en.aac"
        try show.bench.store.apply([.value("renaming", intent)])
        manager = try await show.bench.open()
        let names = hasBegun ? ["film.ts", "film.audio.en.aac"] : ["show.video.ts", "show.audio.en.aac"]
        #expect(Set(show.names) == Set(names) && differences(names[0], names[1]).isEmpty)
        #expect(try await manager.snapshot(of: id)?.file == .there)
        #expect(Set(try await parts(id, manager)) == Set(names))
        await manager.shutDown()
    }

    @Test func `a renaming while it runs concerns all files`() async throws {
        let url = show.serveApart()
        show.bench.origin.adjust("/v/a1.aac") { $0.delay = .untilReleased }
        let manager = try await show.bench.open()
        let download = try await manager.add(show.request(url))
        #expect(show.bench.origin.wait(held: 1, of: "/v/a1.aac"))
        #expect(try await manager.rename(download.id, to: "film.ts"))
        show.bench.origin.release("/v/a1.aac")
        let file = try await download.file
        #expect(file.path == root.path("film.ts") && file.others == [root.path("film.audio.en.aac")])
        #expect(differences("film.ts", "film.audio.en.aac").isEmpty)
        #expect(Set(show.names) == ["film.ts", "film.audio.en.aac"])
        await manager.shutDown()
    }

    @Test func `a move takes all files along, and one that cannot move leaves all where they are`() async throws {
        let manager = try await show.bench.open()
        let (id, _) = try await finished(manager)
        #expect(try await manager.relocate(id, toFolder: "a"))
        #expect(show.names == ["a"] && differences("a/show.video.ts", "a/show.audio.en.aac").isEmpty)
        #expect(try await manager.snapshot(of: id)?.file == .there)
        try FileSystem.write([1], to: root.path("show.audio.en.aac"))
        try FileSystem.write([1], to: root.path("a/film.audio.en.aac"))
        for change in [
            { _ = try await manager.relocate(id, toFolder: "") }, { _ = try await manager.rename(id, to: "film.ts") },
        ] as [() async throws -> Void] {
            let error = await #expect(throws: PawlError.self) { try await change() }
            #expect(error?.code == .fileExists)
        }
        #expect(differences("a/show.video.ts", "a/show.audio.en.aac").isEmpty)
        #expect(Set(show.names) == ["a", "show.audio.en.aac"], "\(show.names)")
        #expect(try await manager.snapshot(of: id)?.folder == "a")
        await manager.shutDown()
    }

    @Test func `a rule that knows the file by its name moves all`() async throws {
        let manager = try await show.bench.open()
        try await manager.perform(.rules([FolderRule("name:*.ts", folder: "Films")]))
        let (id, file) = try await finished(manager)
        #expect(file.path == root.path("Films/show.video.ts"))
        #expect(file.others == [root.path("Films/show.audio.en.aac")])
        #expect(show.names == ["Films"] && differences("Films/show.video.ts", "Films/show.audio.en.aac").isEmpty)
        try await manager.remove(id)
        #expect(FileSystem.names(in: root.path("Films")).isEmpty)
        await manager.shutDown()
    }

    @Test func `a further file that is gone makes it incomplete, and only that is downloaded again`() async throws {
        let manager = try await show.bench.open()
        let (id, _) = try await finished(manager)
        #expect(try await manager.rename(id, to: "film.ts"))
        #expect(try await manager.relocate(id, toFolder: "a"))
        FileSystem.remove(root.path("a/film.audio.en.aac"))
        #expect(try await manager.snapshot(of: id)?.file == .missing)
        let before = show.requests
        #expect(try await manager.resume(id))
        let file = try await #require(try await manager.download(withID: id)).file
        #expect(file.path == root.path("a/film.ts") && file.others == [root.path("a/film.audio.en.aac")])
        #expect(differences("a/film.ts", "a/film.audio.en.aac").isEmpty)
        #expect(show.requests.sound == before.sound + 2 && show.requests.pictures <= before.pictures + 1)
        #expect(Set(FileSystem.names(in: root.path("a"))) == ["film.ts", "film.audio.en.aac"])
        await manager.shutDown()
    }

    @Test func `a further file that is another one now is not touched`() async throws {
        let manager = try await show.bench.open()
        let (id, _) = try await finished(manager)
        FileSystem.remove(root.path("show.audio.en.aac"))
        try FileSystem.write([7], to: root.path("show.audio.en.aac"))
        #expect(try await manager.snapshot(of: id)?.file == .changed)
        for change in [
            { _ = try await manager.relocate(id, toFolder: "a") }, { _ = try await manager.rename(id, to: "film.ts") },
        ] as [() async throws -> Void] {
            let error = await #expect(throws: PawlError.self) { try await change() }
            #expect(error?.cause?.id == "not-the-downloaded-file", "\(String(describing: error))")
        }
        #expect(Set(show.names) == ["show.video.ts", "show.audio.en.aac"])
        let error = await #expect(throws: PawlError.self) { try await manager.remove(id) }
        #expect(error?.cause?.id == "not-the-downloaded-file")
        #expect(show.names == ["show.audio.en.aac"] && FileSystem.contents(root.path("show.audio.en.aac")) == [7])
        await manager.shutDown()
    }

    @Test func `without a queue too all files are removed, complete or not`() async throws {
        let url = show.serveApart()
        var options = DownloadOptions()
        (options.folder, options.retries) = (root.path, 0)
        let downloader = Downloader()
        let whole = try downloader.addStream(url, options: options)
        whole.resume()
        #expect(try await whole.file.others.count == 1 && show.names.count == 2)
        try await whole.remove()
        #expect(show.names.isEmpty, "\(show.names)")
        show.bench.origin.adjust("/v/a1.aac") { $0.instead = .status(404) }
        let part = try downloader.addStream(url, options: options)
        part.resume()
        await #expect(throws: PawlError.self) { try await part.file }
        #expect(show.names.count == 4, "\(show.names)")
        try await part.remove()
        #expect(show.names.isEmpty, "\(show.names)")
        await downloader.shutDown()
    }
}
