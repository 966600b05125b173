import Glibc
import Pawl
package import PawlCore
import Synchronization

/// The service's log: a line for each thing that happened, for people or for programs, without secrets.
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

    private let descriptor: Int32
    private let format: Format
    /// Whole lines, whichever thread writes them.
    private let turn = Mutex<Void>(())

    /// Appends to a file that only its owner can read, or writes to standard error for `nil`.
    package init(path: String?, format: Format) throws(Failure) {
        self.format = format
        guard let path else {
            descriptor = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)
            return
        }
        descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw Failure(
                .cannotOpen,
                "cannot open",
                at: path,
                because: unsafe String(cString: strerror(errno))
            )
        }
    }

    deinit { close(descriptor) }

    /// What happened to a download.
    func note(_ event: DownloadEvent) {
        let level: Level
        switch event.kind {
        case .state(let state):
            // What else there is follows from the events that are noted.
            guard [.paused, .preempted, .removed, .waitingForNetwork].contains(state) else { return }
            level = .info
        case .changed: return
        case .added, .started, .notice, .finished: level = .info
        case .retry, .missed: level = .warning
        case .failed: level = .error
        }
        note(level, ServiceEvent.json(event).members ?? [])
    }

    /// What happened to the service itself.
    package func note(_ event: String, _ text: String) {
        note(.info, [JSON.Member("event", .string(event)), JSON.Member("message", .string(text))])
    }

    /// What the service could not do.
    func note(_ failure: Failure) {
        note(
            .error,
            [JSON.Member("event", "trouble"), JSON.Member("message", .string(failure.description))]
        )
    }

    private func note(_ level: Level, _ members: [JSON.Member]) {
        let head = [
            JSON.Member("time", .string(ServiceLog.now())), JSON.Member("level", .string(level.rawValue)),
        ]
        let line: [UInt8]
        switch format {
        case .json: line = JSON.object(head + members).utf8
        case .text:
            let parts = head.compactMap(\.value.string) + [members.first?.value.string ?? ""]
            // As JSON writes them, so that no name begins a line of its own.
            let rest = members.dropFirst().map { "\($0.name)=\($0.value.text)" }
            line = Array((parts + rest).joined(separator: " ").utf8)
        }
        write(line + [UInt8(ascii: "\n")])
    }

    private func write(_ bytes: [UInt8]) {
        turn.withLock { _ in
            var start = 0
            while start < bytes.count {
                let count = unsafe bytes.withUnsafeBytes { all in
                    unsafe Glibc.write(descriptor, all.baseAddress?.advanced(by: start), all.count - start)
                }
                // A full disk must not stop the service.
                guard count > 0 || errno == EINTR else { return }
                start += max(0, count)
            }
        }
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
