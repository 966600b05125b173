import PawlCore

// Commands that change existing downloads.
extension Command {
    static let steering = [
        each(
            "pause",
            "pause downloads until they are resumed",
            "Pause downloads; they keep their part files, and stay paused until they are resumed or started.",
            all: "all downloads",
            done: "paused"
        ),
        each(
            "resume",
            "resume paused downloads, retry failed and waiting ones now",
            """
            Put paused and failed downloads back into the queue. Retry one that waits for its next attempt at once, and \
            download a finished one again if its file is gone.
            """,
            all: "all paused downloads",
            done: "resumed"
        ),
        each(
            "start",
            "start now, ahead of the queue (may preempt the longest-running download)",
            """
            Start downloads now, ahead of the queue. If all slots are taken, the longest-running download is preempted; it \
            restarts automatically.
            """,
            all: nil,
            done: "started"
        ),
        remove, clear, rename, move, url, set, limit, slots,
    ]

    private static func each(
        _ name: String,
        _ summary: String,
        _ details: String,
        all: String?,
        done: String
    ) -> Command {
        let selection = all.map { [VerbOptions.all($0), VerbOptions.group] } ?? []
        return Command(
            name,
            all == nil ? "[options] ID..." : "[options] ID...|--all",
            summary: summary,
            details:
                "\(details)\nGive each download by its ID or a unique prefix of it ('pawl list' shows the IDs).",
            operand: .downloads,
            taking: selection + VerbOptions.common
        ) { (options, ids) throws(Failure) in
            let client = try options.client()
            if options.takesAll || options.group != nil {
                if let id = ids.first { throw Failure.unexpected(id, in: name) }
                guard let group = options.group, !options.takesAll else {
                    try client.call("pawl.\(name)All", [], to: name)
                    CommandOutput(options).show(["\(name)": .bool(true)], "\(done) all")
                    return 0
                }
                let isKnown = try client.groups().contains { $0.name == group }
                guard isKnown || name == "pause" else { throw Failure.noGroup(group, to: name) }
                try client.call("pawl.\(name)Group", [.string(group)], to: name)
                let note = isKnown ? "" : "; it has no downloads yet, those added to it will wait"
                CommandOutput(options).show(["\(name)": .bool(true)], "\(done) the group \(group)\(note)")
                return 0
            }
            try requireIDs(ids, in: name)
            let result = try client.call(
                "pawl.\(name)",
                [.strings(ids)],
                to: name,
                ids.joined(separator: " ")
            )
            for member in result.members ?? [] {
                let words = member.value.bool == true ? done : "nothing to do"
                CommandOutput(options).show(
                    ["id": .string(member.name), "changed": member.value],
                    "\(member.name.prefix(ShortIDs.fewest)) \(words)"
                )
            }
            return 0
        }
    }

    private static let rename = one(
        "rename",
        "ID NAME",
        "rename a download's file",
        "Rename the file of a download, also on disk if it has finished; an unfinished one gets the name on completion.",
        because: "it has no file to rename",
        done: { name, _ in "renamed to \(name)" },
        value: { text in .string(text) }
    )

    private static let url = one(
        "url",
        "ID NEWURL",
        "replace a download's URL, e.g. an expired link",
        """
        Continue a download from another URL of the same content; data on disk is kept only if the content at the new \
        URL is verified to be the same.
        """,
        because: "it has finished",
        done: { address, _ in "continues from \(Redaction.address(address))" },
        value: { text in .string(text) }
    )

    private static let move = one(
        "move",
        "ID POSITION",
        "change a download's position in the queue",
        """
        Move a waiting or paused download in the queue, among those of its priority. POSITION is a number (1 is next), \
        first, last, or a step: +2 is two places back, -2 two forward.
        """,
        because: "only waiting downloads have a position",
        done: { _, place in "moved to position \((place.integer ?? 0) + 1)" },
        value: { (text) throws(Failure) in
            if let position = Int(text), !text.hasPrefix("+"), position > 0 { return .number(position - 1) }
            let isStep = (text.hasPrefix("+") || text.hasPrefix("-")) && Int(text) != nil
            guard isStep || ["first", "last"].contains(text) else {
                throw Failure(
                    .badOption,
                    "cannot use",
                    at: "the position \(text)",
                    because: "must be a number from 1, first, last, or a step such as +2 or -2"
                )
            }
            return .string(text)
        }
    )

    /// A command that takes an ID and one more operand.
    private static func one(
        _ name: String,
        _ operands: String,
        _ summary: String,
        _ details: String,
        because why: String,
        done: @escaping @Sendable (String, JSON) -> String,
        value: @escaping @Sendable (String) throws(Failure) -> JSON
    ) -> Command {
        Command(
            name,
            "[options] \(operands)",
            summary: summary,
            details: details,
            operand: .downloads,
            taking: VerbOptions.common
        ) { (options, words) throws(Failure) in
            guard words.count == 2 else { throw Failure.usage(name, operands) }
            let given = try value(words[1])
            let client = try options.client()
            let id = try client.id(words[0], to: name)
            let result = try client.call(
                "pawl.\(name)",
                [.string(id), given],
                to: name,
                words[0]
            )
            guard result != .null, result.bool != false else {
                throw Failure(.unknown, "cannot \(name)", at: words[0], because: why)
            }
            CommandOutput(options).show(
                ["id": .string(id), "\(name)": result],
                "\(words[0]) \(done(words[1], result))"
            )
            return 0
        }
    }

    static func requireIDs(_ ids: [String], in command: String) throws(Failure) {
        if ids.isEmpty { throw Failure.usage(command, "ID...", missing: "ID") }
    }
}

/// The output of a command: a sentence, or JSON.
struct CommandOutput {
    private let isJSON: Bool

    init(_ options: VerbOptions) { isJSON = options.isJSON }

    func show(_ json: JSON, _ text: String) {
        let lines = text.split(separator: "\n").map { TerminalText.harmless(String($0)) }
        say((isJSON ? json.text : lines.joined(separator: "\n")) + "\n")
    }
}

extension JSON {
    static func strings(_ texts: [String]) -> JSON { .array(texts.map { .string($0) }) }
}

extension Failure {
    static func noGroup(_ group: String, to action: String) -> Failure {
        Failure(
            .notFound,
            "cannot \(action)",
            at: "the group \(group)",
            because: "no download is in it",
            remedy: "'pawl list' shows the downloads, 'pawl status' the groups"
        )
    }

    /// `missing` names an operand that was not given.
    static func usage(_ command: String, _ operands: String, missing: String? = nil) -> Failure {
        Failure(
            .badOption,
            missing == nil ? "wrong operands of" : "missing",
            at: missing ?? "pawl \(command)",
            because: "",
            remedy: "usage: pawl \(command) \(operands)"
        )
    }
}
