package import Pawl
package import PawlBase
import PawlCollections
package import PawlTerminal

/// The options of `pawl get`, without URLs and files.
package struct GetOptions: CommandOptions, Hashable {
    /// The options of each download; folder and file name are set from ``folder`` and ``output`` by ``resolved()``.
    package var download = DownloadOptions()
    /// `--dir`, if given.
    package var folder: String?
    /// `--output`, if given.
    package var output: String?
    /// `--jobs`; `nil` to find the number by measuring.
    package var jobs: Int?
    package var rateLimit: Int64?
    package var inputFiles: [String] = []
    package var metalinks: [String] = []
    package var torrents: [String] = []
    /// `--zsync`, if given.
    package var zsync: String?
    /// Files whose blocks are reused.
    package var seeds: [String] = []
    /// The object, or the prefix of objects, that the bytes become instead of files.
    package var target: WebAddress?
    /// What of collections is downloaded.
    package var listing = ListingOptions()
    /// The most bytes of all files of collections together.
    package var maximumTotal: Int64?
    /// Whether files are removed that a collection no longer has.
    package var deletesMissing = false
    package var deniesPrivateAddresses = false
    package var usesHTTP1 = false
    /// Which tracks of streams are wanted.
    package var tracks = StreamOptions()
    /// Whether playlists are downloaded as files.
    package var keepsPlaylists = false
    /// Whether user names and passwords are read from a netrc file, by default the user's own.
    package var readsNetrc = true
    /// The file that receives the cookies at the end.
    package var cookieJar: String?
    package var isJSON = false
    package var isQuiet = false
    /// `--progress`, if given.
    package var progress: Progress?
    /// Whether requests, responses and decisions are shown.
    package var isVerbose = false
    /// Whether nothing is downloaded.
    package var isDryRun = false
    /// Whether `-O` was given: curl's and wget's differ.
    package var hasRemoteName = false
    package var help: HelpLength?

    /// How progress is shown.
    package enum Progress: String, Sendable, Hashable, CaseIterable { case bar, plain, none, json }

    package init() {}

    /// The options of one download, with its folder and file name resolved.
    ///
    /// The folder part of `--output` is a folder like that of `--dir`; if both are given, a relative `--output` is
    /// resolved against `--dir`, as in curl and aria2.
    package func resolved() throws(Failure) -> DownloadOptions {
        var download = download
        if !readsNetrc { download.netrc = nil }
        download.folder = folder ?? "."
        guard let output, let path = outputPath else { return download }
        guard output != GetOptions.standardOutput else {
            throw OptionValues.bad("output", output, "only 'pawl get' with one URL writes to standard output")
        }
        let name = path.pathParts(keepsEmpty: true).last.map(String.init) ?? ""
        guard !["", ".", ".."].contains(name) else {
            throw Failure(
                .badOption, "cannot use", at: "--output \(output)", because: "it is a folder, not a file",
                remedy: "use --dir for a folder")
        }
        // In bytes: a combining mark at the beginning of the name is one character with the slash.
        let before = Substring(path.utf8.dropLast(name.utf8.count))
        download.fileName = name
        download.folder = before.isEmpty ? "." : before.count == 1 ? "/" : String(before.dropLast())
        return download
    }

    /// An option that is given and has a meaning for collections only.
    var listingOption: String? {
        let plain = ListingOptions()
        let given = [
            ("recursive", listing.isRecursive), ("include", listing.filter.rules.first?.isIncluded == true),
            ("exclude", !listing.filter.rules.isEmpty), ("max-depth", listing.filter.maximumDepth != nil),
            ("newer-than", listing.filter.newerThan != nil), ("max-size", listing.filter.maximumSize != nil),
            ("max-total", maximumTotal != nil), ("robots", !listing.obeysRobots), ("links", !listing.followsLinks),
            ("delete", deletesMissing), ("max-entries", listing.limits.entries != plain.limits.entries),
            ("max-folders", listing.limits.folders != plain.limits.folders),
        ]
        return given.first { $0.1 }?.0
    }

    /// The `--output` value that means standard output.
    package static let standardOutput = "-"

    /// `--output`, resolved against `--dir` if given.
    var outputPath: String? {
        guard let output, let folder, !output.isAbsolutePath else { return output }
        // "./NAME" is how a name such as "-" is given.
        let relative = output.afterBytes(of: "./") ?? output
        return folder + (folder.utf8.last == UInt8(ascii: "/") ? "" : "/") + relative
    }

    /// The target of the bytes if it is not a file.
    package var stream: StreamTarget? {
        output == GetOptions.standardOutput ? .standardOutput : outputPath.flatMap { StreamTarget(at: $0) }
    }

    /// Files that must be readable before anything starts, with their options.
    package var filesToRead: [(option: String, path: String)] {
        DownloadOption.table.filter { $0.namesFile && (readsNetrc || $0.id != .netrc) }.flatMap { option in
            option.texts(of: download).filter(option.isFile).map { (option.name, $0) }
        }
    }

    /// What every downloader of the command allows, also one for a file that describes the download.
    package var connections: Downloader.Configuration {
        var configuration = Downloader.Configuration()
        configuration.deniesPrivateAddresses = deniesPrivateAddresses
        return configuration
    }
}

extension GetOptions {
    /// The options for a file that describes the download: those of the connection, none of the file.
    package func transferOptions() throws(Failure) -> DownloadOptions {
        var options = self
        options.output = nil
        var download = try options.resolved()
        download.checksum = nil
        download.expectedLength = nil
        download.mirrors = []
        download.range = nil
        return download
    }
}
