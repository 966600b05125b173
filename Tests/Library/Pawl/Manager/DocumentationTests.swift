import Foundation
import Pawl
import PawlTestKit
import Testing

/// The examples of the documentation, so that they compile.
private enum Examples {
    static func front() async throws {
        let downloads = try await DownloadManager(root: "Downloads")
        let download = try await downloads.add("https://example.org/film.mp4")
        for await snapshot in download.updates { print(snapshot.percent ?? 0, "%") }
        print(try await download.file.path)
    }

    static func downloader() async throws {
        var configuration = Downloader.Configuration()
        configuration.maximumConcurrentDownloads = 4
        let downloader = Downloader(configuration) { event in print(event.kind) }
        var options = DownloadOptions()
        options.folder = "Downloads"
        let download = try downloader.add("https://example.org/image.iso", options: options)
        download.resume()
        let file = try await download.file
        print(file.path, file.length)
    }

    static func recipes(_ urls: [String], _ url: String, _ digest: String) async throws {
        let downloader = Downloader()
        let content = try await downloader.content(from: "https://example.org/feed.xml", maximumSize: 1 << 20)
        print(content.bytes.count, content.response?.contentType ?? "")
        let file = try await downloader.download("https://example.org/image.iso", to: "image.iso") { snapshot in
            print(snapshot.percent ?? 0, snapshot.speed)
        }
        print(file.path)
        let manager = try await DownloadManager(root: "Offline")
        let requests = urls.map { url in
            var request = DownloadRequest(url)
            request.options.naming = .hash
            request.group = "course"
            return request
        }
        _ = try await manager.add(requests)
        print(try await manager.totals(matching: DownloadFilter(group: "course")).percent ?? 0)
        var options = DownloadOptions()
        options.checksum = "sha-256=\(digest)"
        do {
            _ = try await downloader.download(url, options: options)
        } catch let error as PawlError where error.code == .checksumMismatch {
            print(error)
        }
    }

    struct Player { func feed(_ chunk: [UInt8]) {} }
    struct Button { var title = "" }
    struct Store: Sendable { func signedURL(for url: String) async -> String { url } }

    static func expiring(_ store: Store) {
        var configuration = DownloadManager.Configuration()
        configuration.refreshURL = { _, expired in await store.signedURL(for: expired) }
    }

    static func limits(_ downloader: Downloader, _ manager: DownloadManager) {
        func networkChanged(isMetered: Bool, isAllowed: Bool) async throws {
            try await manager.change(timetable: isAllowed ? nil : "else pause")
            if isAllowed { try await manager.limit(to: isMetered ? 100 << 10 : nil) }
        }
        downloader.rateLimit = 1 << 20
        downloader.maximumConcurrentDownloads = 2
    }

    static func button(_ downloader: Downloader) async throws {
        var button = Button()
        let titles: [DownloadToggle: String] = [:]
        let download = try downloader.add("https://example.org/image.iso")
        for await snapshot in download.updates {
            button.title = titles[snapshot.toggle] ?? ""  // pressed: download.toggle()
        }
    }

    static func player(_ downloader: Downloader, _ player: Player) async throws {
        let download = try downloader.add("https://example.org/film.mp4")
        download.resume()
        for try await chunk in download.bytes(in: 0..<65_536) {
            player.feed(chunk)
        }
        for try await chunk in download.bytes(in: 0..<65_536) { player.feed(chunk) }
    }

    struct Icons {
        let downloads: any Downloading
        func icon(of host: String) async throws -> [UInt8] {
            try await downloads.data(from: "https://\(host)/favicon.ico", maximumSize: 100_000)
        }
    }

