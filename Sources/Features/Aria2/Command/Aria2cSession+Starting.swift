import Glibc
import Pawl
import PawlBase
import PawlGet
import PawlServer
import PawlSystem

// How downloads begin: what is on disk is looked at first.
extension Aria2cSession {
    mutating func feed() {
        let slots = Int(clamping: options.number("max-concurrent-downloads") ?? 5)
        if active.isEmpty, checking.isEmpty, !held.isEmpty {
            waiting.insert(contentsOf: held, at: 0)
            held = []
        }
        while active.count + checking.count < slots, !waiting.isEmpty { begin(waiting.removeFirst(), attempt: 0) }
    }

    /// `attempt` counts the other ways in which it was tried.
    mutating func begin(_ entry: Aria2cEntry, attempt: Int, existing: DownloadOptions.ExistingFile? = nil) {
        var download = Aria2cDownload(
            entry, common: options, order: results.count + active.count + checking.count + ended.count)
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
        } catch { fail(download, PawlError(error)) }
    }

    /// Compares what is there with the known digests, on a thread of its own: it may be large.
    mutating func startCheck(_ download: Aria2cDownload, _ path: String, length: Int64) {
        let (order, check, mailbox) = (download.order, RunningCheck(total: length, of: path), mailbox)
        checking[order] = download
        checking[order]?.check = check
        SystemThread.detached("pawl-check", blocksSignals: true) {
            let found = Result { () throws(Failure) in try download.finding(path) { check.note($0) } }
            mailbox.post(.checked(Aria2cSession.Check(order: order, result: found)))
        }
    }

    mutating func hear(_ result: Result<Aria2cDownload.Finding, Failure>, of order: Int) {
        guard var download = checking.removeValue(forKey: order), let path = download.expectedPath else { return }
        download.check = nil
        do throws(Failure) {
            guard try accept(try result.get(), &download, path, isThere: true) else { return }
            prepareConditional(&download, path)
            try add(download)
        } catch { fail(download, PawlError(error)) }
    }

    mutating func add(_ download: Aria2cDownload) throws(Failure) {
        var download = download
        do throws(PawlError) {
            let source = download.entry.addresses[0]
            let handle =
                download.isDry
                ? try downloader.probe(source, options: download.target)
                : try downloader.add(
                    source, options: download.target, pieces: download.entry.pieces, isSeeded: download.isSeeded)
            download.handle = handle
            active[handle.id.rawValue] = download
            handle.resume()
        } catch { throw error.failure }
    }

    /// Looks at what is on disk first; `false` if that is all there is to do for now.
    mutating func prepared(_ download: inout Aria2cDownload) throws(Failure) -> Bool {
        guard let path = download.expectedPath else { return true }
        let length = Aria2cFiles.length(of: path)
        dropMark(of: path, download, isThere: length != nil)
        if length != nil, Aria2cFiles.isUnfinished(path), !download.isDry { download.target.existingFile = .overwrite }
        if download.flag("check-integrity"), download.hasDigest {
            if let length {
                startCheck(download, path, length: length)
                return false
            }
            if download.flag("hash-check-only") { return try accept(.wrong, &download, path, isThere: false) }
        }
        if length != nil { prepareConditional(&download, path) }
        return true
    }

    /// Removes a control file on request, or one whose download is gone, and says so as aria2 does.
    mutating func dropMark(of path: String, _ download: Aria2cDownload, isThere: Bool) {
        let mark = download.shown(path) + ".aria2"
        let parts = FileName.PartForm.allCases.map { path + $0.partialEnding }
        guard !download.isDry, nameExists(path + ".aria2") else { return }
        if !isThere, !parts.contains(where: nameExists) {
            printer.note(
                .notice,
                "Removed the defunct control file \(mark) because the download file \(download.shown(path)) doesn't exist."
            )
        } else if download.flag("remove-control-file") {
            printer.note(.notice, "Removed control file for \(mark) because it is requested by user.")
        } else {
            return
        }
        Aria2cFiles.unmark(path)
    }

    func prepareConditional(_ download: inout Aria2cDownload, _ path: String) {
        guard download.flag("conditional-get"), let date = Aria2cFiles.date(of: path) else { return }
        download.target.headers.append("If-Modified-Since: \(date)")
        download.isConditional = true
    }

    /// What is to be done about the digests of what is there; `false` if that is all.
    mutating func accept(
        _ finding: Aria2cDownload.Finding, _ download: inout Aria2cDownload, _ path: String, isThere: Bool
    ) throws(Failure) -> Bool {
        if finding == .right {
            printer.note(.notice, "Verification finished successfully. file=\(download.shown(path))")
            if isThere, let name = download.expectedName { Downloader.tidy(name, in: download.folder) }
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
}
