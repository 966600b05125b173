import Glibc
import PawlBase
import PawlSystem
import Synchronization

/// Runs hooks, a few at once, and waits for them only at shutdown.
final class HookRunner: Sendable {
    /// Hooks that run at the same time.
    static let limit = 8
    /// Limit of waiting hooks; further ones are dropped.
    static let room = 1000

    private struct Order {
        var words: [String]
        var file: @Sendable () -> [String]
        var done: @Sendable () -> Void
    }

    private struct State {
        var running = 0
        var waiting: [Order] = []
        /// No hook is started any more; finished when none is running.
        var closing: AsyncStream<Never>.Continuation?
    }

    private let state = Mutex(State())
    private let log: ServiceLog?

    init(log: ServiceLog?) { self.log = log }

    /// No hook is started any more.
    var isClosing: Bool { state.withLock { $0.closing != nil } }

    /// Calls `done` when the program has ended or will never run.
    ///
    /// `file` gives further arguments when the program is started, which may be long after the call.
    func run(
        _ words: [String], done: @escaping @Sendable () -> Void = {}, file: @escaping @Sendable () -> [String] = { [] }
    ) {
        enum Turn { case now, later, never }
        let order = Order(words: words, file: file, done: done)
        let turn = state.withLock { state -> Turn in
            guard state.closing == nil else { return .later }
            if state.running < HookRunner.limit {
                state.running += 1
                return .now
            }
            guard state.waiting.count < HookRunner.room else { return .never }
            state.waiting.append(order)
            return .later
        }
        switch turn {
        case .now: SystemThread.detached("pawl-hook") { self.work(from: order) }
        case .later: break
        case .never:
            log?.note(
                Failure(
                    .unknown, "skipped hook", at: words.joined(separator: " "), because: "too many hooks are waiting"))
            done()
        }
    }

    /// Starts no further hook and gives running ones some time to end.
    func close(within bound: Duration) async {
        let (ends, continuation) = AsyncStream.makeStream(of: Never.self)
        let isIdle = state.withLock { state in
            state.closing = continuation
            state.waiting = []
            return state.running == 0
        }
        if isIdle { return }
        let clock = Task {
            try? await Task.sleep(for: bound)
            continuation.finish()
        }
        for await _ in ends {}
        clock.cancel()
        let left = state.withLock(\.running)
        guard left > 0 else { return }
        log?.note(
            Failure(
                .unfinished, "did not wait for", at: "\(left) hooks",
                because: "they did not end within \(bound.components.seconds) s",
                remedy: "they run again at the next start"))
    }

    private func work(from first: Order) {
        var next: Order? = first
        while let order = next {
            if perform(order) { order.done() }
            next = state.withLock { state in
                guard !state.waiting.isEmpty else {
                    state.running -= 1
                    if state.running == 0 { state.closing?.finish() }
                    return nil
                }
                return state.waiting.removeFirst()
            }
        }
    }

    private static func isLink(_ path: String) -> Bool {
        var status = stat()
        guard path.utf8.contains(UInt8(ascii: "/")), unsafe lstat(path, &status) == 0 else { return false }
        return status.st_mode & S_IFMT == S_IFLNK
    }

    /// `false` when it is to run at the next start.
    private func perform(_ order: Order) -> Bool {
        let words = order.words
        do throws(Failure) {
            // A user who can change the link could choose the program.
            guard !Self.isLink(words[0]) else {
                throw Failure(
                    .cannotOpen, "cannot run", at: words[0], because: "it is a symbolic link",
                    remedy: "use the path of the program itself")
            }
            guard let code = try status(of: order) else { return false }
            guard code != 0 else { return true }
            log?.note(Failure(.unknown, "hook failed:", at: words[0], because: "exit code \(code)"))
        } catch { log?.note(error) }
        return true
    }

    /// Runs the program, as soon as the system allows another process; `nil` when it did not before the shutdown.
    private func status(of order: Order) throws(Failure) -> Int32? {
        var delay = 0.1
        while true {
            do throws(Failure) {
                return try ChildProcess.run(order.words[0], order.words.dropFirst() + order.file())
            } catch  where error.isOfScarcity {
                if isClosing { return nil }
                SystemThread.sleep(seconds: delay)
                delay = min(delay * 2, 5)
            }
        }
    }
}
