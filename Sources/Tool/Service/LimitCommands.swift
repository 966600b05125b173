import PawlBase
package import PawlTerminal

// Commands that show and set limits.
extension Command {
    package static let limit = Command(
        "limit", "[options] [RATE [ID]]", summary: "show or set the speed limit of all downloads, or of one",
        details: """
            Limit the speed of all downloads together, or of the one with this ID; without RATE, show the limit. \
            RATE is in bytes per second; K, M, G are powers of 1024; none or 0 removes the limit.
            """, operand: .sequence([.words(["none"]), .downloads]), taking: VerbOptions.common
    ) { (options, words) throws(Failure) in
        guard words.count <= 2 else { throw Failure.usage("limit", "[RATE [ID]]") }
        let client = try options.client()
        guard let text = words.first else {
            let limits = try client.call("pawl.limits", [], to: "query")
            CommandOutput(options).show(
                [
                    "limit": limits["limit"] ?? .null, "timetable": limits["timetable"] ?? .null,
                    "isPaused": limits["isPaused"] ?? .null,
                ],
                "all downloads: \(rateText(limits["limit"]))"
                    + (limits["timetable"]?.string.map { "\ntimetable: \($0)" } ?? "")
                    + (limits.timetablePause.map { "\n\($0)" } ?? ""))
            return 0
        }
        let rate = text.lowercased() == "none" ? nil : try rate(text)
        var ids: [String] = []
        for word in words.dropFirst() { ids.append(try client.id(word, to: "limit")) }
        let given = [rate.map { JSON.number($0) } ?? .null] + ids.map { .string($0) }
        let result = try client.call("pawl.limit", .array(given), to: "limit", ids.first.map(ShortIDs.text))
        if let id = ids.first, result.bool == false {
            throw Failure(.unknown, "cannot limit", at: ShortIDs.text(id), because: "it has finished")
        }
        CommandOutput(options).show(
            .object([JSON.Member("limit", given[0])] + ids.map { JSON.Member("id", .string($0)) }),
            "\(ids.first.map(ShortIDs.text) ?? "all downloads"): \(rateText(given[0]))")
        return 0
    }

    package static let timetable = Command(
        "timetable", "[options] [TEXT|none]", summary: "show or set limits and pauses by time of day",
        details: """
            Change the limits by time of day; without an operand, show them. TEXT has entries that are separated by commas, of \
            which the first that matches applies: '[DAYS] FROM-TO LIMIT' or 'else LIMIT', such as 'Mon-Fri 08:00-18:00 1M, \
            22:00-06:00 none, else pause'. LIMIT is in bytes per second (K, M, G), none, or pause: then no download runs, but \
            those that 'pawl start' starts. Give none alone to remove the limits.
            """, operand: .words(["none"]), taking: VerbOptions.common
    ) { (options, words) throws(Failure) in
        guard words.count <= 1 else { throw Failure.usage("timetable", "[TEXT|none]") }
        let client = try options.client()
        if let text = words.first {
            let isNone = text.lowercased() == "none"
            try client.call("pawl.timetable", [isNone ? .null : .string(text)], to: "change the timetable")
        }
        let limits = try client.call("pawl.limits", [], to: "query")
        CommandOutput(options).show(
            ["timetable": limits["timetable"] ?? .null, "isPaused": limits["isPaused"] ?? .null],
            "timetable: \(limits["timetable"]?.string ?? "none")" + (limits.timetablePause.map { "\n\($0)" } ?? ""))
        return 0
    }

    package static let slots = Command(
        "slots", "[options] [N]", summary: "show or set the number of simultaneous downloads",
        details: "Change how many downloads run at the same time, from 1 to 1000; without N, show it.",
        taking: VerbOptions.common
    ) { (options, words) throws(Failure) in
        guard words.count <= 1 else { throw Failure.usage("slots", "[N]") }
        let client = try options.client()
        if let text = words.first {
            guard let number = Int(text), (1...1_000).contains(number) else {
                throw Failure(
                    .badOption, "cannot use", at: "\(text) slots", because: "must be a whole number from 1 to 1000")
            }
            try client.call("pawl.slots", [.number(number)], to: "change the number of simultaneous downloads")
        }
        let slots = try client.call("pawl.limits", [], to: "query")["slots"] ?? .null
        CommandOutput(options).show(["slots": slots], "simultaneous downloads: \(slots.integer ?? 0)")
        return 0
    }

    private static func rate(_ text: String) throws(Failure) -> Int64? {
        guard let bytes = ByteQuantity.parse(text) else {
            throw Failure(
                .badOption, "cannot use", at: "the rate \(text)",
                because: "must be none or a number of bytes per second, such as 500K or 2.5M")
        }
        return bytes == 0 ? nil : bytes
    }

    private static func rateText(_ rate: JSON?) -> String { rate?.integer.map { NumberFormat.speed($0) } ?? "no limit" }
}
