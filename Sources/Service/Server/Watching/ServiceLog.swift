import Glibc
import Pawl
package import PawlBase
import PawlSystem
import Synchronization

/// The service's log: one line per event, as text or JSON, without secrets.
package final class ServiceLog: Sendable {
    package enum Format: String, Sendable, CaseIterable {
        case text
        case json
    }

    enum Level: String {
        case info
        case warning
        case error
    }

    private struct File {
        /// Negative until it is open.
        var descriptor: Int32 = -1
        var size: Int64 = 0
    }

    private let path: String?
    private let format: Format
    /// At this size the file is renamed to `NAME.1`, replacing the one before; `nil` for a file that is rotated by
    /// other means.
    private let limit: Int64?
    /// Whole lines, from any thread.
    private let file = Mutex(File())

    /// Appends to a file that only its owner can read, or writes to standard error for `nil`.
    package init(path: String?, format: Format) throws(Failure) {
        self.path = path
        self.format = format
        limit = nil
        let number = file.withLock { ServiceLog.open(&$0, path) }
        guard let path, number != 0 else { return }
        throw Self.failure(number, path)
    }

    /// A descriptor that appends to `path`, under the rules of a log.
    package static func descriptor(of path: String, permissions: UInt32) throws(Failure) -> Int32 {
        var file = File()
        let number = open(&file, path, permissions)
        guard number == 0 else { throw failure(number, path) }
        return file.descriptor
    }

    private static func failure(_ number: Int32, _ path: String) -> Failure {
        Failure(
            .cannotOpen, "cannot open", at: path,
            because: number == ELOOP
                ? "it is a symbolic link"
                : number == EMLINK ? "it has other hard links" : SystemError(number: number).text,
            remedy: number == ELOOP || number == EMLINK ? "use a file without links" : .checkPath)
    }

    /// Appends to a file of at most `limit` bytes, created with the first line.
    package init(path: String, format: Format, limit: Int64) {
        self.path = path
        self.format = format
        self.limit = limit
    }

    deinit { close(file.withLock(\.descriptor)) }

    /// 0 or an errno value.
    private static func open(_ file: inout File, _ path: String?, _ permissions: UInt32 = 0o600) -> Int32 {
        if let path {
            let flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
            file.descriptor = unsafe Glibc.open(path, flags, permissions)
        } else {
            file.descriptor = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)
        }
        guard file.descriptor >= 0 else { return errno }
        var status = stat()
        file.size = unsafe fstat(file.descriptor, &status) == 0 ? Int64(status.st_size) : 0
        // A file with another name may belong to another user.
        guard path == nil || status.st_mode & S_IFMT != S_IFREG || status.st_nlink == 1 else {
            close(file.descriptor)
            file.descriptor = -1
            return EMLINK
        }
        return 0
    }

    /// Logs an event of a download.
    func note(_ event: DownloadEvent) {
        let level: Level
        switch event.kind {
        case .state(let state):
            // Other states follow from events that are logged.
            guard [.paused, .preempted, .removed, .waitingForNetwork, .waitingForDisk].contains(state) else { return }
            level = .info
        case .changed, .queueChanged: return
        case .added, .started, .notice, .finished: level = .info
        case .retry, .missed: level = .warning
        case .failed: level = .error
        }
        note(level, ServiceJSON.json(event).members ?? [])
    }

    /// Logs an event of the service.
    package func note(_ event: String, _ text: String) {
        note(.info, [JSON.Member("event", .string(event)), JSON.Member("message", .string(text))])
    }

    /// Logs a failure of the service.
    package func note(_ failure: Failure) {
        note(.error, [JSON.Member("event", "trouble"), JSON.Member("message", .string(failure.description))])
    }

    private func note(_ level: Level, _ members: [JSON.Member]) {
        let head = [JSON.Member("time", .string(ServiceLog.now())), JSON.Member("level", .string(level.rawValue))]
        let line: [UInt8]
        switch format {
        case .json: line = JSON.object(head + members).utf8
        case .text:
            let parts = head.compactMap(\.value.string) + [members.first?.value.string ?? ""]
            // Escaped as in JSON, so that no name can begin a new line.
            let rest = members.dropFirst().map { "\($0.name)=\($0.value.text)" }
            line = Array((parts + rest).joined(separator: " ").utf8)
        }
        write(line + [UInt8(ascii: "\n")])
    }

    private func write(_ bytes: [UInt8]) {
        file.withLock { file in
            makeRoom(for: bytes.count, &file)
            // A full disk must not stop the service.
            do throws(SystemError) { try WholeWrite.perform(bytes, to: file.descriptor) } catch { return }
            file.size += Int64(bytes.count)
        }
    }

    private func makeRoom(for count: Int, _ file: inout File) {
        guard let limit, let path else { return }
        if file.descriptor < 0 { _ = ServiceLog.open(&file, path) }
        // A device or a link keeps its name.
        guard file.descriptor >= 0, file.size > 0, file.size + Int64(count) > limit,
            AtomicFile.kind(of: path) == S_IFREG
        else { return }
        close(file.descriptor)
        _ = unsafe rename(path, path + ".1")
        file = File()
        _ = ServiceLog.open(&file, path)
    }

    /// RFC 3339, in UTC.
    private static func now() -> String {
        var clock = time(nil)
        var parts = unsafe tm()
        unsafe gmtime_r(&clock, &parts)
        func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let day = unsafe "\(parts.tm_year + 1900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday))"
        return unsafe "\(day)T\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec))Z"
    }
}
