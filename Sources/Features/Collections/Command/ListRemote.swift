import Glibc
import Pawl
import PawlBase
import PawlCollections
import PawlGet
package import PawlTerminal

/// `pawl list-remote`: what a collection has, without downloading it.
package enum ListRemote {
    package static let command = Command(
        "list-remote", "[options] URL...", summary: "list the files below a URL",
        details: """
            Show the files below a URL that ends with / (a web index, an FTP or SFTP folder, s3://BUCKET/PREFIX/), of a model \
            hub's repository (hf://ORG/NAME), or of an image (oci://HOST/NAME:TAG); or the variants and tracks of a stream \
            (.m3u8, .mpd), with a star before those that the options take. A line has size, time in UTC and path, \
            of a blob also the media type; ? is a size that the listing does not state. Nothing is downloaded.
            """, operand: .addresses, options: table.map(\.entry)
    ) { (arguments) throws(Failure) in try run(arguments) }

    /// Options of `pawl get` that concern no file on disk.
    private static let unused: Set = [
        "max-total", "delete", "recursive", "zsync", "seed", "metalink", "jobs", "save-cookies",
        "progress", "dry-run", "quiet", "help-all", "live", "remux", "allow-gaps", "as-file",
    ]

    private static let table: [CommandOption<GetOptions>] = GetOptions.table.filter { option in
        let groups: [OptionGroup] = [.sources, .transfer, .request, .security, .output]
        return groups.contains(option.entry.group) && !unused.contains(option.entry.long)
    }

    private static func run(_ arguments: ArraySlice<String>) throws(Failure) -> Command.Outcome {
        var options = GetOptions()
        let sources = try OptionParser(table, command: "list-remote").parse(arguments, into: &options)
        if let length = options.help { return .help(length) }
        (options.listing.isRecursive, options.listing.namesFolders) = (true, true)
        // Not the cache of a hub, which has no use here.
        options.folder = "."
        var plan = try GetPlan(
            options, sources, for: "list-remote", readingWith: { (path) throws(Failure) in try readBytes(at: path) },
            askingWith: PasswordPrompt.ask, guessingWith: RemoteLook.scheme)
        try plan.list()
        for item in plan.items where Downloader.namesStream(item.source) {
            guard try StreamLines.show(item.source, try plan.downloadOptions(for: item), options) else { continue }
            plan.drop(item.source)
        }
        if let item = plan.items.first {
            throw Failure(
                .badOption, "cannot list", at: Redaction.address(item.source),
                because: "folders of web, FTP and SFTP servers, prefixes of S3, repositories and images are listed",
                remedy: "end it with / if it is one of these")
        }
        var code: Int32 = 0
        for collection in plan.collections {
            let found = show(collection, isJSON: options.isJSON)
            if code == 0 { code = found }
        }
        return .exit(code)
    }

    private static func show(_ collection: GetPlan.Collection, isJSON: Bool) -> Int32 {
        var output = OutputFile(descriptor: STDOUT_FILENO)
        var code: Int32 = 0
        func refuse(_ failure: Failure) {
            printFailure(failure)
            if code == 0 { code = Int32(failure.code.rawValue) }
        }
        let tally = collection.run().read { event in
            switch event {
            case .refused(let failure): refuse(failure)
            case .notice(let text): printNotice(text)
            case .entry(let planned):
                output.appendLine(
                    isJSON ? EntryText.object("entry", planned.entry).line : EntryText.line(planned.entry))
            }
            output.flush()
        }
        if let failure = tally.failure { refuse(failure) }
        return code
    }
}
