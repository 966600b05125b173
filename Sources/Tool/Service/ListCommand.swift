import Glibc
import Pawl
package import PawlBase
import PawlSystem
package import PawlTerminal

extension Command {
    package static let list = Command(
        "list", "[options]", summary: "show the queue; --watch for a live table",
        details: """
            Show the downloads of the service in the order in which they run. With --watch the queue is shown live on the whole \
            screen: arrows select a download, p pauses it, r resumes it, x removes it from the list after a question, q quits. If \
            standard error is not a terminal, each change is a line.
            """, taking: VerbOptions.listing + VerbOptions.common
    ) { (options, operands) throws(Failure) in
        if let first = operands.first { throw Failure.unexpected(first, in: "list") }
        if options.watches { return try WatchSession.run(options) }
        let downloads = try options.client().list(options)
        if options.isJSON {
            for download in downloads { say(download.withTrueState.text + "\n") }
            return 0
        }
        let terminal = TerminalState.state(of: STDOUT_FILENO)
        let isTerminal = isatty(STDOUT_FILENO) == 1
        let width = isTerminal ? TerminalState.size(of: STDOUT_FILENO).columns : nil
        let table = DownloadTable(downloads.compactMap(RemoteDownload.init), terminal)
        say(table.text(width: width))
        if downloads.isEmpty, isatty(STDERR_FILENO) == 1 { printNotice(options.nothingFound) }
        return 0
    }
}

extension ServiceClient {
    private static let pageSize = 1000

    /// The collections and downloads that the options select, as JSON from the service; files of a collection if its id is the
    /// group.
    package func list(_ options: VerbOptions) throws(Failure) -> [JSON] {
        var downloads = options.group == nil ? try collections().filter(options.includesCollection) : []
        var last: String?
        while downloads.count < options.limit ?? .max {
            let size = min(ServiceClient.pageSize, max(options.limit ?? .max, 100))
            let page = try call("pawl.list", [options.filter(after: last, limit: size)], to: "list").array ?? []
            downloads += page.filter { options.includes($0) && options.isRow($0) }
            last = page.last?["id"]?.string
            if page.count < size { break }
        }
        return Array(downloads.prefix(options.limit ?? .max))
    }

    /// The collections of the queue.
    func collections() throws(Failure) -> [JSON] { try call("pawl.collections", [], to: "list").array ?? [] }

    /// The groups that have downloads or are paused, with what is in them: `1 download, paused`.
    package func groups() throws(Failure) -> [(name: String, isPaused: Bool, content: String)] {
        (try call("pawl.groups", [], to: "query").array ?? []).map { group in
            let count = group["count"]?.integer ?? 0
            let isPaused = group["paused"]?.bool == true
            let content = count == 1 ? "1 download" : "\(count) downloads"
            return (group["name"]?.string ?? "", isPaused, content + (isPaused ? ", paused" : ""))
        }
    }
}

extension VerbOptions {
    /// Whether only a part of the queue is wanted.
    private var selects: Bool { !states.isEmpty || group != nil || text != nil }

    /// The message if no download is listed.
    var nothingFound: String {
        guard selects else { return "the queue is empty" }
        var parts = states.isEmpty ? [] : [states.joined(separator: " or ")]
        if let group { parts.append("in the group \(group)") }
        if let text { parts.append("named like \(quoted(text))") }
        return "no download in the queue is \(parts.joined(separator: " and "))"
    }

    func filter(after id: String? = nil, limit: Int) -> JSON {
        var members = [JSON.Member("limit", .number(limit))]
        if let id { members.append(JSON.Member("after", .string(id))) }
        let stored = Set(states.compactMap { StateFilter($0)?.stored })
        if !stored.isEmpty { members.append(JSON.Member("states", .strings(stored.sorted()))) }
        if let group { members.append(JSON.Member("group", .string(group))) }
        if let text { members.append(JSON.Member("text", .string(text))) }
        return .object(members)
    }

    /// Whether a download has a row of its own: those of a collection are in that of the collection.
    func isRow(_ json: JSON) -> Bool {
        group != nil || json["group"]?.string.map { !QueuedCollection.isGroup($0) } ?? true
    }

    func includesCollection(_ json: JSON) -> Bool {
        guard let text, !text.isEmpty else { return includes(json) }
        let found = ["name", "url"].contains { json[$0]?.string?.lowercased().contains(text.lowercased()) == true }
        return found && includes(json)
    }

    /// Whether a download is in one of the states; the service knows fewer of them.
    func includes(_ json: JSON) -> Bool {
        guard !states.isEmpty, let download = RemoteDownload(json) else { return true }
        return states.contains { StateFilter($0)?.includes(download) == true }
    }
}

extension JSON {
    /// A download whose `state` says that it waits for its next attempt.
    var withTrueState: JSON {
        guard case .object(var members) = self, self["retryIn"]?.decimal != nil, self["waitsForHost"]?.string == nil,
            let index = members.firstIndex(where: { $0.name == "state" })
        else { return self }
        members[index].value = "retrying"
        return .object(members)
    }
}

