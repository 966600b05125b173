import Foundation
import Pawl
import PawlSession

// A program that may be killed at any time: run it again, and its downloads resume.
//
// usage: ExampleBackground FOLDER URL...
//
// The methods are those of NSURLSession; locations are paths. With PawlFoundation they are URLs.

func say(_ text: String) { FileHandle.standardOutput.write(Data("\(text)\n".utf8)) }

final class Delegate: DownloadSessionDelegate {
    let folder: String
    init(folder: String) { self.folder = folder }

    func urlSession(
        _ session: DownloadSession, downloadTask task: DownloadTask, didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64
    ) { say("\(task.taskDescription ?? "?") resumes at \(fileOffset)") }

    func urlSession(
        _ session: DownloadSession, downloadTask task: DownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite total: Int64
    ) {
        let percent = total > 0 ? String(format: "%.2f %%", Double(totalBytesWritten) * 100 / Double(total)) : "?"
        say("\(task.taskDescription ?? "?") \(percent)")
    }

    func urlSession(
        _ session: DownloadSession, downloadTask task: DownloadTask, didFinishDownloadingTo location: String
    ) {
        // The file at `location` is removed after this call. An existing file of that name is not replaced.
        let target = "\(folder)/\(task.taskDescription ?? "download")"
        do { try FileManager.default.moveItem(atPath: location, toPath: target) } catch { say("\(error)") }
    }

    func urlSession(_ session: DownloadSession, task: DownloadTask, didCompleteWithError error: PawlError?) {
        say("\(task.taskDescription ?? "?") \(error.map { "failed: \($0)" } ?? "finished")")
    }

    func urlSessionDidFinishEvents(forBackgroundURLSession session: DownloadSession) {
        say("all missed events were delivered")
    }
}

/// The last component of the URL.
func name(of url: String) -> String { String(url.prefix { $0 != "?" }.split(separator: "/").last ?? "download") }

@main struct Background {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count > 2 else { return say("usage: ExampleBackground FOLDER URL...") }
        let folder = arguments[1]
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        var configuration = DownloadSessionConfiguration.background(withIdentifier: "example.background")
        configuration.stateFolder = "\(folder)/.state"
        let session = DownloadSession(configuration: configuration, delegate: Delegate(folder: folder))

        let found = await session.allTasks
        say("\(found.count) tasks restored")
        let known = Set(found.map(\.taskDescription))
        for url in arguments.dropFirst(2) {
            let name = name(of: url)
            if known.contains(name) || FileManager.default.fileExists(atPath: "\(folder)/\(name)") { continue }
            let task = session.downloadTask(with: url)
            task.taskDescription = name
            task.resume()
        }
        for task in found { task.resume() }
        await end(session)
        say("done")
    }

    static func end(_ session: DownloadSession) async {
        session.finishTasksAndInvalidate()
        while await !session.allTasks.isEmpty { try? await Task.sleep(for: .milliseconds(50)) }
    }
}
