import Glibc
import Pawl
import PawlBase
import PawlGet
import PawlSystem
import PawlTerminal

/// One run of aria2c without a service: starts the downloads in order, prints what aria2c prints, and returns its
/// exit code.
///
/// Everything here runs on the main thread; other threads only post to the mailbox.
struct Aria2cSession: ~Copyable {
    /// The result of a comparison on a thread of its own, under the download's order.
    struct Check: Sendable {
        var order: Int
        var result: Result<Aria2cDownload.Finding, Failure>
    }

    enum Message: Sendable {
        case event(DownloadEvent)
        case signal(Int32)
        case checked(Check)
    }

    let options: Aria2cOptions
    let downloader: Downloader
    let mailbox: Mailbox<Message>
    private let poller = EpollPoller(clock: SystemClock())
    let cookies: CookieSaver?
    var printer: Aria2cPrinter
    package var waiting: [Aria2cEntry]
    /// Those that wait until another download of the same file ends.
    var held: [Aria2cEntry] = []
    var active: [UInt64: Aria2cDownload] = [:]
    /// Those whose file is compared with their digests before anything is requested, by their order.
    var checking: [Int: Aria2cDownload] = [:]
    var ended: [(entry: Aria2cEntry, code: UInt8)] = []
    var results: [Aria2cText.Result] = []
    var lastFailure: UInt8 = 0
    var isStopped = false
    var serverStates: [String: Int64] = [:]
    let start = milliseconds()
    var nextTick: Int64
    var nextSave: Int64?

    init(_ options: Aria2cOptions, _ entries: [Aria2cEntry], _ printer: consuming Aria2cPrinter) {
        self.options = options
        self.printer = printer
        waiting = entries
        let mailbox = Mailbox<Message>()
        mailbox.attach(wake: poller.wake)
        // Before any other thread, so that the downloader's threads inherit the signal mask.
        SignalWatch.start(hasDisplay: false, cursor: CursorGuard()) { mailbox.post(.signal($0)) }
        var configuration = Downloader.Configuration()
        configuration.maximumConcurrentDownloads = 1_000
        configuration.rateLimit = options.number("max-overall-download-limit").flatMap { $0 == 0 ? nil : $0 }
        configuration.setThreads(for: entries.count)
        configuration.reportsEveryState = false
        configuration.stateFolder = Environment.pawlState
        configuration.numbering = .dotted
        configuration.recognizesFinished = false
        cookies = CookieSaver(options["save-cookies"], &configuration)
        downloader = Downloader(configuration) { mailbox.post(.event($0)) }
        self.mailbox = mailbox
        nextTick = start + 1000
        nextSave = options.number("save-session-interval").flatMap { $0 > 0 ? start + $0 * 1000 : nil }
    }

    /// Throws code 1 when the system refuses the downloader's threads.
    consuming func run() throws(Failure) -> Int32 {
        try SystemThread.requireAll()
        feed()
        while !active.isEmpty || !checking.isEmpty {
            mailbox.wait { poller.wait(until: Instant(nanoseconds: nextTick * 1_000_000)) }
            for message in mailbox.take() { hear(message) }
            if milliseconds() >= nextTick { tick() }
            if isStopped { break }
            feed()
        }
        leaveUnfinished()
        downloader.shutDownAndWait()
        do throws(Failure) { try cookies?.save() } catch { printer.note(.error, error.description) }
        if let path = options["server-stat-of"], !path.isEmpty { saveServerStates(to: path) }
        let isIncomplete = results.contains { $0.outcome != .complete }
        printer.end(results.suffix(mostResults), isUnfinished: isIncomplete)
        saveSession()
        let isUnfinished = !running.isEmpty || !waiting.isEmpty
        return Int32(lastFailure != 0 ? lastFailure : isUnfinished ? PawlError.Code.unfinished.rawValue : 0)
    }

    var mostResults: Int { Int(clamping: options.number("max-download-result") ?? 1000) }

    mutating func tick() {
        while nextTick <= milliseconds() { nextTick += 1000 }
        printer.show(running.map(\.progress))
        if let due = nextSave, milliseconds() >= due {
            nextSave = due + (options.number("save-session-interval") ?? 1) * 1000
            saveSession(quietly: true)
        }
        if let seconds = options.number("stop"), seconds > 0, milliseconds() - start >= seconds * 1000 {
            printer.note(.notice, "\(seconds) second(s) has passed. Stopping application.")
            isStopped = true
        }
        if let process = options.number("stop-with-process"), !Aria2cFiles.isAlive(process) {
            printer.note(.info, "Process \(process) is not running. Stopping application.")
            isStopped = true
        }
    }

    /// In the order of their starts.
    var running: [Aria2cDownload] { (Array(active.values) + Array(checking.values)).sorted { $0.order < $1.order } }
}
