import Pawl
import PawlCore

extension GetOptions {
    /// Every option of `pawl get`: parsing and help texts are both made from it.
    static let table: [CommandOption<GetOptions>] = files + sources + transfer + request + security + shown

    private static let files: [CommandOption<GetOptions>] = [
        CommandOption(
            "dir",
            short: "d",
            takes: .required("DIR"),
            in: .files,
            "folder for the files; made when missing",
            standard: "."
        ) {
            (options, value) throws(Failure) in
            options.folder = try OptionValues.notEmpty("dir", value)
        },
        CommandOption(
            "output",
            short: "o",
            aliases: ["out"],
            takes: .required("FILE"),
            in: .files,
            "path of the file (one URL only), - for standard output; a relative one counts from --dir when that is given"
        ) { (options, value) throws(Failure) in
            options.output = try OptionValues.notEmpty("output", value)
        },
        CommandOption(
            "stdout",
            takes: .none,
            in: .files,
            "write to standard output as -o - does: in order, by one connection, nothing to continue later"
        ) { (options, _) in options.output = GetOptions.standardOutput },
        CommandOption(
            "naming",
            takes: .required("server|url|hash"),
            in: .files,
            "where names come from: the server's answer, the URL, or a hash of the URL",
            standard: "server"
        ) { (options, value) throws(Failure) in
            options.download.naming = try OptionValues.choice(
                "naming",
                value,
                of: DownloadOptions.Naming.self
            )
        },
        CommandOption(
            "if-exists",
            takes: .required("rename|resume|overwrite|skip|fail"),
            in: .files,
            "what happens when a finished file of that name is there; rename makes 'name (1).ext'",
            standard: "rename"
        ) { (options, value) throws(Failure) in
            options.download.existingFile = try OptionValues.choice(
                "if-exists",
                value,
                of: DownloadOptions.ExistingFile.self
            )
        },
        CommandOption(
            "no-remote-time",
            takes: .none,
            in: .files,
            "keep the time of writing instead of the server's Last-Modified"
        ) { (options, _) in options.download.keepsServerTime = false },
    ]

    private static let sources: [CommandOption<GetOptions>] = [
        CommandOption(
            "input-file",
            short: "i",
            takes: .required("FILE|-"),
            in: .sources,
            "read URLs from a file or standard input: one a line, mirrors of one file separated by TAB, # comments;"
                + " lines that start with a blank set options of the URL above, such as '  out=name'",
            setsOneDownload: false
        ) { (options, value) throws(Failure) in
            options.inputFiles.append(try OptionValues.notEmpty("input-file", value))
        },
        CommandOption(
            "metalink",
            aliases: ["metalink-file"],
            takes: .required("FILE|-"),
            in: .sources,
            "fetch what a Metalink (version 3 or 4) names: files with their mirrors and checksums",
            setsOneDownload: false
        ) { (options, value) throws(Failure) in
            options.metalinks.append(try OptionValues.notEmpty("metalink", value))
        },
        CommandOption(
            "mirror",
            takes: .required("URL"),
            in: .sources,
            "another source of the same file (one URL only); repeatable"
        ) { (options, value) throws(Failure) in
            options.download.mirrors.append(try OptionValues.notEmpty("mirror", value))
        },
        CommandOption(
            "range",
            takes: .required("A-B"),
            in: .sources,
            "only these bytes: A-B (both included), A- or -N (the last N)"
        ) { (options, value) throws(Failure) in
            options.download.range = try OptionValues.range("range", value)
        },
        CommandOption(
            "checksum",
            takes: .required("TYPE=HEX"),
            in: .sources,
            "what the content must have (one URL only): sha-256, sha-512, sha-1 or md5"
        ) { (options, value) throws(Failure) in
            options.download.checksum = try OptionValues.checksum("checksum", value)
        },
        CommandOption(
            "length",
            takes: .required("N"),
            in: .sources,
            "the bytes that the content must have (one URL only)"
        ) { (options, value) throws(Failure) in
            options.download.expectedLength = Int64(
                try OptionValues.integer("length", value, in: 0...Int.max)
            )
        },
    ]

    private static let shown: [CommandOption<GetOptions>] = [
        CommandOption(
            "json",
            takes: .none,
            in: .output,
            "one JSON object a line on standard output",
            setsOneDownload: false
        ) { (options, _) in options.isJSON = true },
        CommandOption("quiet", short: "q", takes: .none, in: .output, "errors only", setsOneDownload: false) {
            (options, _) in
            options.isQuiet = true
        },
        CommandOption("help", short: "h", takes: .none, in: .output, "this text", setsOneDownload: false) {
            (options, _) in
            options.wantsHelp = true
        },
    ]
}
