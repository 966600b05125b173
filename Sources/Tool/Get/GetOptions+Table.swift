import Pawl
import PawlBase
package import PawlTerminal

extension GetOptions {
    /// Every option of `pawl get`, for parsing and for help.
    package static let table: [CommandOption<GetOptions>] =
        files.prefix(1) + options(DownloadOption.files, in: .files) + files.dropFirst() + sources + collections
        + streams
        + options(DownloadOption.sources, in: .sources) + transfer + options(DownloadOption.transfer, in: .transfer)
        + options(DownloadOption.request, in: .request) + request + options(DownloadOption.security, in: .security)
        + security + shown + habits

    /// The options of a download, but those that have a form of their own on the command line.
    private static func options(_ options: [DownloadOption], in group: OptionGroup) -> [CommandOption<GetOptions>] {
        let own: Set = ["limit-rate", "password"]
        return options.filter { !own.contains($0.name) }.map { option in
            var row = CommandOption(option, in: group).within(\GetOptions.download)
            if option.name == "output" {
                row.apply = takeOutput
                row.entry.help = "write to FILE (one URL only), - for standard output; relative to --dir if given"
            }
            if option.name == "user" { row.apply = takeUser }
            if option.name == "connections" { row.apply = takeConnections }
            return row
        }
    }

    @Sendable private static func takeOutput(_ options: inout GetOptions, _ value: String) throws(Failure) {
        options.output = try OptionValues.notEmpty("output", value)
    }

    /// curl's `-x` is a proxy.
    @Sendable private static func takeConnections(_ options: inout GetOptions, _ value: String) throws(Failure) {
        do throws(Failure) { try DownloadOption.named["connections"]?.take(value, into: &options.download) } catch {
            var hinted = error
            if value.contains(":") || value.contains(".") { hinted.remedy = "for curl's -x use --proxy URL" }
            throw hinted
        }
    }

    @Sendable private static func takeUser(_ options: inout GetOptions, _ value: String) throws(Failure) {
        let parts = try OptionValues.notEmpty("user", try OptionValues.text("user", value)).split(
            separator: ":", maxSplits: 1, omittingEmptySubsequences: false
        ).map(String.init)
        options.download.user = parts[0]
        options.download.password = parts.count > 1 ? parts[1] : nil
    }

    private static let files: [CommandOption<GetOptions>] = [
        CommandOption(
            "dir", short: "d", takes: .required("DIR"), in: .files, "folder for downloaded files; created if missing",
            standard: "."
        ) { (options, value) throws(Failure) in options.folder = try OptionValues.notEmpty("dir", value) },
        CommandOption(
            "to", takes: .required("s3://BUCKET/KEY"), in: .files,
            "store as an object instead of a file; a key that ends with / is a prefix of names", setsOneDownload: false
        ) { (options, value) throws(Failure) in
            let target = try WebAddress.parse(value).address
            guard target.scheme == .located(.s3) else {
                throw OptionValues.bad("to", target.redacted, "must begin with s3://; for a file use --output")
            }
            options.target = target
        },
        CommandOption(
            "stdout", takes: .none, in: .files,
            "write to standard output, like -o -: in order, over one connection, not resumable"
        ) { (options, _) in options.output = GetOptions.standardOutput },
    ]

