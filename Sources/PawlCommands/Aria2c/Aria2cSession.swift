import Glibc
import Pawl
import PawlCore
import PawlServer
import PawlSystem

/// One run of aria2c without a service: starts the downloads in order, prints what aria2c prints, and returns its
/// exit code.
///
/// Everything here runs on the main thread; other threads only post to the mailbox.
struct Aria2cSession: ~Copyable {
    let options: Aria2cOptions
    let downloader: Downloader
    private let mailbox: CommandMailbox
    private let cookies: CookieSaver?
    var printer: Aria2cPrinter
    private var waiting: [Aria2cEntry]
    /// Those that wait until another download of the same file ends.
    private var held: [Aria2cEntry] = []
    private var active: [UInt64: Aria2cDownload] = [:]
    /// Those whose file is compared with their digests before anything is requested, by their order.
    private var checking: [Int: Aria2cDownload] = [:]
    private var ended: [(entry: Aria2cEntry, code: UInt8)] = []
    private var results: [Aria2cText.Result] = []
    private var lastFailure: UInt8 = 0
    private var isStopped = false
    private var serverStates: [String: Int64] = [:]
    private let start = milliseconds()
    private var nextTick: Int64
    private var nextSave: Int64?

    init(
        _ options: Aria2cOptions,
        _ entries: [Aria2cEntry],
        _ printer: consuming Aria2cPrinter
    ) throws(Failure) {
        self.options = options
        self.printer = printer
        waiting = entries
        let mailbox = try CommandMailbox()
        // Before any other thread, so that the downloader's threads inherit the signal mask.
        SignalWatch.start(hasDisplay: false, cursor: CursorGuard()) { mailbox.post(.signal($0)) }
        var configuration = Downloader.Configuration()
        configuration.jobs = 1_000
        configuration.rateLimit = options.number("max-overall-download-limit").flatMap { $0 == 0 ? nil : $0 }
        configuration.setThreads(for: entries.count)
        configuration.reportsEveryState = false
        configuration.stateFolder = StateFolder.usual
        configuration.numbering = .dotted
        cookies = CookieSaver(options["save-cookies"], &configuration)
        downloader = Downloader(configuration) { mailbox.post(.event($0)) }
        self.mailbox = mailbox
        nextTick = start + 1000
        nextSave = options.number("save-session-interval").flatMap { $0 > 0 ? start + $0 * 1000 : nil }
    }

    consuming func run() -> Int32 {
        feed()
        while !active.isEmpty || !checking.isEmpty {
            mailbox.wait(milliseconds: Int32(clamping: max(0, nextTick - milliseconds())))
            for message in mailbox.take() { hear(message) }
            if milliseconds() >= nextTick { tick() }
            if isStopped { break }
            feed()
        }
        leaveUnfinished()
        downloader.shutDown()
        do throws(Failure) { try cookies?.save() } catch { printer.note(.error, error.description) }
        if let path = options["server-stat-of"], !path.isEmpty { saveServerStates(to: path) }
        let isIncomplete = results.contains { $0.outcome != .complete }
        printer.end(results.suffix(mostResults), isUnfinished: isIncomplete)
        saveSession()
        let isUnfinished = !running.isEmpty || !waiting.isEmpty
        return Int32(lastFailure != 0 ? lastFailure : isUnfinished ? PawlError.Code.unfinished.rawValue : 0)
    }

    private var mostResults: Int { Int(clamping: options.number("max-download-result") ?? 1000) }

