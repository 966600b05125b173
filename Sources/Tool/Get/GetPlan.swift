package import Pawl
package import PawlBase
package import PawlIntake
package import PawlJournal
import PawlS3
import PawlTerminal

/// The downloads of one `pawl get`, checked before anything starts.
package struct GetPlan: Sendable {
    /// One file to download.
    package struct Item: Sendable {
        package var source: String
        package var mirrors: [String]
        /// The line of the URL in an input file, from 1.
        package var line: Int?
        /// Option lines below the URL in an input file, kept as text: ten thousand items must stay small.
        package var lines: [InputOption]
        /// The digests of its pieces, of a Metalink.
        package var pieces: PieceHashes?
        /// The digests that it must have besides the checksum in its options.
        package var digests: [ExpectedDigest] = []
        /// Its part file begins with bytes of other files, which its checksum will prove.
        package var isSeeded = false
        /// The only file that it may overwrite, as it was then; `nil` for any.
        package var replaces: ReplacedFile?
        /// Whether a response has shown that it is a playlist.
        var isStream = false

        /// Whether the file has options of its own.
        var hasOwnOptions: Bool { !lines.isEmpty || !mirrors.isEmpty }

        package init(
            source: String, mirrors: [String], line: Int? = nil, lines: [InputOption], pieces: PieceHashes? = nil,
            digests: [ExpectedDigest] = [], isSeeded: Bool = false, replaces: ReplacedFile? = nil
        ) {
            self.source = source
            self.mirrors = mirrors
            self.line = line
            self.lines = lines
            self.pieces = pieces
            self.digests = digests
            self.isSeeded = isSeeded
            self.replaces = replaces
        }
    }

    package private(set) var options: GetOptions
    package internal(set) var items: [Item] = []
    /// The items that stand for several files, once they were taken out.
    package internal(set) var collections: [Collection] = []
    /// The options of every file without option lines.
    private(set) var common = DownloadOptions()

    /// The target of the only download if it is not a file.
    package private(set) var stream: StreamTarget?

    /// The command's name in errors.
    private let command: String

    /// Applies the lines of an item.
    private let apply: Apply

    package typealias Apply = @Sendable (Item, inout GetOptions) throws(Failure) -> Void

    /// Parses `pawl get`'s arguments.
    ///
    /// `read` returns the bytes of an input file, of standard input for `-`; `ask` prompts for a user's password, if possible.
    package init(
        arguments: some Sequence<String>, readingWith read: (String) throws(Failure) -> [UInt8],
        askingWith ask: (String) throws(Failure) -> String? = { _ in nil },
        guessingWith guess: (String, DownloadOptions, GetOptions) -> String = { _, _, _ in "https" }
    ) throws(Failure) {
        var options = GetOptions()
        let sources = try OptionParser(GetOptions.table, command: "get").parse(arguments, into: &options)
        try self.init(options, sources, for: "get", readingWith: read, askingWith: ask, guessingWith: guess)
    }

    /// Creates the plan of a command whose options are already parsed.
    ///
    /// `guess` returns the scheme of a URL that was given without one.
    package init(
        _ options: GetOptions, _ sources: [String], for command: String,
        readingWith read: (String) throws(Failure) -> [UInt8], askingWith ask: (String) throws(Failure) -> String?,
        guessingWith guess: (String, DownloadOptions, GetOptions) -> String = { _, _, _ in "https" }
    ) throws(Failure) {
        self.options = options
        self.command = command
        apply = { (item, options) throws(Failure) in try GetPlan.apply(item, for: command, to: &options) }
        if options.help != nil { return }
        if let user = options.download.user, options.download.password == nil {
            self.options.download.password = try ask(user)
        }
        for source in sources { items += try Item.items(of: source, readingWith: read) }
        for file in options.inputFiles {
            let name = file == "-" ? "standard input" : file
            items += try Item.items(ofList: try read(file), named: name)
        }
        for place in options.torrents { items.append(try Item(torrentAt: place, options, readingWith: read)) }
        for file in options.metalinks { items += try Item.items(ofMetalink: try read(file), at: file) }
        if options.hasRemoteName { try checkRemoteName(sources) }
        try check()
        completeAddresses(guess)
        // The same URL given twice is one download.
        var plain: Set<Bytewise<String>> = []
        var own: Set<Identity> = []
        plain.reserveCapacity(items.count)
        items.removeAll {
            $0.hasOwnOptions ? !own.insert(Identity(item: $0)).inserted : !plain.insert(Bytewise($0.source)).inserted
        }
    }

    /// An item with options of its own, as it was given.
    private struct Identity: Hashable {
        let item: Item

        static func == (left: Identity, right: Identity) -> Bool {
            left.item.source.hasSameBytes(as: right.item.source)
                && left.item.mirrors.hasSameBytes(as: right.item.mirrors)
                && left.item.lines.elementsEqual(right.item.lines) {
                    $0.name == $1.name && $0.value.hasSameBytes(as: $1.value)
                }
        }

        /// Few items differ in nothing but their mirrors and lines.
        func hash(into hasher: inout Hasher) { item.source.hashBytes(into: &hasher) }
    }

    /// `-O` is curl's, before a URL, which changes nothing here; or wget's, with a file's name.
    private func checkRemoteName(_ sources: [String]) throws(Failure) {
        guard
            let name = sources.first(where: { !$0.contains("://") && !BareAddress.hasNoScheme($0) })
                ?? (sources.count > 1 ? sources.first { !$0.contains("://") } : nil)
        else { return }
        throw Failure(
            .badOption, "cannot use", at: "-O \(name)",
            because: "curl's -O keeps the server's name, wget's names the file",
            remedy: "leave -O out for the server's name, or use -o \(name)")
    }

    /// Adds the scheme to URLs that were given without one.
    private mutating func completeAddresses(_ guess: (String, DownloadOptions, GetOptions) -> String) {
        var schemes: [Bytewise<String>: String] = [:]
        func completed(_ source: String) -> String {
            guard BareAddress.hasNoScheme(source) else { return source }
            let authority = BareAddress.authority(of: source)
            let scheme = schemes[Bytewise(authority)] ?? guess(source, common, options)
            schemes[Bytewise(authority)] = scheme
            return "\(scheme)://\(source)"
        }
        for index in items.indices {
            items[index].source = completed(items[index].source)
            if !items[index].mirrors.isEmpty { items[index].mirrors = items[index].mirrors.map(completed) }
        }
    }

    /// Creates the plan of another command, whose files are known and whose lines have other names.
    package init(_ options: GetOptions, items: [Item], applying apply: @escaping Apply) throws(Failure) {
        self.options = options
        self.apply = apply
        command = "get"
        self.items = items
        try check()
    }

    /// The options of one file.
    package func downloadOptions(for item: Item) throws(Failure) -> DownloadOptions {
        guard item.hasOwnOptions else { return common }
        var own = options
        own.download.mirrors += item.mirrors
        try apply(item, &own)
        // The service checks its own folders.
        let isListed = own.output != options.output
        if command == "get", isListed { try own.checkLinks() }
        var resolved = try own.resolved()
        if command == "get", !isListed { resolved.followLink() }
        return resolved
    }

    private static func apply(_ item: Item, for command: String, to own: inout GetOptions) throws(Failure) {
        let common = own
        let parser = OptionParser(GetOptions.table, command: command)
        for line in item.lines {
            do throws(Failure) { try parser.apply(name: line.name, value: line.value, to: &own) } catch {
                var placed = error
                placed.place += " (line \(line.line) of the input file)"
                throw placed
            }
        }
        if let line = item.line { try confine(&own, over: common, line) }
    }

    /// Throws if an option of one file is given for several, or for one that has its own.
    private mutating func checkSingleOptions() throws(Failure) {
        let isListed = !options.inputFiles.isEmpty || !options.metalinks.isEmpty
        guard items.count > 1 || isListed else { return }
        // The only file of a Metalink gets the name that the user gives it.
        let isSingle = items.count == 1 && options.inputFiles.isEmpty
        if isSingle, options.output != nil { items[0].lines.removeAll { $0.name == "output" } }
        let single = [
            ("output", options.output != nil && !isSingle), ("mirror", !options.download.mirrors.isEmpty && !isSingle),
            ("checksum", options.download.checksum != nil), ("length", options.download.expectedLength != nil),
        ]
        if let (name, _) = single.first(where: { $0.1 }) {
            throw Failure(
                .badOption, "cannot use", at: "--\(name)",
                because: isSingle ? "the Metalink has its own" : "it applies to a single file, but there are several",
                remedy: isSingle ? "leave it out" : "set it below its URL in an input file")
        }
    }

    private mutating func check() throws(Failure) {
        guard !items.isEmpty || options.zsync != nil else {
            let isAlone = options.inputFiles.isEmpty
            throw Failure(
                .badOption, isAlone ? "missing" : "cannot use",
                at: isAlone ? "URL" : "--input-file \(options.inputFiles.joined(separator: " "))",
                because: isAlone ? "" : "it contains no URL", remedy: "see 'pawl help \(command)'")
        }
        try checkSingleOptions()
        if options.isJSON, let progress = options.progress, progress != .json {
            throw Failure(
                .badOption, "cannot use", at: "--progress \(progress.rawValue) with --json",
                because: "one is for people, the other for programs", remedy: "give one of them")
        }
        if let target = options.target { try check(target) }
        if command == "get" { stream = options.stream }
        if stream == .standardOutput, options.isJSON {
            throw Failure(
                .badOption, "cannot use", at: "--json", because: "the file is written to standard output",
                remedy: "write to a file, or omit --json")
        }
        var plain = options
        if stream != nil { plain.output = nil }
        common = try plain.resolved()
        if command == "get" { common.followLink() }
        for item in items where !item.lines.isEmpty { _ = try downloadOptions(for: item) }
    }
}

