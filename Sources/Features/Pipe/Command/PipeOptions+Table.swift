import Pawl
package import PawlBase
import PawlCollections
import PawlTerminal

extension PipeOptions {
    static let table: [CommandOption<PipeOptions>] =
        files + sources + transfer + own(DownloadOption.transfer, in: .transfer) + hosts + robots
        + own(DownloadOption.request, in: .request) + security + own(DownloadOption.security, in: .security) + shown + [
            helpOption
        ]

    /// The options of a download that apply to each sample.
    private static func own(_ options: [DownloadOption], in group: OptionGroup) -> [CommandOption<PipeOptions>] {
        let others: Set = ["limit-rate", "connections", "user", "password"]
        return options.filter { !others.contains($0.name) }.map {
            CommandOption($0, in: group).within(\PipeOptions.configuration.download)
        }
    }

    private static func option(
        _ name: String, short: Character? = nil, aliases: [String] = [], takes value: String?, in group: OptionGroup,
        _ help: String, standard: String? = nil,
        apply: @escaping @Sendable (inout PipeOptions, String) throws(Failure) -> Void
    ) -> CommandOption<PipeOptions> {
        CommandOption(
            name, short: short, aliases: aliases, takes: value.map { .required($0) } ?? .none, in: group, help,
            standard: standard, setsOneDownload: false, apply: apply)
    }

    private static let files = [
        option(
            "to", takes: "DIR|s3://BUCKET/PREFIX", in: .files,
            "folder for the files or the shard, created if missing; or prefix for objects"
        ) { (options, value) throws(Failure) in
            let value = try OptionValues.notEmpty("to", value)
            let isAddress = value.lowercased().hasPrefix("s3://")
            options.configuration.target = isAddress ? .objects(try WebAddress.parse(value).address) : .folder(value)
        },
        option(
            "format", takes: "files|tar|warc|none", in: .files,
            "files: one for each sample; tar: WebDataset; warc: WARC 1.1; none: only check URLs and digests",
            standard: "files with --to, else none"
        ) { (options, value) throws(Failure) in
            options.configuration.format = try OptionValues.choice("format", value, of: PipeConfiguration.Format.self)
        },
        option(
            "shard", takes: "NAME", in: .files,
            "name of the archive of all samples, NAME.tar or NAME.warc.gz, and of its manifest, NAME.jsonl; published when"
                + " complete, and never replaced"
        ) { (options, value) throws(Failure) in
            let name = try OptionValues.notEmpty("shard", value)
            guard !name.hasSlash, SampleName.flaw(ofPath: name) == nil, name.utf8.count <= 200 else {
                throw OptionValues.bad("shard", value, "must be the name of a file, of at most 200 bytes")
            }
            options.configuration.shard = name
        },
        option(
            "retry-failed", takes: "FILE", in: .files,
            "retry the failed samples of this manifest, into shard NAME.1 (then NAME.2); no other jobs are read"
        ) { (options, value) throws(Failure) in
            options.retriedManifest = try OptionValues.notEmpty("retry-failed", value)
        },
        option("ordered", takes: nil, in: .output, "print results in the order of the jobs instead of as they finish") {
            (options, _) in options.configuration.isOrdered = true
        },
    ]

    private static let sources = [
        option(
            "input-file", short: "i", takes: "FILE|-", in: .sources, "read jobs from a file", standard: "standard input"
        ) { (options, value) throws(Failure) in options.inputFile = try OptionValues.notEmpty("input-file", value) },
        option(
            "end", takes: "LINE", in: .sources,
            "last line of the input; without it, the input counts as truncated, and nothing more is published"
        ) { (options, value) throws(Failure) in
            let line = try OptionValues.text("end", value)
            guard !line.allSatisfy({ $0 == " " || $0 == "\t" }) else {
                throw OptionValues.bad("end", value, "must be a line that is not blank")
            }
            options.configuration.endLine = line
        },
        option(
            "checksum", takes: "TYPE=HEX", in: .sources,
            "checksum for samples whose job has none: \(DownloadOption.checksumNames); repeatable"
        ) { (options, value) throws(Failure) in
            try DownloadOption.named["checksum"]?.take(value, into: &options.configuration.download)
        },
    ]

    private static let transfer = [
        option(
            "jobs", short: "j", takes: "N", in: .transfer, "simultaneous samples",
            standard: "\(PipeConfiguration().jobs)"
        ) { (options, value) throws(Failure) in
            options.configuration.jobs = try OptionValues.integer("jobs", value, in: 1...1_000)
        },
        option(
            "max-size", takes: "SIZE", in: .transfer, "refuse larger samples; K, M, G are powers of 1024",
            standard: "none"
        ) { (options, value) throws(Failure) in
            guard let size = ByteQuantity.parse(value), size > 0 else {
                throw OptionValues.bad("max-size", value, "must be a number of bytes, such as 500K or 20M")
            }
            options.configuration.maximumSize = size
        },
        option(
            "accept", takes: "TYPE/*", in: .transfer,
            "refuse samples of other media types; several with commas; repeatable", standard: "all"
        ) { (options, value) throws(Failure) in
            for text in value.split(separator: ",", omittingEmptySubsequences: false) {
                guard let range = MediaRange(String(text.drop { $0 == " " })) else {
                    throw OptionValues.bad("accept", value, "must be media types, such as image/* or text/html")
                }
                options.configuration.accepted.append(range)
            }
        },
        option(
            "sample-timeout", takes: "S", in: .transfer, "seconds for one sample, including retries", standard: "none"
        ) { (options, value) throws(Failure) in
            options.configuration.sampleTimeout = .seconds(
                try OptionValues.seconds("sample-timeout", value, zeroAllowed: false))
        },
        option(
            "network-timeout", takes: "S", in: .transfer,
            "seconds to wait for a network while this machine has none, before samples fail", standard: "120"
        ) { (options, value) throws(Failure) in
            options.configuration.networkTimeout = .seconds(try OptionValues.seconds("network-timeout", value))
        },
        option(
            "grace", takes: "S", in: .transfer, "seconds for running samples to finish after SIGTERM or SIGINT",
            standard: "5"
        ) { (options, value) throws(Failure) in
            options.configuration.grace = .seconds(try OptionValues.seconds("grace", value))
        },
    ]

