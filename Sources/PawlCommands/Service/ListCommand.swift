import Glibc
import PawlCore

extension Command {
    static let list = Command(
        "list",
        "[options]",
        summary: "show the queue; --watch for a live table",
        details: """
            Show the downloads of the service in the order in which they run. With --watch the table is live, with \
            finished and failed downloads reported above it; if standard error is not a terminal, each change is a line.
            """,
        taking: VerbOptions.listing + VerbOptions.common
    ) { (options, operands) throws(Failure) in
        if let first = operands.first { throw Failure.unexpected(first, in: "list") }
        if options.watches { return try WatchSession.run(options) }
        let downloads = try options.client().list(options)
        if options.isJSON {
            for download in downloads { say(download.text + "\n") }
        } else {
            let isTerminal = isatty(STDOUT_FILENO) == 1
            let table = DownloadTable(downloads.compactMap(RemoteDownload.init))
            say(table.text(width: isTerminal ? TerminalState.size().columns : nil))
            if downloads.isEmpty, isTerminal { say("the queue is empty\n") }
        }
        return 0
    }
}

extension ServiceClient {
    private static let pageSize = 1000

    /// The downloads that the options select, as JSON from the service.
    func list(_ options: VerbOptions) throws(Failure) -> [JSON] {
        var downloads: [JSON] = []
        while downloads.count < options.limit ?? .max {
            let size = min(ServiceClient.pageSize, (options.limit ?? .max) - downloads.count)
            let filter = options.filter(after: downloads.last?["id"]?.string, limit: size)
            let page = try call("pawl.list", [filter], to: "list").array ?? []
            downloads += page
            if page.count < size { break }
        }
        return downloads
    }
}

extension VerbOptions {
    func filter(after id: String? = nil, limit: Int) -> JSON {
        var members = [JSON.Member("limit", .number(limit))]
        if let id { members.append(JSON.Member("after", .string(id))) }
        if !states.isEmpty { members.append(JSON.Member("states", .strings(states))) }
        if let group { members.append(JSON.Member("group", .string(group))) }
        if let text { members.append(JSON.Member("text", .string(text))) }
        return .object(members)
    }
}

/// A plain-text table of downloads.
struct DownloadTable {
    private let downloads: [RemoteDownload]

    init(_ downloads: [RemoteDownload]) { self.downloads = downloads }

    /// Shortens lines to `width` columns if it is given.
    func text(width: Int?) -> String {
        guard !downloads.isEmpty else { return "" }
        let digits = ShortIDs.digits(downloads.map(\.id))
        let rows =
            [["ID", "STATE", "DONE", "SIZE", "SPEED", "LEFT", "NAME"]] + downloads.map { row($0, digits) }
        let widths = rows[0].indices.map { column in rows.map { TerminalText.width($0[column]) }.max() ?? 0 }
        return rows.map { row in
            var line = ""
            for (column, text) in row.dropLast().enumerated() {
                let isText = column < 2
                line +=
                    isText
                    ? TerminalText.padded(text, to: widths[column])
                    : TerminalText.rightAligned(text, to: widths[column])
                line += "  "
            }
            let name = row[row.count - 1]
            let room = width.map { max(8, $0 - 1 - TerminalText.width(line)) }
            line += room.map { TerminalText.shortened(name, to: $0, ellipsis: "..") } ?? name
            return line + "\n"
        }.joined()
    }

    private func row(_ download: RemoteDownload, _ digits: Int) -> [String] {
        let isMoving = download.isRunning && download.state == "transferring"
        return [
            String(download.id.prefix(digits)), download.state,
            download.percent.map { NumberFormat.fixed($0, decimals: 1) + "%" } ?? "",
            download.total.map(NumberFormat.size)
                ?? (download.written > 0 ? NumberFormat.size(download.written) : ""),
            isMoving ? NumberFormat.speed(download.speed) : "",
            isMoving ? download.timeLeft.map(NumberFormat.duration) ?? "" : "",
            download.title + (download.error.map { ": \(TerminalText.harmless($0.message))" } ?? ""),
        ]
    }
}

extension RemoteDownload {
    /// `nil` while the size is unknown.
    var percent: Double? {
        total.map { $0 == 0 ? 100 : Double(min(written, $0)) * 100 / Double($0) }
    }
}