    private mutating func tick() {
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
    private var running: [Aria2cDownload] {
        (Array(active.values) + Array(checking.values)).sorted { $0.order < $1.order }
    }

    // MARK: starting

    private mutating func feed() {
        let slots = Int(clamping: options.number("max-concurrent-downloads") ?? 5)
        if active.isEmpty, checking.isEmpty, !held.isEmpty {
            waiting.insert(contentsOf: held, at: 0)
            held = []
        }
        while active.count + checking.count < slots, !waiting.isEmpty {
            begin(waiting.removeFirst(), attempt: 0)
        }
    }

    /// `attempt` counts the other ways in which it was tried.
    private mutating func begin(
        _ entry: Aria2cEntry,
        attempt: Int,
        existing: DownloadOptions.ExistingFile? = nil
    ) {
        var download = Aria2cDownload(
            entry,
            common: options,
            order: results.count + active.count + checking.count + ended.count
        )
        download.attempt = attempt
        if attempt == 0 { run(.start, download) }
        guard !entry.addresses.isEmpty else {
            return leave(download, code: PawlError.Code.unknown.rawValue, speed: nil)
        }
        do throws(Failure) {
            try download.prepare { self.printer.note($0, $1) }
            if let existing { download.target.existingFile = existing }
            if attempt == 0, try !prepared(&download) { return }
            try add(download)
        } catch {
            fail(download, PawlError(error))
        }
    }

    /// Compares what is there with the known digests, on a thread of its own: it may be large.
    private mutating func startCheck(_ download: Aria2cDownload, _ path: String, length: Int64) {
        let (order, check, mailbox) = (download.order, RunningCheck(total: length, of: path), mailbox)
        checking[order] = download
        checking[order]?.check = check
        SystemThread.detached("pawl-check", blocksSignals: true) {
            let found = Result { () throws(Failure) in try download.finding(path) { check.note($0) } }
            mailbox.post(.finding(order, found))
        }
    }

    private mutating func hear(_ result: Result<Aria2cDownload.Finding, Failure>, of order: Int) {
        guard var download = checking.removeValue(forKey: order), let path = download.expectedPath else {
            return
        }
        download.check = nil
        do throws(Failure) {
            guard try accept(try result.get(), &download, path, isThere: true) else { return }
            prepareConditional(&download, path)
            try add(download)
        } catch {
            fail(download, PawlError(error))
        }
    }

    private mutating func add(_ download: Aria2cDownload) throws(Failure) {
        var download = download
        do throws(PawlError) {
            let source = download.entry.addresses[0]
            let handle =
                download.isDry
                ? try downloader.probe(source, options: download.target)
                : try downloader.add(
                    source,
                    options: download.target,
                    pieces: download.entry.pieces,
                    isSeeded: download.isSeeded
                )
            download.handle = handle
            active[handle.id.rawValue] = download
            handle.resume()
        } catch {
            throw error.failure
        }
    }

    /// Looks at what is on disk first; `false` if that is all there is to do for now.
    private mutating func prepared(_ download: inout Aria2cDownload) throws(Failure) -> Bool {
        guard let path = download.expectedPath else { return true }
        let length = Aria2cFiles.length(of: path)
        if length != nil, Aria2cFiles.isUnfinished(path), !download.isDry {
            download.target.existingFile = .overwrite
        }
        if download.flag("check-integrity"), download.hasDigest {
            if let length {
                startCheck(download, path, length: length)
                return false
            }
            if download.flag("hash-check-only") {
                return try accept(.wrong, &download, path, isThere: false)
            }
        }
        if length != nil { prepareConditional(&download, path) }
        return true
    }

    private func prepareConditional(_ download: inout Aria2cDownload, _ path: String) {
        guard download.flag("conditional-get"), let date = Aria2cFiles.date(of: path) else { return }
        download.target.headers.append("If-Modified-Since: \(date)")
        download.isConditional = true
    }

    /// What is to be done about the digests of what is there; `false` if that is all.
    private mutating func accept(
        _ finding: Aria2cDownload.Finding,
        _ download: inout Aria2cDownload,
        _ path: String,
        isThere: Bool
    ) throws(Failure) -> Bool {
        if finding == .right {
            printer.note(.notice, "Verification finished successfully. file=\(download.shown(path))")
            complete(download, speed: 0)
            return false
        }
        // It may be the beginning of the right file.
        download.isDoubtful = finding == .wrong && isThere && download.target.existingFile == .resume
        if !download.isDoubtful || download.flag("hash-check-only") {
            printer.note(.error, "Checksum error detected. file=\(download.shown(path))")
        }
        if download.flag("hash-check-only") {
            leave(download, code: 1)
            return false
        }
        if !download.isDoubtful { try download.keepRight(of: finding, path) }
        return true
    }

    // MARK: events

    private mutating func hear(_ message: CommandMailbox.Message) {
        switch message {
        case .event(let event): hear(event.kind, of: event.id.rawValue)
        case .signal(SIGINT):
            printer.note(
                .notice,
                "Shutdown sequence commencing... Press Ctrl-C again for emergency shutdown."
            )
            isStopped = true
        case .signal(SIGTERM), .signal(SIGHUP):
            printer.note(.notice, "Emergency Shutdown sequence commencing...")
            isStopped = true
        case .finding(let order, let result): hear(result, of: order)
        case .signal, .trace: break
        }
    }

    private mutating func hear(_ kind: DownloadEvent.Kind, of id: UInt64) {
        guard active[id] != nil else {
            if case .notice(let text) = kind { printer.note(.info, text.description) }
            return
        }
        switch kind {
        case .started(let name, let total, _): started(id, name, total)
        case .notice(let text): noteSource(text, of: id)
        case .retry(let error, _):
            printer.note(.info, error.description)
            // aria2c gives a slow server up instead of asking again.
            guard error.code == .tooSlow, active[id]?.refusal == nil else { return }
            active[id]?.refusal = error
            active[id]?.handle?.pause()
        case .finished(let file):
            guard let download = active.removeValue(forKey: id) else { return }
            finish(download, file)
        case .failed(let error):
            guard let download = active.removeValue(forKey: id) else { return }
            fail(download, error)
        case .state(.paused):
            guard let error = active[id]?.refusal, let download = active.removeValue(forKey: id) else {
                return
            }
            fail(download, error)
        case .state, .added, .changed, .missed: break
        }
    }

    /// A mirror that is not used any more is an error, although the others go on.
    private mutating func noteSource(_ text: DownloadNotice, of id: UInt64) {
        guard text.message.id == "left-out-failed-source",
            case .failure(let failure) = text.message.values.first
        else { return printer.note(.info, text.description) }
        let number = 7 + (active[id]?.order ?? 0)
        printer.note(.error, "CUID#\(number) - Download aborted. URI=\(failure.place)")
    }

    private mutating func started(_ id: UInt64, _ name: String, _ total: Int64?) {
        let former = active[id]?.name
        active[id]?.name = name
        guard let download = active[id], !download.isDry, former != name else { return }
        Aria2cFiles.mark(download.path)
        noteRename(download)
    }

    private mutating func noteRename(_ download: Aria2cDownload) {
        guard let name = download.name, let former = Aria2cDownload.unnumbered(name),
            former == download.expectedName || Aria2cFiles.exists(download.folder + "/" + former),
            name != download.expectedName
        else { return }
        printer.note(.notice, "File already exists. Renamed to \(download.shownPath).")
    }

    private mutating func finish(_ download: Aria2cDownload, _ file: DownloadedFile) {
        var download = download
        if !download.isDry {
            let isNew = download.name == nil
            download.name = file.path.pathParts().last.map(String.init) ?? download.name
            if isNew, !file.wasThere { noteRename(download) }
            if download.values["force-save"] != "true" { Aria2cFiles.unmark(download.path) }
        }
        if file.wasThere {
            printer.note(
                .notice,
                "GID#\(download.entry.gid) - Download has already completed: \(download.shownPath)"
            )
        } else if download.target.checksum != nil {
            printer.note(.notice, "Verification finished successfully. file=\(download.shownPath)")
        }
        if let host = download.host, file.duration > 0.001 {
            serverStates[host] = Int64(Double(file.received) / file.duration)
        }
        let speed = file.duration > 0.001 ? Int64(Double(file.received) / file.duration) : nil
        let followers = download.isDry ? [] : followers(of: download)
        complete(download, speed: speed)
        waiting.insert(contentsOf: followers, at: 0)
    }

    /// The downloads of a Metalink that was just downloaded.
    private mutating func followers(of download: Aria2cDownload) -> [Aria2cEntry] {
        let mode = download.values["follow-metalink"] ?? "true"
        let type = download.handle?.snapshot.contentType ?? ""
        let name = (download.name ?? "").lowercased()
        guard mode != "false",
            type.hasPrefix("application/metalink") || name.hasSuffix(".meta4") || name.hasSuffix(".metalink")
        else { return [] }
        do throws(Failure) {
            let base = (try? WebAddress.parse(download.entry.addresses[0]))?.address
            let bytes = try readBytes(at: download.path)
            if mode == "mem" { _ = unsafe unlink(download.path) }
            var own = download.entry.options
            for name in ["out", "checksum", "gid"] { own.forget(name) }
            return try Aria2cEntries.entries(of: bytes, at: download.path, download.values, base: base).map {
                var entry = $0
                entry.options = entry.options.over(own)
                return entry
            }
        } catch {
            printer.note(.error, error.description)
            lastFailure = error.code.rawValue
            return []
        }
    }

    private mutating func complete(_ download: Aria2cDownload, speed: Int64?) {
        printer.note(.notice, "Download complete: \(download.shownPath)")
        ended.append((download.entry, 0))
        results.append(download.result(.complete, speed: speed))
        run(.complete, download)
    }

    /// Failures of the place itself, for which aria2c prints the path.
    private static let ofPlaces: Set<PawlError.Code> = [
        .fileExists, .cannotMakeFolder, .cannotOpen, .cannotCreate, .inputOutput, .renameFailed,
    ]

    private mutating func fail(_ failed: Aria2cDownload, _ error: PawlError) {
        var download = failed
        if download.isDry, error.code == .tooLarge {
            download.name = download.outName ?? download.handle?.snapshot.name
            return complete(download, speed: 0)
        }
        if download.isConditional, Aria2cExit.status(of: error) == 304 {
            printer.note(
                .notice,
                "GID#\(download.entry.gid) - Download has already completed: \(download.shownPath)"
            )
            return complete(download, speed: 0)
        }
        let parts = FileName.PartForm.allCases.map { failed.path + $0.partialEnding }
        if failed.name != nil, !parts.contains(where: Aria2cFiles.exists) {
            Aria2cFiles.withdrawMark(failed.path)
        }
        if let existing = download.secondTry(after: error) {
            if download.isDoubtful {
                printer.note(.error, "Checksum error detected. file=\(download.shownPath)")
            }
            return begin(download.entry, attempt: download.attempt + 1, existing: existing)
        }
        if error.code == .alreadyDownloading, !active.isEmpty, download.renames {
            return held.append(download.entry)
        }
        var code = Aria2cExit.code(of: error, mostNotFound: download.values.number("max-file-not-found") ?? 0)
        if Aria2cExit.isOfLongerFile(error), !download.renames {
            code = PawlError.Code.fileExists.rawValue
            download.name = download.expectedName
        }
        if error.code == .checksumMismatch {
            printer.note(.error, "Checksum error detected. file=\(download.shownPath)")
        } else {
            let addresses = download.entry.addresses.map { Redaction.address($0) }
            let address = addresses.first { $0 == error.failure.place } ?? addresses[0]
            printer.note(
                .error,
                "CUID#\(7 + download.order) - Download aborted. URI=\(address)",
                more: [
                    "Exception: errorCode=\(code) URI=\(address)",
                    "  -> errorCode=\(code) \(error.description)",
                ]
            )
        }
        if failed.name == nil, Self.ofPlaces.contains(error.code) { download.name = failed.expectedName }
        leave(download, code: code)
    }

    private mutating func leave(_ download: Aria2cDownload, code: UInt8) {
        leave(download, code: code, speed: download.averageSpeed)
    }

    private mutating func leave(_ download: Aria2cDownload, code: UInt8, speed: Int64?) {
        notComplete(download)
        lastFailure = code
        ended.append((download.entry, code))
        results.append(download.result(.failed, speed: speed))
        run(.error, download)
    }

    private mutating func notComplete(_ download: Aria2cDownload) {
        let path = download.name == nil && download.outName == nil ? "" : download.shownPath
        printer.note(.notice, "Download GID#\(download.entry.gid) not complete: \(path)")
    }

    private mutating func leaveUnfinished() {
        for download in running {
            download.check?.cancel()
            notComplete(download)
            results.append(download.result(.inProgress, speed: download.averageSpeed))
            run(.stop, download)
        }
    }

    // MARK: programs and files

    private func run(_ occasion: Hooks.Occasion, _ download: Aria2cDownload) {
        func program(_ name: String) -> String? {
            options["on-download-\(name)"].flatMap { $0.isEmpty ? nil : $0 }
        }
        let isEnd = occasion == .complete || occasion == .error
        guard let program = program(occasion.rawValue) ?? (isEnd ? program("stop") : nil) else { return }
        let isNamed = download.name != nil || download.outName != nil || occasion == .complete
        Aria2cFiles.run(program, gid: "\(download.entry.gid)", path: isNamed ? download.shownPath : "")
    }

    private mutating func saveSession(quietly: Bool = false) {
        guard let path = options["save-session"], !path.isEmpty else { return }
        var entries: [Aria2cEntry] = []
        for (entry, code) in ended {
            let values = entry.options.over(options)
            switch code {
            case 0: if values.flag("force-save") { entries.append(entry) }
            case 3, 4: if values["save-not-found"] != "false" { entries.append(entry) }
            default: entries.append(entry)
            }
        }
        entries += running.map(\.entry) + held + waiting
        let text = entries.map { Aria2cFiles.sessionText($0, options) }.joined()
        do throws(Failure) {
            try AtomicFile.write(Array(text.utf8), to: path)
            if !quietly { printer.note(.notice, "Serialized session to '\(path)' successfully.") }
        } catch {
            if !quietly { printer.note(.notice, "Failed to serialize session to '\(path)'.") }
        }
    }

    private mutating func saveServerStates(to path: String) {
        let now = time(nil)
        let text = serverStates.sorted { $0.key < $1.key }.map { host, speed in
            "host=\(host), protocol=http, dl_speed=\(speed), sc_avg_speed=\(speed), mc_avg_speed=0, "
                + "last_updated=\(now), counter=1, status=OK\n"
        }.joined()
        let isSaved = (try? AtomicFile.write(Array(text.utf8), to: path)) != nil
        printer.note(
            .notice,
            "ServerStat file \(path) \(isSaved ? "saved successfully" : "could not be saved")."
        )
    }
}