    private static let sources: [CommandOption<GetOptions>] = [
        CommandOption(
            "input-file", short: "i", takes: .required("FILE|-"), in: .sources,
            "read URLs from a file or standard input: one per line, mirrors of one file separated by TAB, # comments;"
                + " indented lines set options of the URL above, such as '  out=name'", setsOneDownload: false
        ) { (options, value) throws(Failure) in
            options.inputFiles.append(try OptionValues.notEmpty("input-file", value))
        },
        CommandOption(
            "metalink", aliases: ["metalink-file"], takes: .required("FILE|-"), in: .sources,
            "download the files of a Metalink (version 3 or 4), with their mirrors and checksums",
            setsOneDownload: false
        ) { (options, value) throws(Failure) in options.metalinks.append(try OptionValues.notEmpty("metalink", value))
        },
        CommandOption(
            "torrent", takes: .required("FILE|URL|-"), in: .sources,
            "download the files of a torrent from its web seeds; a FILE whose name ends with .torrent needs no option",
            setsOneDownload: false
        ) { (options, value) throws(Failure) in options.torrents.append(try OptionValues.notEmpty("torrent", value)) },
        CommandOption(
            "platform", takes: .required("OS/ARCH|all"), in: .sources,
            "for oci:// and docker://: the image of an index for this machine, such as linux/arm64, or all of them",
            standard: "this machine's", setsOneDownload: false
        ) { (options, value) throws(Failure) in options.listing.platform = try OptionValues.notEmpty("platform", value)
        },
        CommandOption(
            "artifact", takes: .none, in: .sources,
            "for oci://: download the blobs that have titles as files with these names, not a layout",
            setsOneDownload: false
        ) { (options, _) in options.listing.isArtifact = true },
        CommandOption(
            "zsync", takes: .required("FILE|URL"), in: .sources,
            "download the file that a zsync control file describes, and reuse blocks of the --seed files; a URL given with"
                + " it replaces the control file's", setsOneDownload: false
        ) { (options, value) throws(Failure) in options.zsync = try OptionValues.notEmpty("zsync", value) },
        CommandOption(
            "seed", takes: .required("FILE"), in: .sources,
            "older version of the file, for --zsync; replaced by the new one if it has its name; repeatable",
            setsOneDownload: false
        ) { (options, value) throws(Failure) in options.seeds.append(try OptionValues.notEmpty("seed", value)) },
    ]

    private static let transfer: [CommandOption<GetOptions>] = [
        CommandOption(
            "jobs", short: "j", aliases: ["max-concurrent-downloads"], takes: .required("N|auto"), in: .transfer,
            "simultaneous downloads; auto: as many as make it faster, within what hosts accept", standard: "auto",
            setsOneDownload: false
        ) { (options, value) throws(Failure) in
            options.jobs = try OptionValues.integerOrAuto("jobs", value, in: 1...1_000)
        },
        CommandOption(
            "limit-rate", aliases: ["max-overall-download-limit"], takes: .required("RATE"), in: .transfer,
            "total speed limit in bytes per second; K, M, G are powers of 1024", standard: "none",
            setsOneDownload: false
        ) { (options, value) throws(Failure) in options.rateLimit = try OptionValues.rate("limit-rate", value) },
        CommandOption(
            "http1.1", takes: .none, in: .transfer,
            "no HTTP/2: by default, several files of one host share its connections where a server has it over TLS",
            setsOneDownload: false
        ) { (options, _) in options.usesHTTP1 = true },
    ]

    private static let request: [CommandOption<GetOptions>] = [
        CommandOption(
            "no-netrc", takes: .none, in: .request, "do not read user names and passwords from a netrc file",
            setsOneDownload: false
        ) { (options, _) in options.readsNetrc = false },
        CommandOption(
            "save-cookies", aliases: ["cookie-jar"], takes: .required("FILE"), in: .request,
            "at the end, save the cookies in FILE (Netscape format), those of --load-cookies too",
            setsOneDownload: false
        ) { (options, value) throws(Failure) in options.cookieJar = try OptionValues.notEmpty("save-cookies", value) },
    ]

    private static let security: [CommandOption<GetOptions>] = [
        CommandOption(
            "deny-private-addresses", takes: .none, in: .security,
            "refuse to connect to this machine or private networks, even through names and redirects",
            setsOneDownload: false
        ) { (options, _) in options.deniesPrivateAddresses = true }
    ]

