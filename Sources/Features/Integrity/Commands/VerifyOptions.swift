import Pawl
package import PawlBase
import PawlIntegrity
import PawlTerminal

/// The options of `pawl verify`.
struct VerifyOptions: CommandOptions {
    var checksums: [Checksum] = []
    var sums: [String] = []
    var metalinks: [String] = []
    var torrents: [String] = []
    var from: [String] = []
    var isJSON = false
    var isQuiet = false
    var help: HelpLength?
}

extension VerifyOptions {
    static let table: [CommandOption<VerifyOptions>] = [
        CommandOption(
            "checksum", takes: .required("TYPE=HEX"), in: .sources,
            "expected checksum (one FILE only): \(DownloadOption.checksumNames); repeatable", setsOneDownload: false
        ) { (options, value) throws(Failure) in options.checksums.append(try OptionValues.checksum(value)) },
        CommandOption(
            "sums", takes: .required("FILE|URL"), in: .sources,
            "sums file that lists the files, such as SHA256SUMS; repeatable", setsOneDownload: false
        ) { (options, value) throws(Failure) in options.sums.append(try OptionValues.notEmpty("sums", value)) },
        CommandOption(
            "metalink", takes: .required("FILE|URL"), in: .sources,
            "Metalink that lists the files; their pieces are checked if there is no digest of the whole file; repeatable",
            setsOneDownload: false
        ) { (options, value) throws(Failure) in options.metalinks.append(try OptionValues.notEmpty("metalink", value))
        },
        CommandOption(
            "torrent", takes: .required("FILE|URL"), in: .sources,
            "torrent that lists the files; a folder as FILE stands for all of its files there; repeatable",
            setsOneDownload: false
        ) { (options, value) throws(Failure) in options.torrents.append(try OptionValues.notEmpty("torrent", value)) },
        CommandOption(
            "from", takes: .required("URL"), in: .sources,
            "compare with the digests that this URL states, or the sums files beside it; a URL that ends with a slash is the"
                + " folder of all files; repeatable", setsOneDownload: false
        ) { (options, value) throws(Failure) in options.from.append(try OptionValues.notEmpty("from", value)) },
        jsonOption(\.isJSON),
        CommandOption(
            "quiet", short: "q", takes: .none, in: .output, "print only files that are not verified",
            setsOneDownload: false
        ) { (options, _) in options.isQuiet = true }, helpOption,
    ]
}

extension OptionValues {
    /// A checksum as `TYPE=HEX`, in the usual spellings.
    package static func checksum(_ value: String) throws(Failure) -> Checksum {
        guard let checksum = Checksum(pasted: value) else {
            throw bad("checksum", value, "\(LocalizableMessage.mustBeOneDigest)")
        }
        return checksum
    }
}
