import PawlBase
import PawlServer
import PawlTerminal

extension ServeOptions {
    static let watching: [CommandOption<ServeOptions>] =
        Hooks.Occasion.allCases.map { occasion in
            CommandOption(
                "on-\(occasion.rawValue)", aliases: ["on-download-\(occasion.rawValue)"], takes: .required("CMD"),
                in: .watching, occasion.help
            ) { (options, value) throws(Failure) in
                options.hooks.programs[occasion] = ServicePlace.program(
                    try OptionValues.notEmpty("on-\(occasion.rawValue)", value))
            }
        } + others

    private static let others: [CommandOption<ServeOptions>] = [
        CommandOption(
            "on-idle", takes: .required("CMD"), in: .watching,
            "run CMD when the last download has ended, e.g. to power off; 'pawl at-end nothing' suspends it"
        ) { (options, value) throws(Failure) in
            options.hooks.idle = ServicePlace.program(try OptionValues.notEmpty("on-idle", value))
        },
        CommandOption(
            "webhook", takes: .required("URL"), in: .watching,
            "POST a JSON message to URL for each such event; at most 5 attempts"
        ) { (options, value) throws(Failure) in
            guard value.hasPrefix("http://") || value.hasPrefix("https://") else {
                throw OptionValues.bad("webhook", Redaction.address(value), "must be an http or https URL")
            }
            options.hooks.webhook = value
        },
        CommandOption(
            "webhook-private", takes: .none, in: .watching,
            "allow the webhook's public name to resolve to a private network; IP addresses, localhost and names such as nas.lan always may"
        ) { (options, _) in options.hooks.allowsPrivateWebhook = true },
        CommandOption(
            "log", takes: .required("FILE"), in: .watching, "append a line per event to FILE, without secrets",
            standard: "standard error, none with --quiet; in the background .pawl/log of the root, at most 8 MiB"
        ) { (options, value) throws(Failure) in options.logFile = try OptionValues.notEmpty("log", value) },
        CommandOption(
            "log-format", takes: .required("text|json"), in: .watching, "plain text lines or one JSON object per line",
            standard: "text"
        ) { (options, value) throws(Failure) in
            options.logFormat = try OptionValues.choice("log-format", value, of: ServiceLog.Format.self)
        },
    ]
}

extension Hooks.Occasion {
    fileprivate var help: String {
        switch self {
        case .start: "run CMD ID N PATH when a download starts; N is 1 if PATH is known, else 0"
        case .pause: "run CMD when a running download is paused"
        case .stop: "run CMD when a running download is removed"
        case .complete: "run CMD when a download completes"
        case .error: "run CMD when a download fails"
        }
    }
}
