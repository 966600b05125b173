import Glibc
import Pawl
import PawlSession

/// A program with a background session that prints the calls of its delegate.
///
/// usage: SessionProgram STATE hold URL...    starts tasks; the delegate never returns from the first finish
///        SessionProgram STATE start URL...   starts tasks, except those of "-URL", and runs until it is killed
///                                            a task of "URL.m3u8" is one of a stream, also below
///        SessionProgram STATE run FOLDER URL...  the same; finished files go to the folder, which is synced
///        SessionProgram STATE again [FOLDER] receives missed events, and waits for the rest; files go to the folder
///        SessionProgram STATE numbers NAME... makes tasks that do not run, and lists all with their identifiers
///        SessionProgram STATE keep URL       prints resume data in the middle, and continues from it until it is killed
///        SessionProgram STATE hand URL       prints resume data in the middle; its handler never returns
///        SessionProgram STATE data HEX [FOLDER] continues from resume data, until it is killed or done
@main struct SessionProgram {
    static func main() async {
        let arguments = CommandLine.arguments
        guard arguments.count >= 3 else { exit(28) }
        var configuration = DownloadSessionConfiguration.background(withIdentifier: "films/1")
        configuration.stateFolder = arguments[1]
        configuration.maximumConcurrentDownloads = 1
        configuration.failsOnErrorStatus = true
        let printer = EventPrinter(holds: arguments[2] == "hold", folder: folder(arguments))
        let session = DownloadSession(configuration: configuration, delegate: printer)
        switch arguments[2] {
        case "hold":
            for (number, url) in arguments.dropFirst(3).enumerated() {
                let task = make(url, in: session)
                task.taskDescription = "task \(number)"
                task.resume()
            }
            // One that is never resumed.
            session.downloadTask(with: "http://127.0.0.1:1/x").taskDescription = "asleep"
            if await session.allTasks.contains(where: { $0.taskDescription == "asleep" }) { say("all are there") }
        case "start", "run":
            let urls = arguments.dropFirst(arguments[2] == "run" ? 4 : 3)
            for (number, url) in urls.enumerated() {
                let isAsleep = url.hasPrefix("-")
                let task = make(String(url.dropFirst(isAsleep ? 1 : 0)), in: session)
                task.taskDescription = isAsleep ? "asleep" : "task \(number)"
                if !isAsleep { task.resume() }
            }
            if await session.allTasks.count >= urls.count { say("all are there") }
        case "numbers":
            let new = arguments.dropFirst(3).map { name in
                let task = session.downloadTask(with: "http://127.0.0.1:1/\(name)")
                task.taskDescription = name
                return task
            }
            for task in await session.allTasks {
                let isNew = new.contains { $0 === task }
                say("\(task.taskIdentifier) \(task.taskDescription ?? "nil")\(isNew ? " new" : "")")
            }
            say("all are there")
        case "keep", "hand":
            let task = session.downloadTask(with: arguments[3])
            task.resume()
            while task.countOfBytesReceived < 1_000_000 { await Task.yield() }
            if arguments[2] == "hand" {
                task.cancel { data in
                    say("data " + digits(data ?? []))
                    while true { pause() }
                }
                break
            }
            guard let data = await task.cancelByProducingResumeData() else { exit(1) }
            let next = session.downloadTask(withResumeData: data)
            next.taskDescription = "next"
            next.resume()
            say("data " + digits(data))
        case "data":
            let task = session.downloadTask(withResumeData: bytes(arguments[3]))
            task.taskDescription = "data"
            say("is made")
            task.resume()
            session.finishTasksAndInvalidate()
        default:
            for task in await session.allTasks {
                say("found \(task.taskDescription ?? "nil") \(task.state)")
                if task.taskDescription == "asleep" {
                    task.cancel()
                } else if task.state == .suspended {
                    // Its program died before it had resumed it.
                    task.resume()
                }
            }
            session.finishTasksAndInvalidate()
        }
        while true { pause() }
    }

    private static func make(_ url: String, in session: DownloadSession) -> DownloadTask {
        url.hasSuffix(".m3u8") ? session.makeAssetDownloadTask(with: url) : session.downloadTask(with: url)
    }

    /// Where finished files go.
    private static func folder(_ arguments: [String]) -> String? {
        let index = ["again": 3, "run": 3, "data": 4][arguments[2]]
        return index.flatMap { $0 < arguments.count ? arguments[$0] : nil }
    }

    private static func digits(_ data: [UInt8]) -> String {
        data.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    static func bytes(_ digits: String) -> [UInt8] {
        let digits = Array(digits)
        return stride(from: 0, to: digits.count, by: 2).compactMap { UInt8(String(digits[$0...$0 + 1]), radix: 16) }
    }

    /// Unbuffered, so that all output was read when the program is killed.
    static func say(_ text: String) {
        let line = Array((text + "\n").utf8)
        _ = unsafe write(1, line, line.count)
    }
}

final class EventPrinter: DownloadSessionDelegate {
    private let holds: Bool
    private let folder: String?

    init(holds: Bool, folder: String?) {
        self.holds = holds
        self.folder = folder
    }

    private func say(_ text: String) { SessionProgram.say(text) }

    func urlSession(
        _ session: DownloadSession, downloadTask task: DownloadTask, didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64
    ) { say("resumed \(task.taskDescription ?? "nil") at \(fileOffset) of \(expectedTotalBytes)") }

    func urlSession(
        _ session: DownloadSession, assetDownloadTask task: DownloadTask, didLoad segments: DownloadSnapshot.Segments
    ) { say("loaded \(task.taskDescription ?? "nil") \(segments.done) of \(segments.total)") }

    func urlSession(
        _ session: DownloadSession, downloadTask task: DownloadTask, didFinishDownloadingTo location: String
    ) {
        let length = task.response?.value(forHTTPHeaderField: "content-length") ?? "nil"
        say("finish \(task.taskDescription ?? "nil") \(task.countOfBytesReceived) \(length)")
        while holds { pause() }
        guard let folder else { return }
        for path in task.otherLocations {
            let suffix = path.split(separator: ".").dropFirst(2).joined(separator: ".")
            unsafe rename(path, "\(folder)/\(task.taskDescription ?? "nil").\(suffix)")
        }
        unsafe rename(location, "\(folder)/\(task.taskDescription ?? "nil")")
        let file = unsafe open(folder, O_RDONLY | O_DIRECTORY)
        fsync(file)
        close(file)
    }

    func urlSession(_ session: DownloadSession, task: DownloadTask, didCompleteWithError error: PawlError?) {
        say("complete \(task.taskDescription ?? "nil") \(error?.code.rawValue ?? 0)")
    }

    func urlSessionDidFinishEvents(forBackgroundURLSession session: DownloadSession) { say("events") }

    func urlSession(_ session: DownloadSession, didBecomeInvalidWithError error: PawlError?) {
        say("over \(error?.code.rawValue ?? 0)")
        exit(0)
    }
}
