import Glibc
import Pawl
import PawlBase
import PawlGet
import PawlJournal
import PawlSystem

// What the downloads and the system report.
extension Aria2cSession {
    mutating func hear(_ message: Message) {
        switch message {
        case .event(let event): hear(event.kind, of: event.id.rawValue)
        case .signal(SIGINT):
            printer.note(.notice, "Shutdown sequence commencing... Press Ctrl-C again for emergency shutdown.")
            isStopped = true
        case .signal(SIGTERM), .signal(SIGHUP):
            printer.note(.notice, "Emergency Shutdown sequence commencing...")
            isStopped = true
        case .checked(let check): hear(check.result, of: check.order)
        case .signal: break
        }
    }

    mutating func hear(_ kind: DownloadEvent.Kind, of id: UInt64) {
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
            guard let error = active[id]?.refusal, let download = active.removeValue(forKey: id) else { return }
            fail(download, error)
        case .state, .added, .changed, .queueChanged, .missed: break
        }
    }

    /// A mirror that is not used any more is an error, although the others go on.
    mutating func noteSource(_ text: DownloadNotice, of id: UInt64) {
        guard text.message.id == "left-out-failed-source", case .failure(let failure) = text.message.values.first else {
            return printer.note(.info, text.description)
        }
        let number = 7 + (active[id]?.order ?? 0)
        printer.note(.error, "CUID#\(number) - Download aborted. URI=\(failure.place)")
    }

    mutating func started(_ id: UInt64, _ name: String, _ total: Int64?) {
        let former = active[id]?.name
        active[id]?.name = name
        guard let download = active[id], !download.isDry, !former.hasSameBytes(as: name) else { return }
        Aria2cFiles.mark(download.path)
        noteRename(download)
    }

    mutating func noteRename(_ download: Aria2cDownload) {
        guard let name = download.name, let former = Aria2cDownload.unnumbered(name),
            download.expectedName.hasSameBytes(as: former) || nameExists(download.folder + "/" + former),
            !download.expectedName.hasSameBytes(as: name)
        else { return }
        printer.note(.notice, "File already exists. Renamed to \(download.shownPath).")
    }
}
