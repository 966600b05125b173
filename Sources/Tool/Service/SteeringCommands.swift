import PawlBase
package import PawlTerminal

// Commands that change existing downloads.
extension Command {
    package static let steering = [
        each(
            "pause", "pause downloads until they are resumed",
            "Pause downloads; they keep their part files, and stay paused until they are resumed or started.",
            all: "all downloads", done: "paused"),
        each(
            "resume", "resume paused downloads, retry failed and waiting ones now",
            """
            Put paused and failed downloads back into the queue. Retry one that waits for its next attempt at once, and \
            download a finished one again if its file is gone.
            """, all: "all paused, failed and waiting downloads", done: "resumed"),
        each(
            "start", "start now, ahead of the queue (may preempt the longest-running download)",
            """
            Start downloads now, ahead of the queue. If all slots are taken, the longest-running download is preempted; it \
            restarts automatically.
            """, all: nil, done: "started"),
        each(
            "start-over", "download failed downloads again from the beginning",
            """
            Download failed downloads, and those that wait for their disk, again from the beginning, with their options. What they \
            have received is deleted; 'pawl resume' continues with it.
            """, method: "startOver", all: nil, done: "starts over"), remove, clear, rename, move, url, set, limit,
        timetable, slots,
    ]

    private static func each(
        _ name: String, _ summary: String, _ details: String, method: String? = nil, all: String?, done: String
    ) -> Command {
        let operands = all == nil ? "ID..." : "ID... | --all | --group NAME"
        let selection = all.map { [VerbOptions.all($0), VerbOptions.group] } ?? []
        return Command(
            name, "[options] " + operands, summary: summary,
            details: "\(details)\nGive each download by its ID or a unique prefix of it ('pawl list' shows the IDs).",
            operand: .downloads, taking: selection + VerbOptions.common
        ) { (options, ids) throws(Failure) in
            if options.takesAll || options.group != nil {
                if let id = ids.first { throw Failure.both(id, options.takesAll ? "--all" : "--group", name) }
                return try together(name, options, done: done)
            }
            try requireIDs(ids, in: name, operands)
            let client = try options.client()
            let result = try client.call(
                "pawl.\(method ?? name)", [.strings(ids)], to: name, ids.joined(separator: " "))
            let members = result.members ?? []
            let mayWait = ["resume", "start", "start-over"].contains(name) && !options.isJSON
            let line = mayWait ? try client.line() : WaitingLine([])
            for member in members {
                let words = line.words(for: member.name) ?? (member.value.bool == true ? done : "nothing to do")
                CommandOutput(options).show(
                    ["id": .string(member.name), "changed": member.value], "\(ShortIDs.text(member.name)) \(words)")
            }
            return 0
        }
    }

    /// Carries out a command for all downloads, or for the group that `options` name.
    private static func together(_ name: String, _ options: VerbOptions, done: String) throws(Failure) -> Int32 {
        let client = try options.client()
        let output = CommandOutput(options)
        guard let group = options.group else {
            let status = try client.call("pawl.status", to: "query")
            let count = name == "pause" ? status.running : status.resumable
            if count > 0 { try client.call("pawl.\(name)All", [], to: name) }
            // Groups are paused and resumed by name alone.
            let mayHold = name == "resume" ? try client.groups().contains(where: \.isPaused) : false
            let group = mayHold ? try client.line().heldGroup : nil
            let note = group.map { "; the group \($0) is paused: 'pawl resume --group \($0)'" }
            output.show(
                ["\(name)": .bool(count > 0)], (count > 0 ? "\(done) all" : "nothing to \(name)") + (note ?? ""))
            return 0
        }
        let known = try client.groups().first { $0.name.hasSameBytes(as: group) }
        guard known != nil || name == "pause" else { throw Failure.noGroup(group, to: name) }
        guard (known?.isPaused ?? false) != (name == "pause") else {
            let why = name == "pause" ? "is paused already" : "is not paused; 'pawl resume ID' resumes one download"
            output.show(["\(name)": .bool(false)], "nothing to \(name): the group \(group) \(why)")
            return 0
        }
        try client.call("pawl.\(name)Group", [.string(group)], to: name)
        let note = known == nil ? "; it has no downloads yet, those added to it will wait" : ""
        output.show(["\(name)": .bool(true)], "\(done) the group \(group)\(note)")
        return 0
    }

    private static let rename = one(
        "rename", "ID NAME", "rename a download's file",
        "Rename the file of a download, also on disk if it has finished; an unfinished one gets the name on completion.",
        action: "rename", because: "it has no file to rename",
        isDone: { details, _, name in details["state"]?.string == "finished" && details["name"]?.string == name },
        done: { name, _ in "renamed to \(name)" }, value: { text in .string(text) })

