import Glibc
import Pawl
import PawlAria2
import PawlBase
import PawlGet
import PawlSystem

/// A download of ``Aria2cSession`` with the place that its options mean.
package struct Aria2cDownload: Sendable {
    let entry: Aria2cEntry
    /// The options of the entry over those of the run.
    let values: Aria2cOptions
    /// Counts from 0, in order of start.
    let order: Int
    var target = DownloadOptions()
    var handle: Download?
    /// The name on disk once known.
    var name: String?
    var attempt = 0
    var isConditional = false
    /// Whether the digest of the file that is continued did not match, as it does not where bytes are missing.
    var isDoubtful = false
    /// The comparison of its file with the known digests, while it runs.
    var check: RunningCheck?
    /// Whether its part file begins with the right pieces of a file that was there.
    var isSeeded = false
    /// Why it was stopped although it would be retried.
    var refusal: PawlError?
    private let start = milliseconds()

    init(_ entry: Aria2cEntry, common: Aria2cOptions, order: Int) {
        self.entry = entry
        self.order = order
        values = entry.options.over(common)
    }

    func flag(_ name: String) -> Bool { values.flag(name) }

    var isDry: Bool { flag("dry-run") }
    var renames: Bool { values["auto-file-renaming"] != "false" }

    /// Resolves folder, name and all options.
    ///
    /// Throws code 28.
    mutating func prepare(_ note: (Aria2cPrinter.Level, String) -> Void) throws(Failure) {
        let source = entry.addresses[0]
        try Aria2Options(values.values).apply(to: &target, of: source)
        target.mirrors = Array(entry.addresses.dropFirst())
        target.folder = folder
        // One that the user typed is not among the entry's own options.
        let folders = outParts.dropLast()
        if entry.options["out"] != nil, !folders.isEmpty, !folders.contains("..") {
            try RootedFiles.check(folders.joined(separator: "/"), below: givenFolder)
        }
        target.fileName = outName
        target.expectedLength = entry.length
        isConditional = target.headers.contains { field in
            ["if-none-match:", "if-modified-since:"].contains { field.lowercased().hasPrefix($0) }
        }
        if flag("continue") { target.existingFile = .resume }
        if let path = target.cookieFile {
            let isDatabase = Aria2cFiles.isDatabase(path)
            // aria2c reports each form in which it has tried to read it.
            for _ in 0..<(isDatabase ? 2 : 1) where isDatabase || Aria2cFiles.length(of: path) == nil {
                note(.error, "Failed to load cookies from \(path)")
                target.cookieFile = nil
            }
        }
        guard !flag("no-netrc") else { return }
        let path = values["netrc-path"] ?? (Environment.home ?? "") + "/.netrc"
        guard Aria2cFiles.length(of: path) != nil else { return }
        if Aria2cFiles.isOpenToOthers(path) {
            note(
                .notice,
                ".netrc file \(path) does not have correct permissions. It should be 600. netrc support disabled.")
        } else {
            target.netrc = path
        }
    }

    // MARK: places

    /// The folder as given; the working folder's path by default.
    private var givenFolder: String { values["dir"].map { $0.isEmpty ? "." : $0 } ?? Aria2cFiles.workingFolder }

    private var outParts: [Substring] { (values["out"] ?? "").pathParts().filter { $0 != "." } }

    /// The name that `out` gives.
    var outName: String? { outParts.last.map(String.init) }

    var folder: String {
        let folder = (givenFolder == "/" ? "" : givenFolder) + outParts.dropLast().map { "/" + $0 }.joined()
        return folder.isEmpty ? "/" : folder
    }

    /// What aria2c prints before a name: `dir` and `out` as they were given.
    private var shownPrefix: String {
        let out = values["out"] ?? ""
        let folders = out.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(Substring(out.utf8[...$0])) } ?? ""
        return (values["dir"] == "/" ? "/" : givenFolder + "/") + folders
    }

    func shown(_ path: String) -> String { shownPrefix + (path.pathParts().last.map(String.init) ?? "") }

    /// The path as aria2c prints it.
    var shownPath: String { shownPrefix + (name ?? expectedName ?? "") }

    var path: String { folder + "/" + (name ?? expectedName ?? "") }

    /// The name that `out` or the URL gives.
    var expectedName: String? {
        if let outName { return outName }
        guard let source = entry.addresses.first, let address = (try? WebAddress.parse(source))?.address else {
            return nil
        }
        return NamingPolicy.choose(.url, address: address, head: nil, given: [address], charsets: .system)
    }

    var expectedPath: String? { expectedName.map { folder + "/" + $0 } }

    var host: String? { (try? WebAddress.parse(entry.addresses[0]))?.address.host }

    /// `a.bin` for `a.1.bin`.
    static func unnumbered(_ name: String) -> String? {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        func isNumber(_ part: Substring) -> Bool { !part.isEmpty && part.utf8.allSatisfy { $0 >= 0x30 && $0 <= 0x39 } }
        if parts.count >= 3, isNumber(parts[parts.count - 2]) {
            return (parts.dropLast(2) + [parts[parts.count - 1]]).joined(separator: ".")
        }
        return parts.count >= 2 && isNumber(parts[parts.count - 1]) ? parts.dropLast().joined(separator: ".") : nil
    }

    // MARK: results

    /// Another way with an existing file when it cannot be continued, as aria2c has one: start over under this name
    /// or another.
    func secondTry(after error: PawlError) -> DownloadOptions.ExistingFile? {
        guard target.existingFile == .resume, attempt == 0 else { return nil }
        if isDoubtful, [.cannotResume, .checksumMismatch].contains(error.code) { return .overwrite }
        guard error.code == .cannotResume else { return nil }
        if flag("allow-overwrite") { return .overwrite }
        return renames ? .rename : nil
    }

    var averageSpeed: Int64 {
        let seconds = Double(milliseconds() - start) / 1000
        guard seconds > 0, let received = handle?.snapshot.received else { return 0 }
        return Int64(Double(received) / seconds)
    }

    var progress: Aria2cText.Progress {
        let snapshot = handle?.snapshot
        return Aria2cText.Progress(
            gid: entry.gid.description, written: snapshot?.written ?? 0, total: snapshot?.total ?? check?.total ?? 0,
            checked: check?.count, connections: snapshot?.connections ?? 0, speed: snapshot?.speed ?? 0, path: shownPath
        )
    }

    func result(_ outcome: Aria2cText.Outcome, speed: Int64?) -> Aria2cText.Result {
        let snapshot = handle?.snapshot
        let percent = snapshot?.total.flatMap { total in
            // As aria2c, none of an empty file.
            total > 0 ? Aria2cText.percent(snapshot?.written ?? 0, of: total) : nil
        }
        let isNamed = outcome == .complete || name != nil || outName != nil
        return Aria2cText.Result(
            gid: entry.gid.description, outcome: outcome, speed: speed,
            percent: outcome == .complete && snapshot?.total != 0 ? 100 : percent,
            place: isNamed ? shownPath : Redaction.address(entry.addresses.first ?? "n/a"))
    }
}
