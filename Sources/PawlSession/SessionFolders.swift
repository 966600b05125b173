import Glibc
import Pawl

/// The folders of a session.
struct SessionFolders: Sendable {
    /// The folder of the queue and the tasks' files.
    let root: String
    /// The folder of part files of tasks cancelled with resume data, shared by all sessions.
    let partials: String
    /// The root of a background session; other sessions' folders are removed at their end.
    let session: SessionRoot?

    init(_ configuration: DownloadSessionConfiguration) {
        let state = configuration.stateFolder
        partials = "\(state)/.partials"
        session = configuration.identifier.map { SessionRoot(of: $0, in: state) }
        root = session?.path ?? "\(state)/.passing-\(getpid())-\(Self.random)"
    }

    static var random: String { Download.ID(rawValue: .random(in: 1 ... .max)).description }

    /// Creates the folder of part files, accessible to this user only.
    func makePartials() {
        var path = ""
        for part in partials.split(separator: "/") {
            path += (path.isEmpty && !partials.hasPrefix("/") ? "" : "/") + part
            unsafe mkdir(path, 0o700)
        }
    }

    /// The reason why a part file is kept.
    enum Cause: String {
        /// Requested by the caller: only its new task removes it.
        case request = "PawlDownload_"
        /// Attached to an error, which the caller may ignore: it is removed after a month.
        case failure = "PawlDownload_failed_"
    }

    /// Moves a part file out of a task's folder and returns the name for the resume data.
    func keepPartial(_ path: String, journal: String, outOf cause: Cause) -> String? {
        makePartials()
        let name = "\(cause.rawValue)\(Self.random).tmp"
        guard unsafe rename(path, "\(partials)/\(name)") == 0 else { return nil }
        unsafe unlink(journal)
        return name
    }

    /// Moves a kept part file into this session; only the first caller succeeds.
    func takePartial(_ name: String) -> Bool {
        unsafe rename("\(partials)/\(name)", "\(root)/\(name)") == 0
    }

    static func isOwnPartial(_ name: String?) -> Bool { name?.hasPrefix(Cause.request.rawValue) == true }

    func dropPartial(_ name: String) { unsafe unlink("\(root)/\(name)") }
    static func length(of path: String) -> Int64 {
        var status = stat()
        return unsafe stat(path, &status) == 0 ? Int64(status.st_size) : 0
    }

    /// Removes an empty folder.
    func dropFolder(_ name: String) { unsafe rmdir("\(root)/\(name)") }

    /// Removes a temporary session's folder: its name contains a process id and a random number, so it is
    /// unique.
    func dropPassing() {
        if session == nil { Self.remove(root) }
    }

    private static let month = 30 * 86_400

    /// Removes temporary sessions of processes that have exited, and old part files of failed tasks that were
    /// never resumed.
    static func sweep(_ state: String) {
        let partials = "\(state)/.partials"
        for name in SessionRoot.names(in: partials) where name.hasPrefix(Cause.failure.rawValue) {
            let path = "\(partials)/\(name)"
            if changed(path) < time(nil) - month { unsafe unlink(path) }
        }
        for name in SessionRoot.names(in: state) {
            let parts = name.split(separator: "-")
            guard parts.count == 3, parts[0] == ".passing", let process = pid_t(parts[1]) else { continue }
            if kill(process, 0) != 0, errno == ESRCH { remove("\(state)/\(name)") }
        }
    }

    private static func changed(_ path: String) -> time_t {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return .max }
        return status.st_mtim.tv_sec
    }

    private static func remove(_ path: String) {
        // A symbolic link is unlinked here, and never followed.
        guard unsafe unlink(path) != 0 else { return }
        for name in SessionRoot.names(in: path) { remove("\(path)/\(name)") }
        unsafe rmdir(path)
    }
}