    private static let url = one(
        "url", "ID NEWURL", "replace a download's URL, e.g. an expired link",
        """
        Continue a download from another URL of the same content; data on disk is kept only if the content at the new \
        URL is verified to be the same.
        """, action: "replace the URL of", because: "it has finished",
        isDone: { (details, source, address) throws(Failure) in
            guard details["state"]?.string != "finished" else { return false }
            let text = try WebAddress.parse(address).address.text
            return try source().hasSameBytes(as: text)
        }, done: { address, _ in "continues from \(Redaction.address(address))" }, value: { text in .string(text) })

    private static let move = one(
        "move", "ID POSITION", "change a download's position in the queue",
        """
        Move a queued or paused download in the queue, among those of its priority. POSITION is a number (1 is next), \
        first, last, or a step: +2 is two places back, -2 two forward.
        """, action: "move", then: .words(["first", "last", "1", "+1", "-1"]),
        because: "only queued and paused downloads have a position", isDone: { _, _, _ in false },
        done: { _, place in "is at position \((place.integer ?? 0) + 1) now" },
        value: { (text) throws(Failure) in
            if let position = Int(text), !text.hasPrefix("+"), position > 0 { return .number(position - 1) }
            let isStep = (text.hasPrefix("+") || text.hasPrefix("-")) && Int(text) != nil
            guard isStep || ["first", "last"].contains(text) else {
                throw Failure(
                    .badOption, "cannot use", at: "the position \(text)",
                    because: "must be a number from 1, first, last, or a step such as +2 or -2")
            }
            return .string(text)
        })

    /// A command that takes an ID and one more operand.
    private static func one(
        _ name: String, _ operands: String, _ summary: String, _ details: String, action: String,
        then offer: Command.Operand = .nothing, because why: String,
        isDone: @escaping @Sendable (JSON, () throws(Failure) -> String?, String) throws(Failure) -> Bool,
        done: @escaping @Sendable (String, JSON) -> String, value: @escaping @Sendable (String) throws(Failure) -> JSON
    ) -> Command {
        Command(
            name, "[options] \(operands)", summary: summary, details: details, operand: .sequence([.downloads, offer]),
            taking: VerbOptions.common
        ) { (options, words) throws(Failure) in
            guard words.count == 2 else {
                let all = operands.split(separator: " ").map(String.init)
                throw Failure.usage(name, operands, missing: words.count < 2 ? all[words.count] : nil)
            }
            let given = try value(words[1])
            let client = try options.client()
            let details = try client.call("pawl.show", [.string(words[0])], to: action, words[0])
            let id = details["id"]?.string ?? words[0]
            func source() throws(Failure) -> String? {
                try client.call("pawl.source", [.string(id)], to: action, ShortIDs.text(id)).string
            }
            if details["state"]?.string != "removed", try isDone(details, source, words[1]) {
                CommandOutput(options).show(
                    ["id": .string(id), "changed": .bool(false)], "\(ShortIDs.text(id)) unchanged")
                return 0
            }
            let result = try client.call("pawl.\(name)", [.string(id), given], to: action, ShortIDs.text(id))
            guard result != .null, result.bool != false else {
                throw Failure(.unknown, "cannot \(action)", at: ShortIDs.text(id), because: why)
            }
            CommandOutput(options).show(
                ["id": .string(id), "\(name)": result], "\(ShortIDs.text(id)) \(done(words[1], result))")
            return 0
        }
    }

    static func requireIDs(_ ids: [String], in command: String, _ operands: String = "ID...") throws(Failure) {
        if ids.isEmpty { throw Failure.usage(command, operands, missing: "ID") }
    }
}

extension JSON {
    /// From a status: the number of downloads that `pause --all` affects.
    fileprivate var running: Int64 {
        ["running", "waiting", "waitingForDisk"].reduce(0) { $0 + (self[$1]?.integer ?? 0) }
    }

    /// From a status: the number of downloads that `resume --all` affects.
    fileprivate var resumable: Int64 {
        ["paused", "failed", "waitingForDisk"].reduce(0) { $0 + (self[$1]?.integer ?? 0) }
    }

    static func strings(_ texts: [String]) -> JSON { .array(texts.map { .string($0) }) }
}

extension Failure {
    static func noGroup(_ group: String, to action: String) -> Failure {
        Failure(
            .notFound, "cannot \(action)", at: "the group \(group)", because: "no download is in it",
            remedy: "'pawl list' shows the downloads, 'pawl status' the groups")
    }

    /// Downloads are given both by ID and by `--all` or `--group`.
    static func both(_ id: String, _ option: String, _ command: String) -> Failure {
        Failure(
            .badOption, "cannot use", at: "\(option) with \(id)",
            because: "\(option) names the downloads to \(command) already", remedy: "give IDs or \(option)")
    }
}