    static func managing() async throws {
        var configuration = DownloadManager.Configuration()
        configuration.maximumConcurrentDownloads = 5
        let downloads = try await DownloadManager(root: "Downloads", configuration)

        let download = try await downloads.add("https://example.org/film.mp4")

        var request = DownloadRequest("https://example.org/lesson.mp4")
        request.options.folder = "lessons"
        request.options.taskDescription = "Lesson 4"
        request.group = "lessons"
        request.priority = 1
        request.start = .paused
        let lesson = try await downloads.add(request)

        try await downloads.pause(download.id)
        try await downloads.resume(download.id)
        try await downloads.start(now: lesson.id)
        try await downloads.move(lesson.id, to: .index(0))
        try await downloads.rename(lesson.id, to: "Lesson 4.mp4")
        try await downloads.relocate(lesson.id, toFolder: "seen/2024")
        try await downloads.remove(download.id, keepingFile: true)

        for snapshot in try await downloads.downloads(matching: DownloadFilter([.waiting, .paused])) {
            print(snapshot.id, snapshot.name ?? snapshot.source, snapshot.state)
        }
        switch try await downloads.location(of: lesson.id) {
        case .unknown: print("unknown id")
        case .unfinished: print("unfinished")
        case .finished(let path): print("finished:", path)
        case .missing(let path): print("finished, but the file is gone:", path)
        }

        let newToken = ""
        if var options = try await downloads.details(of: [lesson.id]).first?.options {
            options.headers = ["Authorization: Bearer \(newToken)"]
            let change = try await downloads.change(options: options, of: lesson.id)
            print(change.isStored, change.unchanged)
        }

        let events = downloads.events
        Task {
            for await event in events {
                switch event.kind {
                case .finished(let file): print("finished", file.path)
                case .failed(let error): print(error)
                default: break
                }
            }
        }

        await downloads.shutDown()
    }

    static func comments() async throws {
        let downloads = try await DownloadManager(root: "Downloads")
        let download = try await downloads.add("https://example.org/film.mp4")
        print(try await download.file.path)

        for await snapshot in download.updates { print(snapshot.percent ?? 0) }
        print(try await download.file.path)
    }

    static func downloaderComment() async throws {
        let downloader = Downloader { event in print(event) }
        let download = try downloader.add("https://example.org/file.iso")
        download.resume()
        print(try await download.file.path)
    }
}

/// Stands for a program's own types.
private struct Consumer: Sendable {
    func feed(_ chunk: [UInt8]) {}
    func current() async throws -> String { "" }
}

extension Examples {
    static func hooks(
        tokens: Consumer, keychain: [String: (user: String, password: String)], backupKey: String
    ) async throws {
        var configuration = DownloadManager.Configuration()
        configuration.hooks.adaptRequest = { request in
            var request = request
            request.set("Authorization", to: "Bearer \(try await tokens.current())")
            return request
        }
        let downloads = try await DownloadManager(root: "Downloads", configuration)

        configuration.hooks.authenticate = { challenge in
            guard challenge.previousFailures == 0 else { return .cancel }
            guard let login = keychain[challenge.host] else { return .useDefault }
            return .credentials(user: login.user, password: login.password)
        }

        configuration.hooks.redirect = { $0.to.hasPrefix("https://cdn.example.org/") ? .follow : .stop }

        configuration.hooks.validateResponse = { received in
            guard received.response.status < 400 else { return .allow }  // fails or is retried as usual
            let isImage = received.response.contentType?.hasPrefix("image/") == true
            guard isImage else { return .cancel(reason: "it is not an image") }
            return (received.length ?? .max) < 1_000_000 ? .intoMemory(maximumSize: 1_000_000) : .allow
        }

        configuration.hooks.retry = { failed in
            if failed.error.status == 404, failed.attempt < 10 { return .retry(after: .seconds(30)) }  // not there yet
            return failed.error.code == .insecure ? .fail : .useDefault
        }

        var options = DownloadOptions()
        options.pinnedPublicKeys = ["sha256//47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=", backupKey]
        options.addressOverrides = ["example.org:443:192.0.2.7"]
        _ = (downloads, options)
    }