extension GetPlan {
    private func check(_ target: WebAddress) throws(Failure) {
        let why: String? =
            options.output != nil
            ? "the name of a file is given too"
            : options.folder != nil
                ? "the folder of files is given too"
                : items.count > 1 && !target.isPrefix ? "there are several URLs; end it with /" : nil
        if let why { throw Failure(.badOption, "cannot use", at: "--to \(target.redacted)", because: why) }
    }

    /// The file of an item whose name is known and looks like a part file or journal of another: that gets other names for its
    /// own.
    func placeLikePart(of item: Item) -> (folder: String, name: String)? {
        let out = item.lines.last { $0.name == "out" || $0.name == "output" }?.value
        guard options.target == nil, FileName.looksLikePart(out ?? item.source),
            let options = item.lines.isEmpty ? common : try? downloadOptions(for: item)
        else { return nil }
        let name =
            options.fileName
            ?? (try? WebAddress.parse(item.source).address).map {
                NamingPolicy.choose(.url, address: $0, head: nil, given: [$0], charsets: .system)
            }
        return name.map { (options.folder, $0) }
    }

    /// The store of ``GetOptions/target``.
    func store() throws(Failure) -> ObjectStore? {
        guard options.target != nil else { return nil }
        return try ObjectStore(options.download, deniesPrivateAddresses: options.deniesPrivateAddresses)
    }

    /// The object that a file becomes; `nil` for a file.
    func target(of source: String) throws(Failure) -> WebAddress? {
        guard let target = options.target, target.isPrefix else { return options.target }
        let source = try WebAddress.parse(source).address
        let name = NamingPolicy.choose(.url, address: source, head: nil, given: [source], charsets: .system)
        return try WebAddress.s3(bucket: target.bucket, key: target.key + name)
    }
}
