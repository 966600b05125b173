import PawlCore

// Verbs that change something of downloads that are there.
extension Command {
    static let steering = [
        each("pause", "pauses; only 'resume' and 'start' let go on", all: "every download", done: "paused"),
        each("resume", "lets go on, and what failed try again", all: "all that are paused", done: "resumed"),
        each("start", "starts at once, whatever its turn; the oldest makes room", all: nil, done: "started"),
        remove, rename, move, url, limit,
    ]

    private static func each(_ name: String, _ summary: String, all: String?, done: String) -> Command {
        let selection = all.map { [VerbOptions.all($0), VerbOptions.group] } ?? []
        return Command(
            name,
            all == nil ? "[options] ID..." : "[options] ID...|--all",
            summary: summary,
            details: """
                Downloads are named by their ids, which may be shortened while they are unique ('pawl list' shows them).
                """,
            operand: .downloads,
            taking: selection + VerbOptions.common
        ) { (options, ids) throws(Failure) in
            let client = try options.client()
            if options.takesAll || options.group != nil {
                if let id = ids.first { throw Failure.unexpected(id, in: name) }
                let method = options.takesAll ? "pawl.\(name)All" : "pawl.\(name)Group"
                let given: JSON = options.group.map { [.string($0)] } ?? []
                try client.call(method, given, to: name)
                CommandOutput(options).tell(["\(name)": .bool(true)], "\(done) \(options.group ?? "all")")
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
                CommandOutput(options).tell(
                    ["id": .string(member.name), "changed": member.value],
                    "\(member.name.prefix(ShortIDs.fewest)) \(words)"
                )
            }
            return 0
        }
    }

    private static let remove = Command(
        "remove",
        "[--keep-file] ID...",
        summary: "removes a download with what it made",
        details: """
            Stops downloads and removes them with their part files and, unless --keep-file is given, the finished file.
            """,
        operand: .downloads,
        taking: [VerbOptions.keepFile] + VerbOptions.common
    ) { (options, ids) throws(Failure) in
        try requireIDs(ids, in: "remove")
        let result = try options.client().call(
            "pawl.remove",
            [.strings(ids), ["keepFile": .bool(options.keepsFile)]],
            to: "remove",
            ids.joined(separator: " ")
        )
        for member in result.members ?? [] {
            CommandOutput(options).tell(
                ["id": .string(member.name), "changed": member.value],
                "\(member.name.prefix(ShortIDs.fewest)) removed"
            )
        }
        return 0
    }

    private static let rename = one(
        "rename",
        "ID NAME",
        "gives the file another name",
        "Gives a download another file name, on disk too when it has finished; an unfinished one gets it at its end.",
        because: "there is nothing that could be renamed"
    ) { text in .string(text) }

    private static let url = one(
        "url",
        "ID NEWURL",
        "swaps an address that has expired",
        """
        Lets a download go on under another address of the same content; what is on disk is kept only when the content \
        there is shown to be the same.
        """,
        because: "it has finished"
    ) { text in .string(text) }

    private static let move = one(
        "move",
        "ID POSITION",
        "moves a waiting download in the line",
        """
        POSITION is a number (1 is next), first, last, or a step: +2 is two places back, -2 two forward. A download stays \
        among those of its priority.
        """,
        because: "it does not wait"
    ) { (text) throws(Failure) in
        if let position = Int(text), !text.hasPrefix("+"), position > 0 { return .number(position - 1) }
        let isStep = (text.hasPrefix("+") || text.hasPrefix("-")) && Int(text) != nil
        guard isStep || ["first", "last"].contains(text) else {
            throw Failure(
                .badOption,
                "cannot use",
                at: "the position \(text)",
                because: "it is a number from 1, first, last, or a step such as +2 or -2"
            )
        }
        return .string(text)
    }

    /// A verb with an id and one thing more.
    private static func one(
        _ name: String,
        _ operands: String,
        _ summary: String,
        _ details: String,
        because why: String,
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
            let result = try options.client().call(
                "pawl.\(name)",
                [.string(words[0]), try value(words[1])],
                to: name,
                words[0]
            )
            guard result != .null, result.bool != false else {
                throw Failure(.unknown, "cannot \(name)", at: words[0], because: why)
            }
            CommandOutput(options).tell(["id": .string(words[0]), "\(name)": result], "\(words[0]) done")
            return 0
        }
    }

    private static let limit = Command(
        "limit",
        "[options] RATE [ID]",
        summary: "limits all downloads together, or one",
        details: "RATE is bytes a second; K, M, G are powers of 1024; none or 0 takes the limit away.",
        operand: .words(["none"]),
        taking: VerbOptions.common
    ) { (options, words) throws(Failure) in
        guard let text = words.first, words.count <= 2 else { throw Failure.usage("limit", "RATE [ID]") }
        let rate = text.lowercased() == "none" ? nil : try OptionValues.rate("limit", text)
        let given = [rate.map { JSON.number($0) } ?? .null] + words.dropFirst().map { .string($0) }
        try options.client().call("pawl.limit", .array(given), to: "limit", words.count > 1 ? words[1] : nil)
        let told = rate.map { NumberFormat.speed($0) } ?? "no limit"
        CommandOutput(options).tell(
            ["limit": given[0]],
            "\(words.count > 1 ? words[1] : "all together"): \(told)"
        )
        return 0
    }

    private static func requireIDs(_ ids: [String], in command: String) throws(Failure) {
        if ids.isEmpty { throw Failure.usage(command, "ID...") }
    }
}

/// What a verb has to say when it was done: a sentence, or JSON.
struct CommandOutput {
    private let isJSON: Bool

    init(_ options: VerbOptions) { isJSON = options.isJSON }

    func tell(_ json: JSON, _ text: String) {
        let lines = text.split(separator: "\n").map { TerminalText.harmless(String($0)) }
        say((isJSON ? json.text : lines.joined(separator: "\n")) + "\n")
    }
}

extension JSON {
    static func strings(_ texts: [String]) -> JSON { .array(texts.map { .string($0) }) }
}

extension Failure {
    static func usage(_ command: String, _ operands: String) -> Failure {
        Failure(
            .badOption,
            "cannot start",
            at: "pawl \(command)",
            because: "it takes \(operands)",
            remedy: "see 'pawl help \(command)'"
        )
    }
}
