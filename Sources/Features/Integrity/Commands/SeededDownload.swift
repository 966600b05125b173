import Glibc
import Pawl
import PawlBase
import PawlGet
import PawlIntake
import PawlIntegrity
import PawlJournal
import PawlTerminal

/// A download whose part file begins with bytes of files that are there.
struct SeededDownload: Sendable {
    var seed: Seed
    /// The URL and the mirrors.
    var sources: [String]
    var folder: String
    var name: String
    var length: Int64
    /// Whether a file of that name is replaced when the new one is complete and correct.
    var replaces: Bool
    /// That file as it was when it was read: it stays if another program has changed it since.
    var replaced: FileStamp?
    /// The digests that the new file must have.
    var checksums: [Checksum]
    /// What states them.
    var described = ""
    var pieces: PieceHashes?
    /// What is known of the bytes where no digest will prove them.
    var representation: Representation?
    /// The options of the transfer.
    var options: GetOptions

    /// Seeds the part file, downloads the rest, and returns the exit code.
    func run() throws(Failure) -> Int32 {
        let path = folder + "/" + name
        let original = replaces ? Self.status(of: path) : nil
        let part = try seeded(original.map { UInt32($0.st_mode & 0o777) })
        report(part.count)
        var common = options
        common.folder = folder
        common.download.mirrors = []
        if replaces { common.download.existingFile = .overwrite }
        // A second connection takes over what the first one's server has sent already.
        if isSmall(length - part.count) { common.download.connections = common.download.connections ?? 1 }
        common.download.expectedLength = length
        let item = GetPlan.Item(
            source: sources[0], mirrors: Array(sources.dropFirst()),
            lines: [InputOption(name: "output", value: part.name, line: 0)], pieces: pieces,
            digests: checksums.map { ExpectedDigest($0, level: .given, source: described) },
            isSeeded: representation == nil,
            replaces: replaced.map { ReplacedFile($0, isWrong: true) })
        let plan = try GetPlan(common, items: [item]) { (_, options) in options.output = "./" + part.name }
        let code = try GetSession(plan).run()
        if code == 0, let original { Self.restore(original, of: path) }
        return code
    }

    private func seeded(_ permissions: UInt32?) throws(Failure) -> SeededPart {
        var display = ProgressDisplay(isShown: !options.isJSON && !options.isQuiet)
        var done: Int64 = 0
        let total = seedLength
        let part = try Downloader.seed(
            seed, for: sources[0], representation: representation, name: name, in: folder, length: length,
            replacing: replaces, permissions: permissions
        ) { count in
            done += Int64(count)
            display.show(name, done, of: max(done, total), status: "reading")
        }
        display.end()
        return part
    }

    private var seedLength: Int64 {
        switch seed {
        case .file(_, let bytes, _): bytes.count
        case .blocks(_, let files):
            files.reduce(0) { $0.addingClamped(Self.status(of: $1).map { Int64($0.st_size) } ?? 0) }
        }
    }

    private func report(_ reused: Int64) {
        guard !options.isQuiet else { return }
        if options.isJSON {
            var object = JSONObject()
            object.set("event", "seeded")
            object.set("path", folder == "." ? name : folder + "/" + name)
            object.set("reused", reused)
            object.set("length", length)
            say(object.line + "\n")
        } else {
            var errors = OutputFile(descriptor: STDERR_FILENO)
            let missing = NumberFormat.size(max(0, length - reused))
            errors.appendLine(
                TerminalText.harmless("\(name): reusing \(NumberFormat.size(reused)), \(missing) to fetch"))
            errors.flush()
        }
    }

    private static func status(of path: String) -> stat? {
        var found = stat()
        return unsafe stat(path, &found) == 0 ? found : nil
    }

    /// Whether so little is missing, in few ranges, that further connections cost more than they bring.
    private func isSmall(_ missing: Int64) -> Bool {
        guard case .file(_, let done, _) = seed else { return false }
        return missing <= 4 << 20 && done.runs.count <= 4
    }

    /// Gives the new file the owner and the permissions of the old one.
    private static func restore(_ original: stat, of path: String) {
        let file = unsafe open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        guard file >= 0 else { return }
        defer { close(file) }
        var found = stat()
        // Only the file that was published: another one of that name keeps its owner.
        guard unsafe fstat(file, &found) == 0, found.st_uid == geteuid(), found.st_nlink == 1 else { return }
        if found.st_uid != original.st_uid || found.st_gid != original.st_gid {
            _ = fchown(file, original.st_uid, original.st_gid)
        }
        fchmod(file, original.st_mode & 0o777)
    }
}

/// A path without links, as its folder and its name.
struct ResolvedPath: Hashable {
    var path: String
    var folder: String
    var name: String

    /// `nil` if there is no such file.
    init?(_ path: String) {
        guard let resolved = unsafe realpath(path, nil) else { return nil }
        defer { unsafe free(resolved) }
        self.path = unsafe String(cString: resolved)
        let parts = self.path.pathParts(keepsEmpty: true)
        name = parts.last.map { String($0) } ?? ""
        folder = parts.count > 2 ? parts.dropLast().joined(separator: "/") : "/"
        let given = path.pathParts(keepsEmpty: true).map(String.init)
        let beside = given.count > 1 ? given.dropLast().joined(separator: "/") : "."
        guard given.last == name, !path.isAbsolutePath, let same = unsafe realpath(beside, nil) else { return }
        defer { unsafe free(same) }
        // As the user named it, for messages: no link leads elsewhere.
        if unsafe String(cString: same) == folder { folder = beside }
    }
}
