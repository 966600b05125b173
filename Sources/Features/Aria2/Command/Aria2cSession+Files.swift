import Glibc
import PawlBase
import PawlServer
import PawlSystem

// Programs that are run, and files that are written at the end.
extension Aria2cSession {
    func run(_ occasion: Hooks.Occasion, _ download: Aria2cDownload) {
        func program(_ name: String) -> String? { options["on-download-\(name)"].flatMap { $0.isEmpty ? nil : $0 } }
        let isEnd = occasion == .complete || occasion == .error
        guard let program = program(occasion.rawValue) ?? (isEnd ? program("stop") : nil) else { return }
        let isNamed = download.name != nil || download.outName != nil || occasion == .complete
        Aria2cFiles.run(program, gid: "\(download.entry.gid)", path: isNamed ? download.shownPath : "")
    }

    mutating func saveSession(quietly: Bool = false) {
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
            try AtomicFile.replace(path, with: Array(text.utf8))
            if !quietly { printer.note(.notice, "Serialized session to '\(path)' successfully.") }
        } catch { if !quietly { printer.note(.notice, "Failed to serialize session to '\(path)'.") } }
    }

    mutating func saveServerStates(to path: String) {
        let now = time(nil)
        let text = serverStates.sorted { $0.key < $1.key }.map { host, speed in
            "host=\(host), protocol=http, dl_speed=\(speed), sc_avg_speed=\(speed), mc_avg_speed=0, "
                + "last_updated=\(now), counter=1, status=OK\n"
        }.joined()
        let isSaved = (try? AtomicFile.replace(path, with: Array(text.utf8))) != nil
        printer.note(.notice, "ServerStat file \(path) \(isSaved ? "saved successfully" : "could not be saved").")
    }
}
