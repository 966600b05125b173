import Pawl
import PawlCore

/// The options of `pawl repair`.
struct RepairOptions: CommandOptions {
    var get = GetOptions()
    var metalink: String?
    var zsync: String?
    var from: [String] = []
    var wantsHelp: Bool {
        get { self.get.wantsHelp }
        set { self.get.wantsHelp = newValue }
    }
    var wantsWholeHelp: Bool {
        get { self.get.wantsWholeHelp }
        set { self.get.wantsWholeHelp = newValue }
    }
}

extension RepairOptions {
    static let table: [CommandOption<RepairOptions>] =
        sources
        + GetOptions.table.filter { shared.contains($0.entry.group) && !others.contains($0.entry.long) }
        .map { $0.within(\.get) }

    /// How the missing bytes are fetched is the same as in `get`.
    private static let shared: Set<OptionGroup> = [.transfer, .request, .security, .output]
    private static let others: Set = ["jobs"]

    private static let sources: [CommandOption<RepairOptions>] = [
        CommandOption(
            "metalink",
            takes: .required("FILE|URL"),
            in: .sources,
            "replace the pieces that differ from those of a Metalink; its mirrors are used",
            setsOneDownload: false
        ) { (options, value) throws(Failure) in
            options.metalink = try OptionValues.notEmpty("metalink", value)
        },
        CommandOption(
            "zsync",
            takes: .required("FILE|URL"),
            in: .sources,
            "replace the blocks that differ from those of a zsync control file",
            setsOneDownload: false
        ) { (options, value) throws(Failure) in
            options.zsync = try OptionValues.notEmpty("zsync", value)
        },
        CommandOption(
            "seed",
            takes: .required("FILE"),
            in: .sources,
            "another file whose blocks are reused, for --zsync; repeatable",
            setsOneDownload: false
        ) { (options, value) throws(Failure) in
            options.get.seeds.append(try OptionValues.notEmpty("seed", value))
        },
        CommandOption(
            "from",
            takes: .required("URL"),
            in: .sources,
            "where the bytes are fetched; alone, the file is compared with all of it; repeatable for mirrors",
            setsOneDownload: false
        ) { (options, value) throws(Failure) in
            options.from.append(try OptionValues.notEmpty("from", value))
        },
    ]
}
