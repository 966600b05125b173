#if Queue
import Glibc
import Pawl
import PawlBase
import PawlJournal
import PawlSystem

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
        for part in partials.pathParts() {
            path += (path.isEmpty && !partials.isAbsolutePath ? "" : "/") + part
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
    ///
    /// A kill may have come right after.
    func takePartial(_ name: String) -> Bool {
        unsafe rename("\(partials)/\(name)", "\(root)/\(name)") == 0 || access("\(root)/\(name)", F_OK) == 0
    }

    /// Whether a kill came after the part file of a task had been taken over, and before the task was stored.
    func hasTakenOver(_ folder: String) -> Bool {
        FolderTree.names(in: "\(root)/\(folder)").contains { name in
            FileName.PartForm.allCases.contains { name.endsWithBytes(of: $0.partialEnding) }
        }
    }

    /// Moves a part file that was taken, and perhaps taken over, but not used, to where its resume data finds it again.
    func returnPartial(_ name: String, _ adopted: AdoptedPart?, in folder: String) {
        let target = "\(partials)/\(name)"
        var isReturned = unsafe rename("\(root)/\(name)", target) == 0
        guard let adopted else { return }
        if !isReturned { isReturned = unsafe rename(adopted.part, target) == 0 }
        guard isReturned else { return }
        unsafe unlink(adopted.part)
        unsafe unlink(adopted.journal)
        dropFolder(folder)
    }

    // MARK: tasks from resume data

    /// Remembers, across a kill, which task the resume data of this partial file was used for.
    func remember(_ note: TaskNote) {
        guard let partial = note.partial else { return }
        resumed(partial)?.replace(with: Array(note.text.utf8))
    }

    /// The task that the resume data of this partial file was used for.
    func remembered(_ partial: String) -> TaskNote? {
        guard let bytes = resumed(partial)?.read(atMost: 1 << 20) ?? nil, !bytes.isEmpty else { return nil }
        return TaskNote(String(decoding: bytes, as: UTF8.self))
    }

    /// That task has ended.
    func forget(_ partial: String) {
        guard let session else { return }
        unsafe unlink("\(session.path)/.pawl/resumed/\(partial)")
    }

    private func resumed(_ partial: String) -> StateFile? {
        guard let session, Self.isOwnPartial(partial), !partial.hasSlash else { return nil }
        return StateFile(partial, in: "\(session.path)/.pawl/resumed")
    }

    // MARK: responses that are no content

    /// The name that content from this response would have.
    static func fileName(for response: DownloadResponse, _ url: String) -> String {
        guard let address = try? WebAddress.parse(response.url.isEmpty ? url : response.url).address else {
            return "response"
        }
        var head = ResponseHead(status: response.status)
        head.contentDisposition = response.contentDisposition
        head.contentType = response.contentType
        return NamingPolicy.choose(.server, address: address, head: head, charsets: .system)
    }

    /// Writes a file into a task's folder, and returns its path.
    func write(_ bytes: [UInt8], to name: String, in folder: String) -> String? {
        unsafe mkdir("\(root)/\(folder)", 0o700)
        let path = "\(root)/\(folder)/\(name)"
        do throws(Failure) { try AtomicFile.replace(path, with: bytes, permissions: 0o644, syncs: false) } catch {
            return nil
        }
        return path
    }

    /// Removes a file, if it is still there.
    func remove(_ path: String) { unsafe unlink(path) }

    /// Seconds since 1970.
    static var now: Double {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
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
    func dropPassing() { if session == nil { FolderTree.remove(root) } }

    private static let month = 30 * 86_400

    /// Removes temporary sessions of processes that have exited, and old part files of failed tasks that were
    /// never resumed.
    static func sweep(_ state: String) {
        let partials = "\(state)/.partials"
        for name in FolderTree.names(in: partials) where name.hasPrefix(Cause.failure.rawValue) {
            let path = "\(partials)/\(name)"
            if changed(path) < time(nil) - month { unsafe unlink(path) }
        }
        for name in FolderTree.names(in: state) {
            let parts = name.split(separator: "-")
            guard parts.count == 3, parts[0] == ".passing", let process = pid_t(parts[1]) else { continue }
            if kill(process, 0) != 0, errno == ESRCH { FolderTree.remove("\(state)/\(name)") }
        }
    }

    private static func changed(_ path: String) -> time_t {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return .max }
        return status.st_mtim.tv_sec
    }
}
#endif
