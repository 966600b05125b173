import Pawl
import PawlBase
import PawlGet
import PawlTerminal

/// The options of `pawl pipe`.
struct PipeOptions: CommandOptions {
    var configuration = PipeConfiguration()
    var inputFile: String?
    /// The manifest whose failed samples are retried.
    var retriedManifest: String?
    /// `--partition`, if given.
    var partitions: Int?
    var help: HelpLength?

    /// Throws for options that cannot be combined.
    func check() throws(Failure) {
        guard partitions == nil else { return }
        if configuration.obeysRobots, configuration.contact == nil {
            throw Failure(
                .badOption, "missing", at: "--contact",
                because: "robots.txt is obeyed, and server operators need a contact address",
                remedy: "give --contact with a mail address or a URL, or --robots ignore")
        }
        let format = configuration.format
        if configuration.target == nil {
            if let format, format != .none { throw Self.missing("--to", "for --format \(format.rawValue)") }
            if configuration.shard != nil { throw Self.missing("--to", "for --shard") }
        } else if format == PipeConfiguration.Format.none {
            throw Failure(
                .badOption, "cannot use", at: "--to with --format none", because: "--format none stores nothing",
                remedy: "leave one of them out")
        }
        let isSharded = format == .tar || format == .warc
        if isSharded, configuration.shard == nil, retriedManifest == nil {
            throw Self.missing("--shard", "for --format \(format?.rawValue ?? "")")
        }
        if !isSharded, configuration.shard != nil || retriedManifest != nil {
            throw Self.missing("--format tar or warc", "for a shard")
        }
        if inputFile != nil, retriedManifest != nil {
            throw Failure(
                .badOption, "cannot use", at: "--input-file with --retry-failed", because: "the manifest has the jobs",
                remedy: "leave one of them out")
        }
        guard configuration.share.connections(of: configuration.perHost) != nil else {
            throw Failure(
                .badOption, "cannot use", at: "--host-share",
                because: "\(configuration.perHost) connections to a host are not enough for"
                    + " \(configuration.share.count) processes",
                remedy: "raise --per-host, or give the host to fewer processes")
        }
        for (option, path) in filesToRead { try checkReadable(path, option: option) }
    }

    private var filesToRead: [(option: String, path: String)] {
        DownloadOption.table.filter(\.namesFile).flatMap { option in
            option.texts(of: configuration.download).filter { !$0.isEmpty }.map { (option.name, $0) }
        }
    }

    static func missing(_ option: String, _ why: String) -> Failure {
        Failure(.badOption, "missing", at: option, because: "it is needed \(why)")
    }
}
