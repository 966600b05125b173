package import Pawl
package import PawlCore

/// What the options of `pawl get` say, before URLs and files are joined to it.
package struct GetOptions: Sendable, Hashable {
    /// What holds for each download; folder and file name come from ``folder`` and ``output`` at the end.
    package var download = DownloadOptions()
    /// `--dir`, when it was given.
    package var folder: String?
    /// `--output`, when it was given.
    package var output: String?
    package var jobs = 3
    package var rateLimit: Int64?
    package var inputFiles: [String] = []
    package var metalinks: [String] = []
    package var deniesPrivateAddresses = false
    /// Whether user names and passwords of a netrc file are used, by default of the user's own.
    package var readsNetrc = true
    package var isJSON = false
    package var isQuiet = false
    package var wantsHelp = false

    package init() {}

    /// The options of one download, with its place worked out.
    ///
    /// The folder part of `--output` is a folder like that of `--dir`; a relative `--output` counts from `--dir`
    /// when both are given, as in curl and aria2.
    package func resolved() throws(Failure) -> DownloadOptions {
        var download = download
        if !readsNetrc { download.netrc = nil }
        download.folder = folder ?? "."
        guard let output, let path = outputPath else { return download }
        guard output != GetOptions.standardOutput else {
            throw OptionValues.bad("output", output, "only 'pawl get' of one URL writes to standard output")
        }
        let name = path.split(separator: "/", omittingEmptySubsequences: false).last.map(String.init) ?? ""
        guard !["", ".", ".."].contains(name) else {
            throw Failure(
                .badOption,
                "cannot use",
                at: "--output \(output)",
                because: "it names a folder and not a file",
                remedy: "use --dir for a folder"
            )
        }
        let before = path.dropLast(name.count)
        download.fileName = name
        download.folder = before.isEmpty ? "." : before.count == 1 ? "/" : String(before.dropLast())
        return download
    }

    /// `--output` that stands for standard output.
    package static let standardOutput = "-"

    /// `--output`, counted from `--dir` when that is given.
    var outputPath: String? {
        guard let output, let folder, !output.hasPrefix("/") else { return output }
        return folder + (folder.hasSuffix("/") ? "" : "/") + output
    }

    /// Where the bytes go when not to a file.
    package var stream: StreamTarget? {
        output == GetOptions.standardOutput ? .standardOutput : outputPath.flatMap { StreamTarget(at: $0) }
    }

    /// Files that must be readable before anything starts, with the option that names each.
    package var filesToRead: [(option: String, path: String)] {
        let netrc = download.netrc.flatMap { $0.isEmpty || !readsNetrc ? nil : $0 }
        return [
            ("load-cookies", download.cookieFile), ("netrc", netrc), ("cacert", download.authorityFile),
            ("cert", download.certificate), ("key", download.key),
        ].compactMap { option, path in path.map { (option, $0) } }
    }
}
