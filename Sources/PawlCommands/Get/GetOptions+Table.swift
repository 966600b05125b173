import Pawl
import PawlCore

extension GetOptions {
    /// Every option of `pawl get`, for parsing and for help.
    static let table: [CommandOption<GetOptions>] = files + sources + transfer + request + security + shown

    private static let files: [CommandOption<GetOptions>] = [
        CommandOption(
            "dir",
            short: "d",
            takes: .required("DIR"),
            in: .files,
            "folder for downloaded files; created if missing",
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
            "write to FILE (one URL only), - for standard output; relative to --dir if given"
        ) { (options, value) throws(Failure) in
            options.output = try OptionValues.notEmpty("output", value)
        },
        CommandOption(
            "stdout",
            takes: .none,
            in: .files,
            "write to standard output, like -o -: in order, over one connection, not resumable"
        ) { (options, _) in options.output = GetOptions.standardOutput },
        CommandOption(
            "naming",
            takes: .required("server|url|hash"),
            in: .files,
            "source of file names: the server's response, the URL, or a hash of the URL",
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
            "action if a finished file of that name exists; rename creates 'name (1).ext'",
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
            "do not set the file's time to the server's Last-Modified"
        ) { (options, _) in options.download.keepsServerTime = false },
    ]

    private static let sources: [CommandOption<GetOptions>] = [
        CommandOption(
            "input-file",
            short: "i",
            takes: .required("FILE|-"),
            in: .sources,
            "read URLs from a file or standard input: one per line, mirrors of one file separated by TAB, # comments;"
                + " indented lines set options of the URL above, such as '  out=name'",
            setsOneDownload: false
        ) { (options, value) throws(Failure) in
            options.inputFiles.append(try OptionValues.notEmpty("input-file", value))
        },
        CommandOption(
            "metalink",
            aliases: ["metalink-file"],
            takes: .required("FILE|-"),
            in: .sources,
            "download the files of a Metalink (version 3 or 4), with their mirrors and checksums",
            setsOneDownload: false
        ) { (options, value) throws(Failure) in
            options.metalinks.append(try OptionValues.notEmpty("metalink", value))
        },
        CommandOption(
            "mirror",
            takes: .required("URL"),
            in: .sources,
            "another URL of the same file (one URL only); repeatable"
        ) { (options, value) throws(Failure) in
            options.download.mirrors.append(try OptionValues.notEmpty("mirror", value))
        },
        CommandOption(
            "range",
            takes: .required("A-B"),
            in: .sources,
            "download only these bytes: A-B (inclusive), A- or -N (the last N)"
        ) { (options, value) throws(Failure) in
            options.download.range = try OptionValues.range("range", value)
        },
        CommandOption(
            "checksum",
            takes: .required("TYPE=HEX"),
            in: .sources,
            "expected checksum (one URL only): sha-256, sha-512, sha-1 or md5"
        ) { (options, value) throws(Failure) in
            options.download.checksum = try OptionValues.checksum("checksum", value)
        },
        CommandOption(
            "length",
            takes: .required("N"),
            in: .sources,
            "expected size in bytes (one URL only)"
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
            "print one JSON object per line on standard output",
            setsOneDownload: false
        ) { (options, _) in options.isJSON = true },
        CommandOption(
            "quiet",
            short: "q",
            takes: .none,
            in: .output,
            "print errors only",
            setsOneDownload: false
        ) {
            (options, _) in
            options.isQuiet = true
        },
        CommandOption("help", short: "h", takes: .none, in: .output, "show this help", setsOneDownload: false)
        {
            (options, _) in
            options.wantsHelp = true
        },
    ]
}
