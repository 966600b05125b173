import Glibc
import Pawl

/// Where a session's files are.
struct SessionFolders: Sendable {
    /// The queue and the tasks' files.
    let root: String
    /// Partials of tasks that were cancelled with resume data, whoever goes on with them.
    let partials: String
    /// What a background session has; others go when they are over.
    let session: SessionRoot?

    init(_ configuration: DownloadSessionConfiguration) {
        let state = configuration.stateFolder
        partials = "\(state)/.partials"
        session = configuration.identifier.map { SessionRoot(of: $0, in: state) }
        root = session?.path ?? "\(state)/.passing-\(getpid())-\(Self.random)"
    }

    static var random: String { Download.ID(rawValue: .random(in: 1 ... .max)).description }

    /// Makes the folder of partials, for this user alone.
    func makePartials() {
        var path = ""
        for part in partials.split(separator: "/") {
            path += (path.isEmpty && !partials.hasPrefix("/") ? "" : "/") + part
            unsafe mkdir(path, 0o700)
        }
    }

    /// Why a partial is kept.
    enum Cause: String {
        /// It was asked for: nobody but its new task removes it.
        case wish = "PawlDownload_"
        /// Perhaps nobody looks at the error: it is removed after a month.
        case failure = "PawlDownload_failed_"
    }

    /// Takes a partial out of a task's folder and gives the name under which resume data finds it.
    func keepPartial(_ path: String, journal: String, outOf cause: Cause) -> String? {
        makePartials()
        let name = "\(cause.rawValue)\(Self.random).tmp"
        guard unsafe rename(path, "\(partials)/\(name)") == 0 else { return nil }
        unsafe unlink(journal)
        return name
    }

    /// Takes a kept partial for this session: only the first who asks gets it.
    func takePartial(_ name: String) -> Bool {
        unsafe rename("\(partials)/\(name)", "\(root)/\(name)") == 0
    }

    static func isOwnPartial(_ name: String?) -> Bool { name?.hasPrefix(Cause.wish.rawValue) == true }

    func dropPartial(_ name: String) { unsafe unlink("\(root)/\(name)") }
    static func length(of path: String) -> Int64 {
        var status = stat()
        return unsafe stat(path, &status) == 0 ? Int64(status.st_size) : 0
    }

    /// Only an empty one goes.
    func dropFolder(_ name: String) { unsafe rmdir("\(root)/\(name)") }

    /// Removes a passing session's folder: its name holds a process and a random number, so it is nobody else's.
    func dropPassing() {
        if session == nil { Self.remove(root) }
    }

    private static let month = 30 * 86_400

    /// Removes what passing sessions of processes left that are no more, and old partials of failed tasks that nobody
    /// went on with.
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
        // A link is unlinked here, and never followed.
        guard unsafe unlink(path) != 0 else { return }
        for name in SessionRoot.names(in: path) { remove("\(path)/\(name)") }
        unsafe rmdir(path)
    }
}