    private static let shown: [CommandOption<GetOptions>] = [
        jsonOption(\.isJSON),
        CommandOption(
            "progress", takes: .required("bar|plain|none|json"), in: .output,
            "bar: redrawn lines; plain: a line for each 10 % or minute; none: errors only, like --quiet; json: like --json",
            standard: "bar on a terminal, else plain", setsOneDownload: false
        ) { (options, value) throws(Failure) in
            let progress = try OptionValues.choice("progress", value, of: GetOptions.Progress.self)
            options.progress = progress
            if progress == .json { options.isJSON = true }
            if progress == GetOptions.Progress.none { options.isQuiet = true }
        },
        CommandOption(
            "verbose", short: "v", takes: .none, in: .output,
            "show requests (>), responses (<) and decisions (*), without secrets", setsOneDownload: false
        ) { (options, _) in options.isVerbose = true },
        CommandOption(
            "dry-run", takes: .none, in: .output, "ask the servers for names and sizes, and download nothing",
            setsOneDownload: false
        ) { (options, _) in options.isDryRun = true },
        CommandOption(
            "quiet", short: "q", aliases: ["silent"], takes: .none, in: .output,
            "print errors only, and waits of a minute or more that a server requests", setsOneDownload: false
        ) { (options, _) in options.isQuiet = true }, helpOption, wholeHelpOption,
    ]

    /// curl's `-s`, alone or in `-fsSL`, where no number follows.
    private static let split: CommandOption<GetOptions> = {
        var option = CommandOption<GetOptions>(
            "split", short: "s", takes: .required("N"), in: .habits,
            "like --connections N; -s without a number is like --quiet"
        ) { (options, value) throws(Failure) in
            try DownloadOption.named["connections"]?.take(value, into: &options.download)
        }
        option.flag = { $0.isQuiet = true }
        return option
    }()

    /// Options of other tools that are understood.
    private static let habits: [CommandOption<GetOptions>] = [
        passedOver("continue", short: "c", "no effect: Pawl always resumes"),
        CommandOption(
            "continue-at", short: "C", takes: .required("-"), in: .habits, "no effect: Pawl finds the offset itself",
            setsOneDownload: false
        ) { (_, value) throws(Failure) in
            guard value != "-" else { return }
            throw Failure(
                .badOption, "cannot use", at: "-C \(value)", because: "Pawl finds the offset itself",
                remedy: "leave -C out; --range A- downloads from an offset")
        }, passedOver("location", short: "L", "no effect: redirects are followed"),
        passedOver("fail", short: "f", "no effect: an error response is never saved"),
        passedOver("show-error", short: "S", "no effect: errors are always shown"),
        passedOver("progress-bar", short: "#", "no effect: see --progress"),
        passedOver("remote-header-name", short: "J", "no effect: the server's name is used"),
        passedOver("remote-time", short: "R", "no effect: the server's time is kept"), split,
        only(.v4, "ipv4", "inet4-only", short: "4"), only(.v6, "ipv6", "inet6-only", short: "6"),
        CommandOption("directory-prefix", short: "P", takes: .required("DIR"), in: .habits, "like --dir DIR") {
            (options, value) throws(Failure) in options.folder = try OptionValues.notEmpty("dir", value)
        }, remoteName,
    ]

    /// `-O`, and wget's `-O-`.
    private static let remoteName: CommandOption<GetOptions> = {
        var option = CommandOption<GetOptions>(
            "remote-name", short: "O", takes: .none, in: .habits,
            "before a URL, as in curl: no effect, the server's name is used; -O- is -o -; for wget's -O FILE use -o FILE",
            setsOneDownload: false
        ) { (options, _) in options.hasRemoteName = true }
        option.dash = { $0.output = GetOptions.standardOutput }
        return option
    }()

    /// The last of them counts, as in curl.
    private static func only(
        _ version: DownloadOptions.IPVersion, _ names: String..., short: Character
    ) -> CommandOption<GetOptions> {
        CommandOption(
            names[0], short: short, aliases: Array(names.dropFirst()), takes: .none, in: .habits,
            "like --ip-version \(version.rawValue)"
        ) { (options, _) in options.download.ipVersion = version }
    }

    private static func passedOver(_ name: String, short: Character, _ help: String) -> CommandOption<GetOptions> {
        CommandOption(name, short: short, takes: .none, in: .habits, help, setsOneDownload: false) { _, _ in }
    }
}
