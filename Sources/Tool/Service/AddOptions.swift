import Glibc
import Pawl
import PawlBase
import PawlGet
import PawlTerminal

/// The options of `pawl add`.
struct AddOptions: CommandOptions {
    var verb = VerbOptions()
    var get = GetOptions()
    /// `paused`, `now`, or the default of the service.
    var start: String?
    var priority = 0
    /// In seconds since 1970.
    var startAt: Int64?
    var startsNoService = false
    var root: String?
    var port: String?
    var help: HelpLength? {
        get { verb.help }
        set { verb.help = newValue }
    }
}

extension AddOptions {
    static let table: [CommandOption<AddOptions>] =
        queue + files + GetOptions.table.filter { !concernsGet.contains($0.entry.long) }.map(inQueue) + service
        + VerbOptions.common.map { $0.within(\.verb) } + [wholeHelpOption]

    /// Options of `get` that have another meaning here, or none: what the service may connect to is decided by `serve`.
    private static let concernsGet: Set = [
        "dir", "jobs", "limit-rate", "json", "help", "stdout", "deny-private-addresses", "zsync", "seed", "progress",
        "verbose", "dry-run", "help-all", "save-cookies", "delete", "max-total", "live",
    ]

    /// Only `get` writes to standard output.
    private static func inQueue(_ option: CommandOption<GetOptions>) -> CommandOption<AddOptions> {
        var row = option.within(\AddOptions.get)
        if row.entry.long == "output", let output = DownloadOption.named["output"] { row.entry.help = output.help }
        return row
    }

    private static let queue: [CommandOption<AddOptions>] = [
        CommandOption("paused", takes: .none, in: .queue, "add as paused; 'resume' or 'start' starts it") {
            (options, _) in options.start = "paused"
        },
        CommandOption(
            "now", takes: .none, in: .queue,
            "start now; if all slots are taken, the longest-running download is sent back to the queue"
        ) { (options, _) in options.start = "now" },
        CommandOption(
            "start-at", takes: .required("TIME"), in: .queue,
            "stay paused until TIME: 23:00, '2026-12-01 06:00', +2h; 'resume', 'start' and 'pause' end that"
        ) { (options, value) throws(Failure) in
            options.startAt = try StartTime.parse(value).seconds(now: Int64(time(nil)))
        },
        CommandOption("priority", takes: .required("N"), in: .queue, "higher starts first", standard: "0") {
            (options, value) throws(Failure) in options.priority = try OptionValues.priority(value)
        },
        CommandOption(
            "group", takes: .required("NAME"), in: .queue, "group of downloads that can be paused and resumed together"
        ) { (options, value) throws(Failure) in options.verb.group = try OptionValues.notEmpty("group", value) },
    ]

    private static let files: [CommandOption<AddOptions>] =
        [
            CommandOption(
                "dir", short: "d", takes: .required("DIR"), in: .files,
                "folder inside the service's download root; created if missing",
                standard: "that of the service's settings, initially the root"
            ) { (options, value) throws(Failure) in options.get.folder = try OptionValues.notEmpty("dir", value) }
        ]
        + DownloadOption.transfer.filter { $0.name == "limit-rate" }.map {
            CommandOption($0, in: .transfer).within(\.get.download)
        }

    private static let service: [CommandOption<AddOptions>] = [
        CommandOption("no-start", takes: .none, in: .service, "do not start the service if it is not running") {
            (options, _) in options.startsNoService = true
        },
        CommandOption(
            "root", takes: .required("DIR"), in: .service,
            "download root of a newly started service; a running one must have the same",
            standard: "$PAWL_ROOT, else ~/Downloads"
        ) { (options, value) throws(Failure) in options.root = try OptionValues.notEmpty("root", value) },
        CommandOption(
            "port", takes: .required("N|auto|none"), in: .service, "TCP port of a newly started service",
            standard: "$PAWL_PORT, else auto: 6800 if it is free"
        ) { (options, value) throws(Failure) in options.port = try OptionValues.port(value) },
    ]
}
