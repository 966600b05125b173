import Glibc
import Pawl
import PawlBase
import PawlServer
import PawlSystem
package import PawlTerminal

// Commands that show a download or the service, and the one that stops the service.
extension Command {
    package static let show = Command(
        "show", "[options] ID...", summary: "show details of a download",
        details: "Show downloads with their URLs, the bytes on disk, and the active connections.", operand: .downloads,
        taking: VerbOptions.common
    ) { (options, ids) throws(Failure) in
        guard !ids.isEmpty else { throw Failure.usage("show", "ID...", missing: "ID") }
        let client = try options.client()
        let width = isatty(STDOUT_FILENO) == 1 ? TerminalState.size(of: STDOUT_FILENO).columns : nil
        let glyphs = TerminalState.state(of: STDOUT_FILENO).takesUnicode ? ProgressRenderer.Glyphs.unicode : .plain
        let root = options.isJSON ? nil : try client.call("pawl.status", to: "query")["root"]?.string
        for (index, id) in ids.enumerated() {
            let details = try client.call("pawl.show", [.string(id)], to: "show", id)
            let text = (index > 0 ? "\n" : "") + DownloadSheet(details, root: root, width: width, glyphs).text
            CommandOutput(options).show(details.withTrueState, text, isLaidOut: true)
        }
        return 0
    }

    package static let status = Command(
        "status", "[options]", summary: "show whether the service is running, and its load",
        details: """
            Show the service's process, its download root, its numbers of downloads, and its speed. Exit code 3 if the \
            service is not running.
            """, taking: VerbOptions.common
    ) { (options, operands) throws(Failure) in
        if let first = operands.first { throw Failure.unexpected(first, in: "status") }
        let client = try options.client()
        let status = try client.call("pawl.status", to: "query")
        let groups =
            options.isJSON
            ? ""
            : try client.groups().map { group in "\ngroup \(TerminalText.harmless(group.name)): \(group.content)" }
                .joined()
        func number(_ name: String) -> Int64 { status[name]?.integer ?? 0 }
        CommandOutput(options).show(
            status,
            "pawl \(status["version"]?.string ?? "") serving \(status["root"]?.string ?? "") (process \(number("pid")))\n"
                + status.activity + ", \(number("paused")) paused, "
                + "\(number("finished")) finished, \(number("failed")) failed, " + NumberFormat.speed(number("speed"))
                + groups + (status.timetablePause.map { "\n\($0)" } ?? "")
                + (status["troubles"]?.array ?? []).compactMap(\.string).map {
                    "\nattention: \(TerminalText.harmless($0))"
                }.joined() + (status["portRefusal"]?.string.map { "\nno web page, no aria2 clients: \($0)" } ?? ""))
        return 0
    }

    package static let stop = Command(
        "stop", "[options]", summary: "stop the service; downloads resume when it starts again",
        details: "Stop the service, and return when it has exited and everything is written to disk.",
        taking: VerbOptions.common
    ) { (options, operands) throws(Failure) in
        if let first = operands.first { throw Failure.unexpected(first, in: "stop") }
        let client = try options.client()
        try client.stopService()
        CommandOutput(options).show(["stopped": .bool(true)], "stopped; unfinished downloads resume at the next start")
        return 0
    }
}

extension JSON {
    /// From a status: how many downloads have a slot, as the page counts them, and how many wait for one, or for their disk.
    var activity: String {
        let sleeping = self["sleeping"]?.integer ?? 0
        let stalled = self["waitingForDisk"]?.integer ?? 0
        return "\(self["running"]?.integer ?? 0) running" + (sleeping > 0 ? " (\(sleeping) waiting)" : "")
            + ", \(self["waiting"]?.integer ?? 0) queued" + (stalled > 0 ? ", \(stalled) waiting for their disk" : "")
    }
}

/// The details of a download, one field per line.
struct DownloadSheet {
    private let details: JSON
    private let root: String?
    private let width: Int?
    private let glyphs: ProgressRenderer.Glyphs

    /// `root` is the download root, if it is known, and `width` that of the terminal, if there is one.
    init(
        _ details: JSON, root: String? = nil, width: Int? = nil, _ glyphs: ProgressRenderer.Glyphs = .plain
    ) {
        self.details = details
        self.root = root
        self.width = width
        self.glyphs = glyphs
    }

    private static let margin = 11
    private static let barWidth = 40
    /// Further connections are counted only.
    private static let mostConnections = 8

