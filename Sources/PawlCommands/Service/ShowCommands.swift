import PawlCore
import PawlServer

// Verbs that tell of one download or of the service, and the one that ends it.
extension Command {
    static let show = Command(
        "show",
        "[options] ID...",
        summary: "all that is known of a download",
        details: "Shows downloads with their addresses, what is on disk, and the connections at work.",
        operand: .downloads,
        taking: VerbOptions.common
    ) { (options, ids) throws(Failure) in
        guard !ids.isEmpty else { throw Failure.usage("show", "ID...") }
        let client = try options.client()
        for id in ids {
            let details = try client.call("pawl.show", [.string(id)], to: "show", id)
            CommandOutput(options).tell(details, DownloadSheet(details).text)
        }
        return 0
    }

    static let status = Command(
        "status",
        "[options]",
        summary: "whether the service runs, and how busy it is",
        details: "Exit code 3 when no service runs.",
        taking: VerbOptions.common
    ) { (options, operands) throws(Failure) in
        if let first = operands.first { throw Failure.unexpected(first, in: "status") }
        let status = try options.client().call("pawl.status", to: "ask")
        func number(_ name: String) -> Int64 { status[name]?.integer ?? 0 }
        CommandOutput(options).tell(
            status,
            "pawl \(status["version"]?.string ?? "") serves \(status["root"]?.string ?? "") (process \(number("pid"))): "
                + "\(number("running")) running, \(number("waiting")) waiting, \(number("ended")) ended, "
                + NumberFormat.speed(number("speed"))
                + (status["portRefusal"]?.string.map { "\nno page and no aria2 clients: \($0)" } ?? "")
        )
        return 0
    }

    static let stop = Command(
        "stop",
        "[options]",
        summary: "ends the service; it goes on at the next start",
        details: "Returns when the service has ended and everything is written.",
        taking: VerbOptions.common
    ) { (options, operands) throws(Failure) in
        if let first = operands.first { throw Failure.unexpected(first, in: "stop") }
        let client = try options.client()
        do throws(Failure) {
            try client.call("pawl.stop", to: "stop")
        } catch {
            // It may be gone before its answer is.
            guard error.code == .network else { throw error }
        }
        try SocketLock.waitUntilFree(client.socket)
        CommandOutput(options).tell(
            ["stopped": .bool(true)],
            "stopped; everything unfinished continues at the next start"
        )
        return 0
    }
}

/// A download as lines of names and values.
private struct DownloadSheet {
    private let details: JSON

    init(_ details: JSON) { self.details = details }

    var text: String {
        guard let download = RemoteDownload(details) else { return details.text }
        var lines = [
            ("id", download.id), ("state", download.state), ("name", download.name ?? "not known yet"),
        ]
        if !download.folder.isEmpty { lines.append(("folder", download.folder)) }
        for source in details["sources"]?.array ?? [] { lines.append(("from", source.string ?? "")) }
        lines.append(("size", size(download)))
        if download.isRunning {
            let left = download.timeLeft.map { ", \(NumberFormat.duration($0)) left" } ?? ""
            lines.append(("speed", NumberFormat.speed(download.speed) + left))
        }
        if let type = details["type"]?.string { lines.append(("type", type)) }
        if let group = download.group { lines.append(("group", group)) }
        if download.priority != 0 { lines.append(("priority", String(download.priority))) }
        if let error = download.error { lines.append(("error", error.message)) }
        for lane in details["lanes"]?.array ?? [] { lines.append(("connection", lane.line)) }
        // Each value on a line of its own: what servers said must not look like another.
        return lines.map { name, value in
            TerminalText.padded(name, to: 11) + TerminalText.harmless(value)
        }.joined(separator: "\n")
    }

    private func size(_ download: RemoteDownload) -> String {
        guard let total = download.total else {
            return "\(NumberFormat.size(download.written)) of an unknown size"
        }
        let percent = download.percent.map { " (\(NumberFormat.fixed($0, decimals: 1))%)" } ?? ""
        return "\(NumberFormat.size(download.written)) of \(NumberFormat.size(total))\(percent)"
    }
}

extension JSON {
    /// A connection.
    fileprivate var line: String {
        let end = self["end"]?.integer.map { NumberFormat.size($0) } ?? "the end"
        let speed =
            self["isReceiving"]?.bool == true
            ? NumberFormat.speed(self["speed"]?.integer ?? 0) : "waits for an answer"
        return
            "\(NumberFormat.size(self["offset"]?.integer ?? 0)) to \(end), \(speed), \(self["url"]?.string ?? "")"
    }
}
