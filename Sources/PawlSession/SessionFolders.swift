import Pawl

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Where a session's files are.
struct SessionFolders: Sendable {
    /// The queue and the tasks' files.
    let root: String
    /// Partials of tasks that were cancelled with resume data, whoever goes on with them.
    let partials: String
    /// It goes when the session is over.
    let isPassing: Bool

    init(_ configuration: DownloadSessionConfiguration) {
        let state = configuration.stateFolder
        partials = "\(state)/.partials"
        isPassing = configuration.identifier == nil
        if let identifier = configuration.identifier {
            root = "\(state)/\(Self.escaped(identifier))"
        } else {
            root = "\(state)/.passing-\(getpid())-\(Self.random)"
        }
    }

    static var random: String { Download.ID(rawValue: .random(in: 1 ... .max)).description }

    /// One path component that never begins with a dot, and another one for another identifier.
    static func escaped(_ identifier: String) -> String {
        var text = ""
        for byte in identifier.utf8 {
            let isPlain =
                (0x30...0x39 ~= byte) || (0x41...0x5A ~= byte) || (0x61...0x7A ~= byte) || byte == 0x2D
                || (byte == 0x2E && !text.isEmpty)
            let digits = String(byte, radix: 16, uppercase: true)
            text +=
                isPlain ? String(UnicodeScalar(byte)) : "%" + (digits.utf8.count == 1 ? "0" : "") + digits
        }
        return text.isEmpty ? "%" : text
    }

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
        if isPassing { Self.remove(root) }
    }

    private static let month = 30 * 86_400

    /// Removes what passing sessions of processes left that are no more, and old partials of failed tasks that nobody
    /// went on with.
    static func sweep(_ state: String) {
        let partials = "\(state)/.partials"
        for name in names(in: partials) where name.hasPrefix(Cause.failure.rawValue) {
            let path = "\(partials)/\(name)"
            if changed(path) < time(nil) - month { unsafe unlink(path) }
        }
        for name in names(in: state) {
            let parts = name.split(separator: "-")
            guard parts.count == 3, parts[0] == ".passing", let process = pid_t(parts[1]) else { continue }
            if kill(process, 0) != 0, errno == ESRCH { remove("\(state)/\(name)") }
        }
    }

    private static func changed(_ path: String) -> time_t {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return .max }
        #if canImport(Darwin)
        return status.st_mtimespec.tv_sec
        #else
        return status.st_mtim.tv_sec
        #endif
    }

    private static func names(in folder: String) -> [String] {
        guard let directory = unsafe opendir(folder) else { return [] }
        defer { unsafe closedir(directory) }
        var names: [String] = []
        while let entry = unsafe readdir(directory) {
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                unsafe String(decoding: unsafe bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names
    }

    private static func remove(_ path: String) {
        // A link is unlinked here, and never followed.
        guard unsafe unlink(path) != 0 else { return }
        for name in names(in: path) { remove("\(path)/\(name)") }
        unsafe rmdir(path)
    }
}
