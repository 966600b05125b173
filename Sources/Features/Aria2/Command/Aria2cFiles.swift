import Glibc
import PawlAria2
import PawlBase
import PawlGet
import PawlSystem

/// What aria2c's command line needs of the system: the file `NAME.aria2` beside a download, which scripts look for,
/// properties of files and processes, and its session file.
enum Aria2cFiles {
    /// Marks `path` as unfinished with an empty file `NAME.aria2`; a file of that name stays.
    static func mark(_ path: String) {
        let file = unsafe open(path + ".aria2", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o644)
        if file >= 0 { close(file) }
    }

    /// Removes the mark, and aria2's own control file.
    static func unmark(_ path: String) {
        var found = stat()
        let control = path + ".aria2"
        guard unsafe lstat(control, &found) == 0, found.st_mode & S_IFMT == S_IFREG else { return }
        _ = unsafe unlink(control)
    }

    /// Removes the mark of a download that left nothing, not aria2's control file of a file that is still unfinished.
    static func withdrawMark(_ path: String) { if length(of: path + ".aria2") == 0 { unmark(path) } }

    /// Whether aria2 left the file unfinished: its control file is not empty, and parts of the file are missing.
    static func isUnfinished(_ path: String) -> Bool { (length(of: path + ".aria2") ?? 0) > 0 }

    /// `nil` if there is no regular file.
    static func length(of path: String) -> Int64? {
        var found = stat()
        guard unsafe stat(path, &found) == 0, found.st_mode & S_IFMT == S_IFREG else { return nil }
        return Int64(found.st_size)
    }

    /// Whether it is a browser's database of cookies, which is not read.
    static func isDatabase(_ path: String) -> Bool {
        length(of: path) != nil
            && (try? readBytes(at: path, atMost: 16)).map { $0.starts(with: "SQLite format 3".utf8) } ?? false
    }

    /// The time of the last change as an HTTP date (RFC 9110 §5.6.7).
    static func date(of path: String) -> String? {
        var found = stat()
        guard unsafe stat(path, &found) == 0 else { return nil }
        return UnixTime(seconds: Int64(found.st_mtim.tv_sec)).httpDate
    }

    /// Whether others may read the file, which aria2c does not accept of a netrc file.
    static func isOpenToOthers(_ path: String) -> Bool {
        var found = stat()
        return unsafe stat(path, &found) == 0 && found.st_mode & 0o077 != 0
    }

    static var workingFolder: String {
        let folder = unsafe getcwd(nil, 0)
        defer { unsafe free(folder) }
        return unsafe folder.map { unsafe String(cString: $0) } ?? "."
    }

    /// Starts an event program without waiting for it; its output goes where this one's does.
    static func run(_ program: String, gid: String, path: String) {
        try? ChildProcess.startUnattended(program, [program, gid, "1", path])
    }

    /// Whether `text` is the name of a network interface, or a numeric address.
    static func isInterface(_ text: String) -> Bool {
        if unsafe if_nametoindex(text) != 0 { return true }
        var address = in6_addr()
        return [AF_INET, AF_INET6].contains { unsafe inet_pton($0, text, &address) == 1 }
    }

    static func isAlive(_ process: Int64) -> Bool {
        guard let process = Int32(exactly: process) else { return false }
        return kill(process, 0) == 0 || errno == EPERM
    }

    /// The session file's entry of a download, with the options of the run that belong to downloads.
    ///
    /// None for a URL with a line break, which would be read back as options.
    static func sessionText(_ entry: Aria2cEntry, _ common: Aria2cOptions) -> String {
        guard !entry.addresses.isEmpty, entry.addresses.allSatisfy(FieldText.isSafe) else { return "" }
        var text = entry.addresses.map { $0 + "\t" }.joined() + "\n gid=\(entry.gid)\n"
        let values = entry.options.over(common).values
        for (name, value) in values.sorted(by: { $0.key < $1.key }) where isKept(name, value, of: entry) {
            text += Aria2Option.sessionLines(name, value).joined()
        }
        return text
    }

    /// The addresses are expanded already, and a default need not be written.
    private static func isKept(_ name: String, _ value: String, of entry: Aria2cEntry) -> Bool {
        guard let option = Aria2Option.table[name], option.scope.contains(.initial) else { return false }
        if ["gid", "parameterized-uri", "force-sequential"].contains(name) { return false }
        if name == "out" { return !value.isEmpty }
        return entry.options[name] != nil || Aria2cOptions.defaults[name].flatMap(option.normal) != value
    }
}
