import Foundation
import Pawl

// A mirror of a release directory, to be started by a timer: what is new or changed is downloaded, what is gone is removed.
//
// usage: ExampleMirror FOLDER URL/

func say(_ text: String) { FileHandle.standardOutput.write(Data("\(text)\n".utf8)) }

@main struct Mirror {
    static func main() async throws {
        let words = CommandLine.arguments
        guard words.count == 3 else { return say("usage: ExampleMirror FOLDER URL/") }
        do {
            var options = FileCollection.Options()
            options.removesMissing = true
            var configuration = Downloader.Configuration()
            configuration.adaptsConcurrentDownloads = true
            let releases = try FileCollection(words[2], options: options, configuration: configuration)
            let report = try await releases.download(to: words[1])
            for path in report.removed { say("removed \(path)") }
            for notice in report.notices { say(notice) }
            for error in report.failures { say("\(error)") }
            say("\(report.finished) new, \(report.unchanged) unchanged, \(report.failures.count) failed")
            if let first = report.failures.first { exit(Int32(first.code.rawValue)) }
        } catch let error as PawlError {
            say("\(error)")
            exit(Int32(error.code.rawValue))
        }
    }
}