/// A plain-text table of downloads.
struct DownloadTable {
    private let downloads: [RemoteDownload]
    private let takesColor: Bool
    private let ellipsis: String

    private enum Column: CaseIterable {
        case id, state, done, size, speed, left, name

        var title: String {
            switch self {
            case .id: "ID"
            case .state: "STATE"
            case .done: "DONE"
            case .size: "SIZE"
            case .speed: "SPEED"
            case .left: "LEFT"
            case .name: "NAME"
            }
        }
    }

    /// Columns that are left out where there is not enough room for the names, in this order.
    private static let optional: [Column] = [.speed, .size, .left, .done]
    private static let shortestName = 30

    init(_ downloads: [RemoteDownload], _ terminal: TerminalState? = nil) {
        self.downloads = downloads
        takesColor = terminal?.takesColor ?? false
        ellipsis = terminal?.takesUnicode == true ? "…" : ".."
    }

    /// Shortens lines to `width` columns if it is given; columns are left out for the names.
    func text(width: Int?) -> String {
        guard !downloads.isEmpty else { return "" }
        let digits = ShortIDs.digits(downloads.map(\.id))
        let isNarrow = (width ?? .max) < 80
        let rows = downloads.map { row($0, digits, isNarrow) }
        func isShown(_ column: Column) -> Bool { rows.contains { $0[column]?.isEmpty == false } }
        var columns = Column.allCases.filter { $0 == .name || $0 == .id || isShown($0) }
        func columnWidth(_ column: Column) -> Int {
            rows.reduce(column.title.count) { max($0, TerminalText.width($1[column] ?? "")) }
        }
        let widths = Dictionary(uniqueKeysWithValues: columns.map { ($0, columnWidth($0)) })
        func room() -> Int {
            let others = columns.dropLast().reduce(0) { $0 + (widths[$1] ?? 0) + 2 }
            return (width ?? .max) - 1 - others
        }
        let longest = min(DownloadTable.shortestName, widths[.name] ?? 0)
        for column in DownloadTable.optional where room() < longest { columns.removeAll { $0 == column } }
        let names = TerminalText.distinct(downloads.map(\.title), to: max(4, room()), ellipsis: ellipsis)
        var text = line(columns.map(\.title), columns, widths)
        for ((row, name), download) in zip(zip(rows, names), downloads) {
            let texts = columns.dropLast().map { row[$0] ?? "" } + [name]
            text += line(texts, columns, widths, download.stateText.style)
            if let detail = detail(download) { text += below(detail, width: width) }
        }
        return text
    }

    private func line(
        _ texts: [String], _ columns: [Column], _ widths: [Column: Int], _ style: StyledLine.Style = .plain
    ) -> String {
        var line = StyledLine()
        for (column, text) in zip(columns, texts).dropLast() {
            let width = widths[column] ?? 0
            let isText = column == .id || column == .state
            let padded = isText ? TerminalText.padded(text, to: width) : TerminalText.rightAligned(text, to: width)
            line.append(padded, column == .state ? style : .plain)
            line.append("  ")
        }
        line.append(texts.last ?? "")
        return line.escaped(inColor: takesColor) + "\n"
    }

    /// Additional lines: why it failed, or what it waits for.
    private func below(_ detail: String, width: Int?) -> String {
        let lines = width.map { TerminalText.wrapped(detail, to: max(4, $0 - 3)) } ?? [detail]
        return lines.map { text in
            var line = StyledLine()
            line.append("  \(text)", .faint)
            return line.escaped(inColor: takesColor) + "\n"
        }.joined()
    }

    private func detail(_ download: RemoteDownload) -> String? {
        if let error = download.error { return TerminalText.harmless(error.reason) }
        if let problem = download.fileProblem { return problem }
        if download.stateText.word == StateText.scheduled { return download.stateText.notes.first }
        let isTold = download.stateText.isWaiting && download.stateText.word != StateText.waitingForNetwork
        return isTold && download.isRunning ? download.stateText.notes.first : nil
    }

    private func row(_ download: RemoteDownload, _ digits: Int, _ isNarrow: Bool) -> [Column: String] {
        let state = download.stateText
        let isMoving = download.isRunning && state.word == StateText.downloading
        // The line below names the host.
        let shortest = state.word == StateText.waitingForHost ? "waiting" : state.notes.last
        return [
            .id: String(download.id.prefix(digits)),
            .state: isNarrow && state.word != StateText.retrying ? shortest ?? state.word : state.word,
            .done: download.percent.map { NumberFormat.fixed($0, decimals: 1) + "%" } ?? "",
            .size: download.total.map(NumberFormat.size)
                ?? (download.written > 0 ? NumberFormat.size(download.written) : ""),
            .speed: isMoving ? NumberFormat.speed(download.speed) : "",
            .left: isMoving ? download.timeLeft.map(NumberFormat.duration) ?? "" : "", .name: download.title,
        ]
    }
}

extension RemoteDownload {
    /// `nil` while the size is unknown.
    var percent: Double? { total.map { $0 == 0 ? 100 : Double(min(written, $0)) * 100 / Double($0) } }
}