    var text: String {
        guard let download = RemoteDownload(details) else { return details.text }
        var lines = [
            ("id", download.id), ("state", download.stateText.notes.first ?? download.stateText.word),
            ("name", download.title),
        ]
        // Absolute, so that the file can be found from anywhere.
        let folder = [root ?? "", download.folder].filter { !$0.isEmpty }.joined(separator: "/")
        if !folder.isEmpty { lines.append(("folder", folder)) }
        var sources = (details["sources"]?.array ?? []).map { $0.string ?? "" }
        if let files = download.files {
            lines.append(("files", files))
            sources = [download.source]
        }
        if let segments = download.segments { lines.append(("segments", segments)) }
        for file in (details["parts"]?.array ?? []).dropFirst() { lines.append(("also", file.string ?? "")) }
        lines += sources.map { ("from", $0) }
        lines.append(("size", size(download)))
        if !download.hasEnded, let bar = bar(download) { lines.append(("progress", bar)) }
        if download.isRunning, !download.stateText.isWaiting {
            let left = download.timeLeft.map { ", \(NumberFormat.duration($0)) left" } ?? ""
            lines.append(("speed", NumberFormat.speed(download.speed) + left))
        }
        if let limit = HostLimitText(details["hostLimit"]) { lines.append(("host", limit.details)) }
        if details["file"]?.string == "missing" { lines.append(("file", "missing: it was moved or deleted")) }
        if details["file"]?.string == "changed" {
            lines.append(("file", "not the downloaded file any more: another one has its name, or it was changed"))
        }
        if let type = details["type"]?.string { lines.append(("type", type)) }
        if let verified = FileVerification(json: details["verification"]) {
            let place = verified.source.isEmpty ? "" : ", \(verified.source)"
            let level = "\(verified.level.rawValue)\(verified.isWeak ? ", weak" : "")"
            let what =
                verified.pieces.map { "\(verified.algorithm) of \($0) \($0 == 1 ? "piece" : "pieces")" }
                ?? "\(verified.algorithm)=\(verified.digest)"
            lines.append(("verified", "\(what) (\(level)\(place))"))
        }
        if let group = download.group { lines.append(("group", group)) }
        if download.priority != 0 { lines.append(("priority", String(download.priority))) }
        if let error = download.error { lines.append(("error", error.message)) }
        let lanes = details["lanes"]?.array ?? []
        for lane in lanes.prefix(Self.mostConnections) {
            // The only source has its line above.
            let url = lane["url"]?.string ?? ""
            lines.append(("connection", sources.hasSameBytes(as: [url]) ? lane.line : "\(lane.line), \(url)"))
        }
        if lanes.count > Self.mostConnections {
            let receiving = lanes.count { $0["isReceiving"]?.bool == true }
            lines.append(
                ("", "and \(lanes.count - Self.mostConnections) more; \(receiving) of \(lanes.count) receive data"))
        }
        // Control characters are replaced: a value from a server must not look like another field.
        return lines.map { name, value in
            TerminalText.padded(name, to: Self.margin) + folded(TerminalText.harmless(value), isURL: name == "from")
        }.joined(separator: "\n")
    }

    /// The value in lines as long as the terminal's, except for URLs, which are copied from there.
    private func folded(_ value: String, isURL: Bool) -> String {
        guard let width, !isURL, TerminalText.width(value) > width - 1 - Self.margin else { return value }
        return TerminalText.wrapped(value, to: max(20, width - 1 - Self.margin)).joined(
            separator: "\n" + String(repeating: " ", count: Self.margin))
    }

    /// `nil` while the size is unknown.
    private func bar(_ download: RemoteDownload) -> String? {
        guard let percent = download.percent else { return nil }
        let columns = max(8, min(Self.barWidth, (width ?? .max) - 1 - Self.margin))
        let done = Int(percent * Double(columns) / 100)
        return String(repeating: glyphs.done, count: done) + String(repeating: glyphs.rest, count: columns - done)
    }

    private func size(_ download: RemoteDownload) -> String {
        guard let total = download.total else {
            return download.written == 0 ? "unknown" : "\(NumberFormat.size(download.written)) of unknown size"
        }
        guard download.written < total else { return NumberFormat.size(total) }
        let percent = download.percent.map { " (\(NumberFormat.fixed($0, decimals: 1))%)" } ?? ""
        return "\(NumberFormat.size(download.written)) of \(NumberFormat.size(total))\(percent)"
    }
}

extension JSON {
    /// A connection as one line, without its URL.
    fileprivate var line: String {
        let end = self["end"]?.integer.map { NumberFormat.size($0) } ?? "the end"
        let speed =
            self["isReceiving"]?.bool == true ? NumberFormat.speed(self["speed"]?.integer ?? 0) : "waiting for response"
        return "\(NumberFormat.size(self["offset"]?.integer ?? 0)) to \(end), \(speed)"
    }
}

extension ServiceClient {
    /// Stops the service, and returns when it has ended.
    ///
    /// One that cannot be reached gets SIGTERM.
    fileprivate func stopService() throws(Failure) {
        let finder = ServiceFinder(self)
        let isAtSocket = try ServiceConnection.open(socket) != nil
        // Its note is removed while it stops.
        let note = isAtSocket ? nil : finder.note()
        guard isAtSocket || note != nil else {
            throw Failure(
                .notFound, "nothing to stop: the Pawl service is not running", at: "(socket \(socket))", because: "",
                remedy: finder.other.map { Remedy($0) } ?? "")
        }
        do throws(Failure) { try call("pawl.stop", to: "stop") } catch {
            // It may exit before its response is sent.
            guard error.code == .network || error.code == .notFound else { throw error }
            if let note, note.process.isRunning { kill(note.process.number, SIGTERM) }
        }
        if isAtSocket { try SocketLock.waitUntilFree(socket) }
        guard let note else { return }
        // A shutdown that hangs ends after some seconds, see Heartbeat.
        for _ in 1...1500 where note.process.isRunning { _ = poll(nil, 0, 10) }
        guard note.process.isRunning else { return }
        throw Failure(
            .unfinished, "cannot stop", at: "process \(Int(note.process.number))",
            because: "it has not ended within 15 s",
            remedy: "'kill -KILL \(String(note.process.number))' ends it; its downloads resume at the next start")
    }
}
