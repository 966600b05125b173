import Foundation
import Pawl

// Files from untrusted servers: each is complete and correct, or it is absent and the reason is printed.
//
// usage: ExampleHostileServer FOLDER URL...           download
//        ExampleHostileServer FOLDER --clear URL...   remove the files and part files

func say(_ text: String) { FileHandle.standardOutput.write(Data("\(text)\n".utf8)) }

@main struct HostileServer {
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
        options.timeout = .seconds(2)
        options.retries = 2
        options.retryDelay = .milliseconds(100)
        options.connections = 1
        let events = manager.events
        let download = try await manager.add(url, options: options)
        // Resuming a running download has no effect.
        say("started again: \(try await manager.resume(download.id))")
        let talk = Task {
            for await event in events where event.id == download.id {
                switch event.kind {
                case .notice(let text): say("notice: \(text)")
                case .retry(let error, let delay): say("retry in \(delay): \(error)")
                case .started(_, let total, let offset): say("from \(offset) of \(total.map(String.init) ?? "?")")
                default: break
                }
            }
        }
        do {
            let file = try await download.file
            say("complete: \(file.path), \(file.length) bytes")
        } catch { say("failed: \(error)") }
        talk.cancel()
    }

    static func clear(_ url: String, _ manager: DownloadManager) async throws {
        guard let download = try await manager.download(ofURL: url) else { return say("unknown: \(url)") }
        try await download.remove()
        say("cleared: \(url)")
    }
}
