import PawlBase
import PawlGet
import PawlTerminal

/// The options of `pawl repair`.
struct RepairOptions: CommandOptions {
    var get = GetOptions()
    var metalink: String?
    var torrent: String?
    var from: [String] = []
    var help: HelpLength? {
        get { self.get.help }
        set { self.get.help = newValue }
    }
}

extension RepairOptions {
    static let table: [CommandOption<RepairOptions>] =
        sources + blocks
        + GetOptions.table.filter {
            shared.contains($0.entry.group) && !others.contains($0.entry.long) || $0.entry.long == "retry-corrupt"
        }.map { $0.within(\.get) }

    /// How the missing bytes are fetched is the same as in `get`.
    private static let shared: Set<OptionGroup> = [.transfer, .request, .security, .output]
    private static let others: Set = ["jobs", "dry-run", "help-all", "save-cookies"]

    /// Options of `get` with a different help text.
    private static let blocks = GetOptions.table.compactMap { option -> CommandOption<RepairOptions>? in
        let purposes = [
            "zsync": "replace the blocks that differ from those of a zsync control file",
            "seed": "another file whose blocks are reused, for --zsync; repeatable",
        ]
        guard let purpose = purposes[option.entry.long] else { return nil }
        var row = option.within(\RepairOptions.get)
        row.entry.help = purpose
        return row
    }

    private static let sources: [CommandOption<RepairOptions>] = [
        CommandOption(
            "metalink", takes: .required("FILE|URL"), in: .sources,
            "replace the pieces that differ from those of a Metalink; its mirrors are used", setsOneDownload: false
        ) { (options, value) throws(Failure) in options.metalink = try OptionValues.notEmpty("metalink", value) },
        CommandOption(
            "torrent", takes: .required("FILE|URL"), in: .sources,
            "replace the pieces that differ from those of a torrent; its web seeds are used", setsOneDownload: false
        ) { (options, value) throws(Failure) in options.torrent = try OptionValues.notEmpty("torrent", value) },
        CommandOption(
            "from", takes: .required("URL"), in: .sources,
            "fetch the bytes from this URL; without --metalink, --torrent and --zsync, all of its content is compared; repeatable for"
                + " mirrors", setsOneDownload: false
        ) { (options, value) throws(Failure) in options.from.append(try OptionValues.notEmpty("from", value)) },
    ]
}
