import Foundation
import Pawl

// Three ways to download one resource.
//
// usage: ExampleOneShot memory URL            small content in memory, never on disk
//        ExampleOneShot file FOLDER URL       a file with a progress bar
//        ExampleOneShot toggle FOLDER URL     a pause/resume button, pressed here after each third

func say(_ text: String) { FileHandle.standardOutput.write(Data("\(text)\n".utf8)) }

@main struct OneShot {
    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        do {
            switch (arguments.first, arguments.count) {
            case ("memory", 2): try await memory(arguments[2])
            case ("file", 3): try await file(arguments[2], arguments[3])
            case ("toggle", 3): try await toggle(arguments[2], arguments[3])
            default: say("usage: ExampleOneShot memory URL | file FOLDER URL | toggle FOLDER URL")
            }
        } catch let error as PawlError {
            say(error.description)
            exit(Int32(error.code.rawValue))
        }
    }

    /// Downloads at most 1 MiB; larger content is rejected.
    static func memory(_ url: String) async throws {
        let bytes = try await Downloader().data(from: url, maximumSize: 1 << 20)
        say("\(bytes.count) bytes: \(String(decoding: bytes.prefix(60), as: UTF8.self))")
    }

    static func download(_ folder: String, _ url: String, _ downloader: Downloader) throws -> Download {
        var options = DownloadOptions()
        options.folder = folder
        return try downloader.add(url, options: options)
    }

    static func file(_ folder: String, _ url: String) async throws {
        let downloader = Downloader()
        let download = try download(folder, url, downloader)
        download.resume()
        for await snapshot in download.updates {
            guard let percent = snapshot.percent else { continue }
            let full = Int(percent / 5)
            let bar = String(repeating: "#", count: full) + String(repeating: ".", count: 20 - full)
            say("[\(bar)] \(String(format: "%.2f", percent)) %  \(snapshot.speed / 1000) KB/s")
        }
        say("saved \(try await download.file.path)")
    }

    static func toggle(_ folder: String, _ url: String) async throws {
        let downloader = Downloader()
        let download = try download(folder, url, downloader)
        var pauses = 0
        for await snapshot in download.updates {
            switch snapshot.toggle {
            case .download, .continue:
                say("button: \(snapshot.toggle)")
                download.toggle()
            case .pause where (snapshot.percent ?? 0) > Double(pauses + 1) * 33 && pauses < 2:
                pauses += 1
                say("button: pause at \(Int(snapshot.percent ?? 0)) %")
                download.toggle()
            case .pause: break
            case .done: say("button: done")
            }
        }
        say("saved \(try await download.file.path)")
    }
}
