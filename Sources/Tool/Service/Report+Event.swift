import Pawl
import PawlBase
import PawlGet
import PawlTerminal

extension Report {
    /// A report of a service event; `nil` for an event that is not shown.
    ///
    /// `names` keeps the file names, by download ID.
    init?(event: JSON, names: inout [String: String]) {
        guard let digits = event["id"]?.string, let id = Download.ID(digits), let kind = Report.kind(of: event) else {
            return nil
        }
        if let name = event["name"]?.string { names[digits] = name }
        // Before the name is known, the URL of a failure names it.
        let place = event["place"]?.string.flatMap { $0.contains("://") ? ProgressRow.lastComponent(of: $0) : nil }
        self.init(id: id.rawValue, source: ShortIDs.text(digits), name: names[digits] ?? place, kind: kind)
    }

    private static func kind(of event: JSON) -> Kind? {
        switch event["event"]?.string {
        case "started": .started(total: event["total"]?.integer, resumedAt: event["resumedAt"]?.integer ?? 0)
        case "notice": .notice(event["message"]?.string ?? "")
        case "retry": .retry(PawlError(Failure(event: event)), delay: event["delay"]?.decimal ?? 0)
        case "failed": .failed(PawlError(Failure(event: event).inQueue))
        case "finished":
            .finished(
                DownloadedFile(
                    path: event["path"]?.string ?? "", length: event["length"]?.integer ?? 0,
                    received: event["received"]?.integer ?? 0,
                    duration: Duration(clampingSeconds: event["seconds"]?.decimal ?? 0),
                    wasThere: event["wasThere"]?.bool ?? false,
                    verification: FileVerification(json: event["verification"])))
        case "state":
            switch event["state"]?.string {
            case "paused": .paused
            case "waitingForNetwork": .waitingForNetwork
            case "waitingForDisk": .waitingForDisk
            case "verifying": .verifying
            default: nil
            }
        default: nil
        }
    }
}

extension Failure {
    /// A failure from the error fields that Documentation/JSON.md specifies.
    init(event: JSON) {
        self.init(
            Code(rawValue: UInt8(exactly: event["code"]?.integer ?? 1) ?? 1), event["what"]?.string ?? "",
            at: event["place"]?.string ?? "", because: event["why"]?.string ?? "",
            remedy: Remedy(reading: event["remedy"]?.string ?? ""))
    }
}