    private static let hosts = [
        option(
            "per-host", takes: "N", in: .transfer, "simultaneous samples of one host",
            standard: "\(PipeConfiguration().perHost)"
        ) { (options, value) throws(Failure) in
            options.configuration.perHost = try OptionValues.integer("per-host", value, in: 1...1_000)
        },
        option(
            "host-delay", takes: "S", in: .transfer, "seconds between the starts of two requests to one host",
            standard: "0"
        ) { (options, value) throws(Failure) in
            options.configuration.hostDelay = .seconds(try OptionValues.seconds("host-delay", value))
        },
        option(
            "host-failures", takes: "N", in: .transfer,
            "samples of a server in a row that cannot connect, before its others fail at once for a minute; 0: never",
            standard: "\(PipeConfiguration().hostFailures)"
        ) { (options, value) throws(Failure) in
            options.configuration.hostFailures = try OptionValues.integer("host-failures", value, in: 0...1_000_000)
        },
        option(
            "host-share", takes: "K/N", in: .transfer,
            "process K of N that share each host: use this part of --per-host and --host-delay", standard: "1/1"
        ) { (options, value) throws(Failure) in
            guard let share = HostShare(value) else {
                throw OptionValues.bad("host-share", value, "must be K/N, with K from 1 to N")
            }
            options.configuration.share = share
        },
    ]

    private static let robots = [
        option(
            "robots", takes: "obey|ignore", in: .request, "whether to obey each server's robots.txt", standard: "obey"
        ) { (options, value) throws(Failure) in
            options.configuration.obeysRobots = try OptionValues.choice("robots", value, of: Robots.self) == .obey
        },
        option(
            "contact", takes: "MAIL|URL", in: .request,
            "mail address or URL of the operator, sent in the user agent; required unless --robots ignore"
        ) { (options, value) throws(Failure) in
            let contact = try OptionValues.text("contact", value)
            guard contact.utf8.count > 3, !contact.contains(" "), !contact.contains("("), !contact.contains(")"),
                contact.contains("@") || contact.contains("://")
            else { throw OptionValues.bad("contact", value, "must be a mail address or a URL") }
            options.configuration.contact = contact
        },
        option(
            "respect", takes: "TAGS", in: .request,
            "refuse samples with one of these X-Robots-Tags, such as noai,noimageai,noindex", standard: "none"
        ) { (options, value) throws(Failure) in
            guard let tags = RobotsTags.list(value) else {
                throw OptionValues.bad("respect", value, "must be tags with commas between them, such as noai,noindex")
            }
            options.configuration.respected.formUnion(tags)
        },
        option(
            "partition", takes: "N", in: .transfer,
            "download nothing: prefix each line with a number below N and a TAB, the same for all lines of a host"
        ) { (options, value) throws(Failure) in
            options.partitions = try OptionValues.integer("partition", value, in: 1...1_000_000)
        },
    ]

    private static let shown = [
        option(
            "metrics", takes: "FILE|:PORT", in: .output, "export metrics for Prometheus: to a file, or on a local port"
        ) { (options, value) throws(Failure) in
            let value = try OptionValues.notEmpty("metrics", value)
            guard value.hasPrefix(":") else {
                options.configuration.metrics = .file(value)
                return
            }
            guard let port = UInt16(value.dropFirst()), port > 0 else {
                throw OptionValues.bad("metrics", value, "must be a file, or a port such as :9100")
            }
            options.configuration.metrics = .port(port)
        },
        option("quiet", short: "q", takes: nil, in: .output, "do not show progress") { (options, _) in
            options.configuration.isQuiet = true
        },
    ]

    private enum Robots: String, CaseIterable { case obey, ignore }

    private static let security = [
        option(
            "allow-private-addresses", takes: nil, in: .security,
            "allow connections to this machine and private networks; not for untrusted lists"
        ) { (options, _) in options.configuration.allowsPrivateAddresses = true }
    ]
}

extension OptionValues {
    package static func seconds(_ option: String, _ value: String, zeroAllowed: Bool = true) throws(Failure) -> Double {
        let isPlain = value.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == 0x2E }
        guard isPlain, let seconds = Double(value), (0...86_400).contains(seconds), zeroAllowed || seconds > 0 else {
            let range = zeroAllowed ? "from 0 to 86400" : "above 0, up to 86400"
            throw bad(option, value, "must be a number of seconds \(range), such as 2 or 0.5")
        }
        return seconds
    }
}
