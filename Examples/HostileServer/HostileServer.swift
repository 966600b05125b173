import Foundation
import Pawl

// Files from servers that cannot be trusted: each is whole and right, or it is not there and the reason is told.
//
// usage: ExampleHostileServer FOLDER URL...      fetch
//        ExampleHostileServer FOLDER --clear URL...   remove file and partial of each

func say(_ text: String) { FileHandle.standardOutput.write(Data("\(text)\n".utf8)) }

@main
struct HostileServer {
    static func main() async throws {
        var arguments = CommandLine.arguments.dropFirst()
        guard arguments.count > 1, let folder = arguments.popFirst() else {
            return say("usage: ExampleHostileServer FOLDER [--clear] URL...")
        }
        let manager = try await DownloadManager(root: folder)
        if arguments.first == "--clear" {
            for url in arguments.dropFirst() { try await clear(url, manager) }
        } else {
            for url in arguments { try await fetch(url, manager) }
        }
        await manager.shutDown()
    }

    static func fetch(_ url: String, _ manager: DownloadManager) async throws {
        var options = DownloadOptions()
        options.timeout = 2
        options.retries = 2
        options.retryDelay = 0.1
        options.connections = 1
        let events = manager.events
        let download = try await manager.add(url, options: options)
        // Starting what runs already does nothing.
        say("started again: \(try await manager.resume(download.id))")
        let talk = Task {
            for await event in events where event.id == download.id {
                switch event.kind {
                case .notice(let text): say("notice: \(text)")
                case .retry(let error, let delay): say("again in \(delay) s: \(error)")
                case .started(_, let total, let offset):
                    say("from \(offset) of \(total.map(String.init) ?? "?")")
                default: break
                }
            }
        }
        do {
            let file = try await download.file
            say("whole: \(file.path), \(file.length) bytes")
        } catch {
            say("not fetched: \(error)")
        }
        talk.cancel()
    }

    static func clear(_ url: String, _ manager: DownloadManager) async throws {
        guard let download = try await manager.download(of: url) else { return say("unknown: \(url)") }
        try await download.remove()
        say("cleared: \(url)")
    }
}
