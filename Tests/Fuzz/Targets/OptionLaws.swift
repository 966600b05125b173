@testable import Pawl
@testable import PawlBase
@testable import PawlGet

/// The command line, its arguments between zero bytes, and an input file as the last of them.
enum OptionLaws {
    static func check(_ input: inout FuzzInput) throws(BrokenLaw) {
        var parts: [String] = []
        while !input.isEmpty, parts.count < 32 { parts.append(input.text()) }
        let list = Array((parts.popLast() ?? "").utf8)
        let plan: GetPlan
        do throws(Failure) { plan = try GetPlan(arguments: parts) { _ throws(Failure) in list } } catch {
            try hold(error.code == .badOption, "refused with code \(error.code.rawValue)")
            return try hold(!error.place.isEmpty, "an error without its place: \(error)")
        }
        for item in plan.items { try check(plan, item) }
    }

    private static func check(_ plan: GetPlan, _ item: GetPlan.Item) throws(BrokenLaw) {
        let options: DownloadOptions
        do throws(Failure) { options = try plan.downloadOptions(for: item) } catch {
            throw BrokenLaw(description: "a checked option is refused: \(error)")
        }
        if let name = options.fileName {
            try hold(!name.isEmpty && name != "." && name != "..", "a folder: \(name)")
            try hold(!name.utf8.contains { $0 == .slash || $0 == 0 }, "a path: \(name.debugDescription)")
        }
        try hold(!options.folder.isEmpty && !options.folder.utf8.contains(0), "folder \(options.folder)")
        for line in options.headers {
            try hold(!line.utf8.contains { $0 == .lineFeed || $0 == .carriageReturn || $0 == 0 }, "two lines")
        }
        try hold(options.connections ?? 1 >= 1 && plan.options.jobs ?? 1 >= 1, "a count below one")
        try hold(options.retries >= 0 && options.maximumRedirects >= 0, "a count below zero")
        try hold(options.timeout > .zero && options.timeout <= .seconds(86_400), "a timeout of \(options.timeout)")
        try hold(
            options.retryDelay >= .zero && options.retryDelay <= .seconds(86_400), "a delay of \(options.retryDelay)")
        try hold(options.rateLimit ?? 1 > 0, "a rate of \(options.rateLimit ?? 0)")
        if let range = options.range {
            guard (try? RangeOption.parse(range)) != nil else {
                throw BrokenLaw(description: "a range that was accepted is refused: \(range)")
            }
        }
    }
}
