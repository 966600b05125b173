import PawlBase
package import PawlTerminal

// Commands for what happens by itself: folders of new downloads, and the end of the last one.
extension Command {
    package static let rules = Command(
        "rules", "[options] [add MATCH FOLDER | remove N... | move N N | test URL | clear]",
        summary: "show or change folders by type, host or name",
        details: """
            Show the rules for the folders of downloads that are added without one, by whatever command, page or client. The \
            first rule that matches counts. When a download has finished, its name and type are known: if a rule wants another \
            folder then, the file is moved.
            MATCH is type:KIND (video, audio, image, document, archive, disk or program), host:NAME (with the hosts below it), \
            name:PATTERN or url:PATTERN, in which * stands for any characters; a pattern alone is one for names. FOLDER is \
            relative to the download root. 'add' adds a rule at the end, 'remove' takes the numbers that are shown, 'move' moves the \
            rule of the first number to the place of the second, and 'test' says which rule a new download of URL gets.
            """, operand: .words(["add", "remove", "move", "test", "clear"]), taking: VerbOptions.common
    ) { (options, words) throws(Failure) in
        let client = try options.client()
        if words.first == "test" { return try test(words, options, client) }
        var rules = try client.call("pawl.rules", [], to: "query").array ?? []
        switch words.first {
        case nil: break
        case "move":
            guard words.count == 3 else { throw Failure.usage("rules", "move N N", missing: "N") }
            let places = try words.dropFirst().map { (word) throws(Failure) in
                try number(word, of: rules.count, to: "move")
            }
            rules.insert(rules.remove(at: places[0]), at: places[1])
        case "add":
            guard words.count == 3 else {
                throw Failure.usage(
                    "rules", "add MATCH FOLDER", missing: words.count == 1 ? "MATCH" : words.count == 2 ? "FOLDER" : nil
                )
            }
            rules.append(["match": .string(words[1]), "folder": .string(words[2])])
        case "remove":
            let numbers = try Set(
                words.dropFirst().map { (word) throws(Failure) in try number(word, of: rules.count, to: "remove") })
            guard !numbers.isEmpty else { throw Failure.usage("rules", "remove N...", missing: "N") }
            rules = rules.indices.filter { !numbers.contains($0) }.map { rules[$0] }
        case "clear":
            if words.count > 1 { throw Failure.unexpected(words[1], in: "rules") }
            rules = []
        case let word?: throw Failure.unexpected(word, in: "rules")
        }
        if !words.isEmpty {
            try client.call("pawl.setRules", [.array(rules)], to: "change the rules")
            rules = try client.call("pawl.rules", [], to: "query").array ?? []
        }
        let lines = rules.enumerated().map { index, rule in
            "\(index + 1). \(rule["match"]?.string ?? "") -> \(rule["folder"]?.string ?? "")"
        }
        CommandOutput(options).show(
            .array(rules),
            lines.isEmpty ? "no rules: downloads go to the default folder" : lines.joined(separator: "\n"))
        return 0
    }

    /// Which rule gives a URL its folder.
    private static func test(
        _ words: [String], _ options: VerbOptions, _ client: ServiceClient
    ) throws(Failure) -> Int32 {
        guard words.count == 2 else {
            throw Failure.usage("rules", "test URL", missing: words.count == 1 ? "URL" : nil)
        }
        let found = try client.call("pawl.testRules", [.string(words[1])], to: "test the rules")
        let text = found["index"]?.integer.map { index in
            "rule \(index + 1) fits: \(found["match"]?.string ?? "") -> \(found["folder"]?.string ?? "")"
        }
        CommandOutput(options).show(found, text ?? "no rule fits: the download goes to the default folder")
        return 0
    }

    private static func number(_ word: String, of count: Int, to verb: String) throws(Failure) -> Int {
        guard let number = Int(word), (1...max(1, count)).contains(number), count > 0 else {
            throw Failure(
                .badOption, "cannot \(verb)", at: "the rule \(word)",
                because: count == 0 ? "there is none" : "must be a number from 1 to \(count)",
                remedy: "'pawl rules' shows them")
        }
        return number - 1
    }

    package static let atEnd = Command(
        "at-end", "[options] [nothing|command]", summary: "show or set what happens when the last download has ended",
        details: """
            Show or set what happens when the last download has ended, with or without success; what is paused does not count. \
            'command' runs the program that 'pawl serve --on-idle CMD' names, 'nothing' does not.
            """, operand: .words(["nothing", "command"]), taking: VerbOptions.common
    ) { (options, words) throws(Failure) in
        if words.count > 1 { throw Failure.unexpected(words[1], in: "at-end") }
        let client = try options.client()
        if let word = words.first {
            try client.call("pawl.atEnd", [.string(word)], to: "change what happens at the end")
        }
        let settings = try client.call("pawl.settings", [], to: "query")
        let (action, program) = (settings["atEnd"] ?? .null, settings["hooks"]?["idle"] ?? .null)
        let text =
            action.string != "command"
            ? "at the end: nothing"
            : program.string.map { "at the end: run \($0)" }
                ?? "at the end: nothing; no program is given with 'pawl serve --on-idle'"
        CommandOutput(options).show(["atEnd": action, "program": program], text)
        return 0
    }
}
