import Glibc
import PawlBase
package import PawlTerminal

// Commands that take downloads off the list.
extension Command {
    package static let remove = Command(
        "remove", "[options] ID...", summary: "remove downloads; finished files are kept",
        details: """
            Stop downloads and take them off the list. Finished files stay; --delete-file deletes them. The partial data \
            of unfinished downloads is deleted. Of a collection, files that are complete stay. On a terminal the command asks before it deletes anything.
            """, operand: .downloads,
        taking: [VerbOptions.deleteFile, VerbOptions.keepFile, VerbOptions.yes] + VerbOptions.common
    ) { (options, ids) throws(Failure) in
        try requireIDs(ids, in: "remove")
        let client = try options.client()
        var downloads: [RemoteDownload] = []
        for id in ids {
            if let download = RemoteDownload(try client.call("pawl.show", [.string(id)], to: "remove", id)) {
                downloads.append(download)
            }
        }
        if !options.isSure, let question = RemovalQuestion(downloads, deletesFiles: options.deletesFile),
            !(try Confirmation.ask(question.text))
        {
            return Confirmation.refused()
        }
        return try remove(ids, options, client)
    }

    private static func remove(
        _ ids: [String], _ options: VerbOptions, _ client: ServiceClient
    ) throws(Failure) -> Int32 {
        let result = try client.call(
            "pawl.remove", [.strings(ids), ["keepFile": .bool(!options.deletesFile)]], to: "remove",
            ids.joined(separator: " "))
        for member in result.members ?? [] {
            CommandOutput(options).show(
                ["id": .string(member.name), "changed": member.value], "\(ShortIDs.text(member.name)) removed")
        }
        return 0
    }

    package static let clear = Command(
        "clear", "[options]", summary: "remove finished downloads from the list; files are kept",
        details: """
            Take finished downloads off the list; their files stay. With --failed, take failed ones off as well, and \
            delete their partial data.
            """, taking: [VerbOptions.failedToo, VerbOptions.group, VerbOptions.yes] + VerbOptions.common
    ) { (options, operands) throws(Failure) in
        if let first = operands.first { throw Failure.unexpected(first, in: "clear") }
        let client = try options.client()
        func downloads(_ state: String) throws(Failure) -> [RemoteDownload] {
            var filter = options
            filter.states = [state]
            return try client.list(filter).compactMap(RemoteDownload.init)
        }
        let failed = try downloads("failed")
        let cleared = try downloads("finished") + (options.takesFailed ? failed : [])
        if !options.isSure, let question = RemovalQuestion(cleared, deletesFiles: false),
            !(try Confirmation.ask(question.text))
        {
            return Confirmation.refused()
        }
        for start in stride(from: 0, to: cleared.count, by: 200) {
            let ids = cleared[start..<min(start + 200, cleared.count)].map(\.id)
            try client.call("pawl.remove", [.strings(ids), ["keepFile": .bool(true)]], to: "clear")
        }
        let left = options.takesFailed ? 0 : failed.count
        let rest = left > 0 ? "; \(left) failed ones stay, --failed takes them too" : ""
        CommandOutput(options).show(
            ["cleared": .number(cleared.count)],
            cleared.isEmpty ? "nothing to clear\(rest)" : "cleared \(cleared.count)\(rest)")
        return 0
    }
}

/// The question before bytes are deleted; `nil` when none would be.
struct RemovalQuestion: Hashable {
    let text: String

    init?(_ downloads: [RemoteDownload], deletesFiles: Bool) {
        let files = deletesFiles ? downloads.filter { $0.state == "finished" } : []
        // Files of a collection that are complete stay.
        let partial = downloads.filter { $0.state != "finished" && $0.written > 0 && $0.files == nil }
        var parts: [String] = []
        if let first = files.first {
            parts.append(files.count == 1 ? "the file \(first.title)" : "\(files.count) finished files")
        }
        if !partial.isEmpty {
            let size = NumberFormat.size(partial.reduce(0) { $0.addingClamped($1.written) })
            let what = partial.count == 1 ? partial[0].title : "\(partial.count) unfinished downloads"
            parts.append("the \(size) received of \(what)")
        }
        guard !parts.isEmpty else { return nil }
        text = "delete \(parts.joined(separator: " and "))? [y/N] "
    }
}

/// A question on the terminal.
enum Confirmation {
    /// Returns `true` for yes, and without a terminal: a script has nobody to ask.
    static func ask(_ question: String) throws(Failure) -> Bool {
        guard isatty(STDIN_FILENO) == 1, isatty(STDERR_FILENO) == 1 else { return true }
        var errors = OutputFile(descriptor: STDERR_FILENO)
        errors.append(TerminalText.harmless(question))
        errors.flush()
        let reply = (readLine() ?? "").lowercased()
        return reply == "y" || reply == "yes"
    }

    /// The exit code when the user said no.
    static func refused() -> Int32 {
        printNotice("nothing was removed")
        return Int32(Failure.Code.unfinished.rawValue)
    }
}
