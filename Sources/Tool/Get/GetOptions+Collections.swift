import Glibc
import Pawl
import PawlBase
import PawlCollections
import PawlTerminal

extension GetOptions {
    /// The options of URLs that stand for several files.
    static let collections: [CommandOption<GetOptions>] = [
        CommandOption(
            "recursive", takes: .none, in: .sources,
            "download all files below a URL that ends with /: a web index, an FTP or SFTP folder, s3://BUCKET/PREFIX/",
            setsOneDownload: false
        ) { (options, _) in options.listing.isRecursive = true },
        rule("include", "download only entries that match", isIncluded: true),
        rule("exclude", "leave out entries that match", isIncluded: false),
        CommandOption(
            "max-depth", takes: .required("N"), in: .sources,
            "visit at most N folders below each other; 0 means the files of the given one", standard: "64",
            setsOneDownload: false
        ) { (options, value) throws(Failure) in
            options.listing.filter.maximumDepth = try OptionValues.integer("max-depth", value, in: 0...1_000)
            options.listing.limits.depth = max(options.listing.limits.depth, options.listing.filter.maximumDepth ?? 0)
        },
        CommandOption(
            "newer-than", takes: .required("TIME|FILE"), in: .sources,
            "leave out entries that are as old: 2026-11-29, 2026-11-29T16:00:00Z, or the time of a file",
            setsOneDownload: false
        ) { (options, value) throws(Failure) in options.listing.filter.newerThan = try time(value) },
        CommandOption(
            "max-size", takes: .required("SIZE"), in: .sources,
            "leave out larger files, as far as the listing has sizes",
            setsOneDownload: false
        ) { (options, value) throws(Failure) in options.listing.filter.maximumSize = try size("max-size", value) },
        CommandOption(
            "max-total", takes: .required("SIZE"), in: .sources,
            "download nothing if the listed files have more bytes in all", setsOneDownload: false
        ) { (options, value) throws(Failure) in options.maximumTotal = try size("max-total", value) },
        CommandOption(
            "robots", takes: .required("obey|ignore"), in: .sources,
            "whether robots.txt decides which folders below the given one are listed", standard: "obey",
            setsOneDownload: false
        ) { (options, value) throws(Failure) in
            options.listing.obeysRobots = try OptionValues.choice("robots", value, of: Robots.self) == .obey
        },
        CommandOption(
            "links", takes: .required("follow|skip"), in: .sources,
            "symbolic links of FTP and SFTP folders: download what they lead to in the same folder, or leave them out",
            standard: "follow", setsOneDownload: false
        ) { (options, value) throws(Failure) in
            options.listing.followsLinks = try OptionValues.choice("links", value, of: Links.self) == .follow
        },
        CommandOption(
            "delete", takes: .none, in: .sources,
            "remove files that an earlier run downloaded from the folder and that are gone there; never others, and only"
                + " after a complete listing without filters", setsOneDownload: false
        ) { (options, _) in options.deletesMissing = true },
        CommandOption(
            "max-entries", takes: .required("N"), in: .sources, "list at most N entries", standard: "1000000",
            setsOneDownload: false
        ) { (options, value) throws(Failure) in
            options.listing.limits.entries = try OptionValues.integer("max-entries", value, in: 1...100_000_000)
        },
        CommandOption(
            "max-folders", takes: .required("N"), in: .sources, "list at most N folders", standard: "100000",
            setsOneDownload: false
        ) { (options, value) throws(Failure) in
            options.listing.limits.folders = try OptionValues.integer("max-folders", value, in: 1...10_000_000)
        },
    ]

    private enum Robots: String, CaseIterable { case obey, ignore }
    private enum Links: String, CaseIterable { case follow, skip }

    private static func rule(_ name: String, _ what: String, isIncluded: Bool) -> CommandOption<GetOptions> {
        CommandOption(
            name, takes: .required("GLOB"), in: .sources,
            "\(what): * any characters, ? one; without / the last name is compared, with / at its end a folder's;"
                + " repeatable, the last match counts", setsOneDownload: false
        ) { (options, value) throws(Failure) in
            options.listing.filter.rules.append(
                EntryFilter.Rule(try OptionValues.notEmpty(name, value), isIncluded: isIncluded))
        }
    }

    private static func size(_ option: String, _ value: String) throws(Failure) -> Int64 {
        guard let bytes = ByteQuantity.parse(value) else {
            throw OptionValues.bad(option, value, "must be a number of bytes, such as 500K or 2.5G")
        }
        return bytes
    }

    private static func time(_ value: String) throws(Failure) -> UnixTime {
        if let time = UnixTime(timestamp: value) { return time }
        var found = stat()
        guard !value.isEmpty, unsafe stat(value, &found) == 0 else {
            throw OptionValues.bad("newer-than", value, "must be a time such as 2026-11-29, or the name of a file")
        }
        return UnixTime(seconds: Int64(found.st_mtim.tv_sec))
    }
}