    static func streams(downloader: Downloader, decoder: Consumer, parser: Consumer, url: String) async throws {
        func save(_ position: Data) throws {}

        for try await chunk in try downloader.body(of: "https://example.org/log.gz") { decoder.feed(chunk) }

        let body = try downloader.body(of: "https://example.org/events.log")
        for try await chunk in body {
            parser.feed(chunk)
            if let position = body.position { try save(JSONEncoder().encode(position)) }
        }

        do { _ = try await downloader.download(url) } catch let error as PawlError {
            switch error.code {
            case .notFound: print("gone, status", error.status ?? 0)
            case .overloaded: try await Task.sleep(for: error.retryAfter ?? .seconds(60))
            case .rejected: print(error.underlying ?? error)
            case .unfinished: print("removed, or its owner was shut down")
            default: print(error, "exit code", error.code.rawValue)
            }
        } catch is CancellationError { print("this task was cancelled") }
    }

    static func preview() {
        var snapshot = DownloadSnapshot(id: Download.ID(rawValue: 1), source: "https://example.org/film.mp4")
        (snapshot.state, snapshot.written, snapshot.total) = (.transferring, 40, 100)
        let download = Download(showing: snapshot)
        print(download.snapshot.percent ?? 0)
    }

    static func oneStep(downloader: Downloader) async throws {
        let file = try await downloader.download("https://example.org/image.iso", to: "Downloads/image.iso")
        print(file.path)
    }

    static func collection() async throws {
        let collection = try FileCollection("https://example.org/releases/")
        for try await entry in collection.entries { print(entry.path, entry.size ?? 0) }
        let report = try await collection.download(to: "mirror")
        _ = report
    }

    static func resumeData(_ bytes: [UInt8], _ downloader: Downloader) throws {
        let data = try DownloadResumeData(bytes)
        let download = try downloader.add(data, partialFolder: "tmp")
        download.resume()
    }
}

@Suite struct DocumentationTests {
    @Test func `every example of the documentation is one that compiles`() throws {
        let here = "\(#filePath)"
        // Those of the tutorials are run by tests.
        let tutorials = files(in: Checkout.root + "/Tests/Library/Testing/Tutorials")
        let mine = dense(([here] + tutorials).flatMap { lines(of: $0) })
        var count = 0
        let library = Checkout.root + "/Sources/Library"
        for file in files(in: library + "/Pawl") + [library + "/Session/PawlSession.docc/Surviving.md"] {
            for block in blocks(of: lines(of: file)) {
                count += 1
                let isThere = mine.contains(dense(block))
                #expect(isThere, "an example of \(file) is not among those that compile: \(block)")
            }
        }
        #expect(count >= 40, "the examples were found")
    }

    private func lines(of path: String) -> [String] {
        String(decoding: FileSystem.contents(path) ?? [], as: UTF8.self).split(
            separator: "\n", omittingEmptySubsequences: false
        ).map { line in
            let text = line.drop { $0 == " " }
            return String((text.hasPrefix("///") ? text.dropFirst(3) : text[...]).drop { $0 == " " })
        }
    }

    private func files(in folder: String) -> [String] {
        FileSystem.names(in: folder).flatMap { name -> [String] in
            let path = "\(folder)/\(name)"
            if name.hasSuffix(".swift") || name.hasSuffix(".md") { return [path] }
            return name == "Manager" || name == "Pawl.docc" ? files(in: path) : []
        }
    }

    private func blocks(of lines: [String]) -> [[String]] {
        var blocks: [[String]] = []
        var open: [String]?
        for line in lines {
            if line == "```swift" {
                open = []
            } else if line == "```", let block = open {
                blocks.append(block)
                open = nil
            } else {
                open?.append(line)
            }
        }
        return blocks
    }

    /// Without white space: the formatter breaks the lines of the sources, and not those of documents.
    private func dense(_ lines: [String]) -> String { lines.joined().filter { !$0.isWhitespace } }
}
