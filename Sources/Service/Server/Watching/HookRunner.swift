import Glibc
import PawlBase
import PawlSystem

/// Runs hooks, a few at once, and waits for them only at shutdown.
final class HookRunner: Sendable {
    /// Hooks that run at the same time.
    static let limit = 8
    /// Limit of waiting hooks; further ones are dropped.
    static let room = 1000

    private let queue = WorkQueue(
        "pawl-hook", .brief, threads: HookRunner.limit, room: HookRunner.limit + HookRunner.room)
    private let log: ServiceLog?

    init(log: ServiceLog?) { self.log = log }

    /// No hook is started any more.
    var isClosing: Bool { queue.isClosed }

    /// Calls `done` when the program has ended or will never run.
    ///
    /// `file` gives further arguments when the program is started, which may be long after the call.
    func run(
        _ words: [String], done: @escaping @Sendable () -> Void = {}, file: @escaping @Sendable () -> [String] = { [] }
    ) {
        guard queue.hasRoom else {
            log?.note(
                Failure(
                    .unknown, "skipped hook", at: words.joined(separator: " "), because: "too many hooks are waiting"))
            return done()
        }
        queue.submit { [self] in if perform(words, file) { done() } }
    }

    /// Starts no further hook and gives running ones some time to end.
    func close(within bound: Duration) async {
        queue.close()
        let over = queue.rest()
        let clock = Task {
            try? await Task.sleep(for: bound)
            over.open()
        }
        await over.opened()
        clock.cancel()
        let left = queue.running
        guard left > 0 else { return }
        log?.note(
            Failure(
                .unfinished, "did not wait for", at: "\(left) hooks",
                because: "they did not end within \(bound.components.seconds) s",
                remedy: "they run again at the next start"))
    }

    private static func isLink(_ path: String) -> Bool {
        var status = stat()
        guard path.utf8.contains(UInt8(ascii: "/")), unsafe lstat(path, &status) == 0 else { return false }
        return status.st_mode & S_IFMT == S_IFLNK
    }

    /// `false` when it is to run at the next start.
    private func perform(_ words: [String], _ file: () -> [String]) -> Bool {
        do throws(Failure) {
            // A user who can change the link could choose the program.
            guard !Self.isLink(words[0]) else {
                throw Failure(
                    .cannotOpen, "cannot run", at: words[0], because: "it is a symbolic link",
                    remedy: "use the path of the program itself")
            }
            guard let code = try status(of: words, file) else { return false }
            guard code != 0 else { return true }
            log?.note(Failure(.unknown, "hook failed:", at: words[0], because: "exit code \(code)"))
        } catch { log?.note(error) }
        return true
    }

    /// Runs the program, as soon as the system allows another process; `nil` when it did not before the shutdown.
    private func status(of words: [String], _ file: () -> [String]) throws(Failure) -> Int32? {
        var delay = 0.1
        while true {
            do throws(Failure) {
                return try ChildProcess.run(words[0], words.dropFirst() + file())
            } catch  where error.isOfScarcity {
                if isClosing { return nil }
                SystemThread.sleep(seconds: delay)
                delay = min(delay * 2, 5)
            }
        }
    }
}
