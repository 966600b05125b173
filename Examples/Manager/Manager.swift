import Foundation
import Pawl

// The full manager, driven by commands. The queue is kept in ROOT: a later run continues it.
//
// usage: ExampleManager ROOT COMMAND...
//
//   slots N         set the number of slots          add URL     add a download to the queue
//   list            list all downloads               pause N     pause until it is resumed
//   resume N        resume in queue order            now N       start now, ahead of the queue
//   rename N NAME   rename the file                  delete N    remove it with its files
//   start N         wait until it has bytes          wait        wait for all, printing speeds
//   data N FILE     save Apple's resume data         from FILE   resume from such data, in ROOT/from
//
// N is the number of a download, from 1, in the order in which they were added.

func say(_ text: String) { FileHandle.standardOutput.write(Data("\(text)\n".utf8)) }

@main struct Manager {
    let downloads: DownloadManager
    let root: String
    var words: ArraySlice<String>

    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count > 2 else { return say("usage: ExampleManager ROOT COMMAND...") }
        var manager = Manager(
            downloads: try await DownloadManager(root: arguments[1]), root: arguments[1], words: arguments.dropFirst(2))
        do { while let word = manager.words.popFirst() { try await manager.perform(word) } } catch let error
            as PawlError
        { say(error.description) }
        await manager.downloads.shutDown()
    }

    mutating func next() -> String { words.popFirst() ?? "" }

    mutating func chosen() async throws -> DownloadSnapshot {
        let all = try await downloads.downloads(by: .added(newestFirst: false))
        guard let number = Int(next()), all.indices.contains(number - 1) else {
            say("no such download")
            exit(28)
        }
        return all[number - 1]
    }

    mutating func perform(_ word: String) async throws {
        switch word {
        case "slots": try await downloads.change(maximumConcurrentDownloads: Int(next()) ?? 3)
        case "add":
            var options = DownloadOptions()
            options.connections = 1
            say("added \(try await downloads.add(next(), options: options).id)")
        case "list": try await list()
        case "pause": try await say("pause \(downloads.pause(chosen().id))")
        case "resume": try await say("resume \(downloads.resume(chosen().id))")
        case "now": try await say("now \(downloads.start(now: chosen().id))")
        case "rename":
            let id = try await chosen().id
            say("rename \(try await downloads.rename(id, to: next()))")
        case "delete": try await say("delete \(downloads.remove(chosen().id))")
        case "start": try await begin(chosen().id)
        case "wait": try await wait()
        case "data": try await save(chosen(), in: next())
        case "from": try await resume(from: next())
        default: say("unknown command \(word)")
        }
    }

    func list() async throws {
        for each in try await downloads.downloads(by: .added(newestFirst: false)) {
            let percent = each.percent.map { String(format: "%.2f %%", $0) } ?? "?"
            say("\(each.name ?? each.source) \(each.state) \(percent)")
        }
    }

    func begin(_ id: Download.ID) async throws {
        guard let download = try await downloads.download(withID: id) else { return }
        for await snapshot in download.updates where snapshot.written > 0 { return }
    }

    func wait() async throws {
        while true {
            let left = try await downloads.downloads(matching: DownloadFilter([.waiting]))
            if left.isEmpty { break }
            for each in left where each.speed > 0 { say("\(each.name ?? "?") \(each.speed / 1000) KB/s") }
            try await Task.sleep(for: .milliseconds(200))
        }
        say("all downloads ended")
    }

    /// Saves the data that an iOS app would get from `cancel(byProducingResumeData:)`.
    func save(_ download: DownloadSnapshot, in file: String) async throws {
        let request = DownloadResumeData.Request(url: download.source)
        let data = DownloadResumeData(request, received: download.written, partialName: "\(download.name ?? "").part")
        try Data(data.bytes).write(to: URL(fileURLWithPath: file))
        say("resume data of \(download.written) bytes")
    }

    func resume(from file: String) async throws {
        let data = try DownloadResumeData(Array(Data(contentsOf: URL(fileURLWithPath: file))))
        var options = DownloadOptions()
        options.folder = "\(root)/from"
        let downloader = Downloader()
        let download = try downloader.add(data, partialFolder: root, options: options)
        download.resume()
        let path = try await download.file.path
        say("resumed at \(data.received): \(path), \(download.snapshot.received) bytes received")
    }
}
