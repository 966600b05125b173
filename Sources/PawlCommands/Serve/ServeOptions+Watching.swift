import PawlCore
import PawlServer

extension ServeOptions {
    static let watching: [CommandOption<ServeOptions>] =
        Hooks.Occasion.allCases.map { occasion in
            CommandOption(
                "on-\(occasion.rawValue)",
                aliases: ["on-download-\(occasion.rawValue)"],
                takes: .required("CMD"),
                in: .watching,
                occasion.help
            ) { (options, value) throws(Failure) in
                options.hooks.programs[occasion] = ServicePlace.program(
                    try OptionValues.notEmpty("on-\(occasion.rawValue)", value)
                )
            }
        } + others

    private static let others: [CommandOption<ServeOptions>] = [
        CommandOption(
            "webhook",
            takes: .required("URL"),
            in: .watching,
            "post JSON to it on each of these occasions; tried 5 times at most"
        ) { (options, value) throws(Failure) in
            guard value.hasPrefix("http://") || value.hasPrefix("https://") else {
                throw OptionValues.bad("webhook", Redaction.address(value), "it is an http or https URL")
            }
            options.hooks.webhook = value
        },
        CommandOption(
            "webhook-private",
            takes: .none,
            in: .watching,
            "the webhook's public name may lead to a private network; numbers, localhost and names such as nas.lan may anyway"
        ) { (options, _) in options.hooks.allowsPrivateWebhook = true },
        CommandOption(
            "log",
            takes: .required("FILE"),
            in: .watching,
            "append a line for everything that happens, without secrets",
            standard:
                "standard error, nowhere with --quiet; in the background .pawl/log of the root, 8 MiB at most"
        ) { (options, value) throws(Failure) in options.logFile = try OptionValues.notEmpty("log", value) },
        CommandOption(
            "log-format",
            takes: .required("text|json"),
            in: .watching,
            "lines for people or one JSON object a line",
            standard: "text"
        ) { (options, value) throws(Failure) in
            options.logFormat = try OptionValues.choice("log-format", value, of: ServiceLog.Format.self)
        },
    ]
}

extension Hooks.Occasion {
    fileprivate var help: String {
        switch self {
        case .start:
            "run a program when a download starts: CMD ID N PATH, with N 1 once PATH is known and else 0"
        case .pause: "the same when one that ran is paused"
        case .stop: "the same when one that ran is removed"
        case .complete: "the same when a file is in its place"
        case .error: "the same when one fails"
        }
    }
}
