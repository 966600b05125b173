import PawlBase
import PawlGet
package import PawlTerminal

extension Command {
    package static let wait = Command(
        "wait", "[options] ID...|--all", summary: "wait for downloads to finish; exit codes as for 'get'",
        details: """
            Wait until the downloads have finished, failed or been removed. Paused downloads count as unfinished. Exit \
            code 7 if one was removed, or if the service stops first.
            """, operand: .downloads,
        taking: [VerbOptions.all("all downloads that are in the queue now")] + VerbOptions.common
    ) { (options, ids) throws(Failure) in
        if options.takesAll, let id = ids.first { throw Failure.both(id, "--all", "wait for") }
        if !options.takesAll { try requireIDs(ids, in: "wait", "ID... | --all") }
        let client = try options.client()
        // Subscribe before the first look, so that no end in between is missed.
        var session = WaitSession(options, client, try client.events())
        return try session.run(ids)
    }
}

/// Waits for downloads to end, by events.
private struct WaitSession: ~Copyable {
    private let options: VerbOptions
    private let client: ServiceClient
    private var stream: ServiceStream
    private var open: Set<String> = []
    private var names: [String: String] = [:]
    private var code: UInt8 = 0

    init(_ options: VerbOptions, _ client: ServiceClient, _ stream: consuming ServiceStream) {
        self.options = options
        self.client = client
        self.stream = stream
    }

    mutating func run(_ ids: [String]) throws(Failure) -> Int32 {
        if options.takesAll {
            var everything = options
            everything.states = ["running", "queued", "paused", "failed"]
            for download in try client.list(everything).compactMap(RemoteDownload.init) { note(download) }
        }
        for id in ids { try look(at: id) }
        while !open.isEmpty {
            guard let event = try stream.next() else {
                printFailure(
                    Failure(
                        .unfinished, "cannot wait for", at: open.count == 1 ? "a download" : "\(open.count) downloads",
                        because: "the service has stopped", remedy: "they resume at its next start"))
                return Int32(Failure.Code.unfinished.rawValue)
            }
            try hear(event)
        }
        return Int32(code)
    }

    private mutating func look(at id: String) throws(Failure) {
        if let download = RemoteDownload(try client.call("pawl.show", [.string(id)], to: "wait for", id)) {
            note(download)
        }
    }

    /// Takes in the current state of a download.
    private mutating func note(_ download: RemoteDownload) {
        names[download.id] = download.title
        guard download.hasEnded else {
            open.insert(download.id)
            return
        }
        open.remove(download.id)
        switch download.state {
        case "finished":
            CommandOutput(options).show(
                ["event": "finished", "id": .string(download.id), "length": .number(download.written)],
                "\(download.title): finished")
        case "failed": end(download.error?.code ?? 1, download.error?.message ?? download.title, download.id)
        default: end(Failure.Code.unfinished.rawValue, "\(download.title) was removed", download.id)
        }
    }

    private mutating func hear(_ event: JSON) throws(Failure) {
        if event["event"]?.string == "missed" {
            for id in open { try look(at: id) }
            return
        }
        guard let id = event["id"]?.string, open.contains(id) else { return }
        let report = Report(event: event, names: &names)
        switch (event["event"]?.string, event["state"]?.string) {
        case ("finished", _):
            open.remove(id)
            CommandOutput(options).show(event, report.map { PlainText.line($0) } ?? id)
        case ("failed", _):
            open.remove(id)
            end(UInt8(exactly: event["code"]?.integer ?? 1) ?? 1, event["message"]?.string ?? id, id)
        case ("collection", "finished"), ("collection", "failed"): if let found = RemoteDownload(event) { note(found) }
        case ("state", "removed"), ("collection", "removed"):
            open.remove(id)
            end(Failure.Code.unfinished.rawValue, "\(names[id] ?? id) was removed", id)
        default: break
        }
    }

    private mutating func end(_ code: UInt8, _ message: String, _ id: String) {
        self.code = code
        if options.isJSON {
            let event: JSON = [
                "event": "failed", "id": .string(id), "code": .number(code), "message": .string(message),
            ]
            say(event.text + "\n")
        }
        printNotice(message)
    }
}
