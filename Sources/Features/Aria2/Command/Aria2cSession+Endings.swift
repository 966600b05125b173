import Glibc
import Pawl
import PawlAria2
import PawlBase
import PawlGet
import PawlServer
import PawlSystem

// How downloads end.
extension Aria2cSession {
    mutating func finish(_ download: Aria2cDownload, _ file: DownloadedFile) {
        var download = download
        if !download.isDry {
            let isNew = download.name == nil
            download.name = file.path.pathParts().last.map(String.init) ?? download.name
            if isNew, !file.wasThere { noteRename(download) }
            if download.values["force-save"] != "true" { Aria2cFiles.unmark(download.path) }
        }
        if file.wasThere {
            printer.note(.notice, "GID#\(download.entry.gid) - Download has already completed: \(download.shownPath)")
        } else if download.target.checksum != nil {
            printer.note(.notice, "Verification finished successfully. file=\(download.shownPath)")
        }
        if let host = download.host, file.duration > .milliseconds(1) {
            serverStates[host] = Int64(Double(file.received) / file.duration.seconds)
        }
        let speed = file.duration > .milliseconds(1) ? Int64(Double(file.received) / file.duration.seconds) : nil
        let followers = download.isDry ? [] : followers(of: download)
        complete(download, speed: speed)
        waiting.insert(contentsOf: followers, at: 0)
    }

    /// The downloads of a Metalink or torrent that was just downloaded.
    mutating func followers(of download: Aria2cDownload) -> [Aria2cEntry] {
        let type = download.handle?.snapshot.contentType ?? ""
        let name = (download.name ?? "").lowercased()
        let isTorrent = type.hasPrefix("application/x-bittorrent") || name.hasSuffix(".torrent")
        let mode = download.values[isTorrent ? "follow-torrent" : "follow-metalink"] ?? "true"
        guard mode != "false",
            isTorrent || type.hasPrefix("application/metalink") || name.hasSuffix(".meta4")
                || name.hasSuffix(".metalink")
        else { return [] }
        do throws(Failure) {
            let base = (try? WebAddress.parse(download.entry.addresses[0]))?.address
            let bytes = try readBytes(at: download.path)
            if mode == "mem" { _ = unsafe unlink(download.path) }
            var own = download.entry.options
            for name in ["out", "checksum", "gid"] { own.forget(name) }
            let entries =
                isTorrent
                ? try Aria2cEntries.entries(ofTorrent: bytes, at: download.path, download.values, to: &printer)
                : try Aria2cEntries.entries(of: bytes, at: download.path, download.values, base: base)
            return entries.map {
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

    package mutating func complete(_ download: Aria2cDownload, speed: Int64?) {
        printer.note(.notice, "Download complete: \(download.shownPath)")
        ended.append((download.entry, 0))
        results.append(download.result(.complete, speed: speed))
        run(.complete, download)
    }

    /// Failures of the place itself, for which aria2c prints the path.
    static let ofPlaces: Set<PawlError.Code> = [
        .fileExists, .cannotMakeFolder, .cannotOpen, .cannotCreate, .inputOutput, .renameFailed,
    ]

    package mutating func fail(_ failed: Aria2cDownload, _ error: PawlError) {
        var download = failed
        if download.isDry, error.code == .tooLarge {
            download.name = download.outName ?? download.handle?.snapshot.name
            return complete(download, speed: 0)
        }
        if download.isConditional, Aria2cExit.status(of: error) == 304 {
            printer.note(.notice, "GID#\(download.entry.gid) - Download has already completed: \(download.shownPath)")
            return complete(download, speed: 0)
        }
        let parts = FileName.PartForm.allCases.map { failed.path + $0.partialEnding }
        if failed.name != nil, !parts.contains(where: nameExists) { Aria2cFiles.withdrawMark(failed.path) }
        if let existing = download.secondTry(after: error) {
            if download.isDoubtful { printer.note(.error, "Checksum error detected. file=\(download.shownPath)") }
            return begin(download.entry, attempt: download.attempt + 1, existing: existing)
        }
        if error.code == .alreadyDownloading, !active.isEmpty, download.renames { return held.append(download.entry) }
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
                .error, "CUID#\(7 + download.order) - Download aborted. URI=\(address)",
                more: ["Exception: errorCode=\(code) URI=\(address)", "  -> errorCode=\(code) \(error.description)"])
        }
        if failed.name == nil, Self.ofPlaces.contains(error.code) { download.name = failed.expectedName }
        leave(download, code: code)
    }

    mutating func leave(_ download: Aria2cDownload, code: UInt8) {
        leave(download, code: code, speed: download.averageSpeed)
    }

    mutating func leave(_ download: Aria2cDownload, code: UInt8, speed: Int64?) {
        notComplete(download)
        lastFailure = code
        ended.append((download.entry, code))
        results.append(download.result(.failed, speed: speed))
        run(.error, download)
    }

    mutating func notComplete(_ download: Aria2cDownload) {
        let path = download.name == nil && download.outName == nil ? "" : download.shownPath
        printer.note(.notice, "Download GID#\(download.entry.gid) not complete: \(path)")
    }

    mutating func leaveUnfinished() {
        for download in running {
            download.check?.cancel()
            notComplete(download)
            results.append(download.result(.inProgress, speed: download.averageSpeed))
            run(.stop, download)
        }
    }
}
