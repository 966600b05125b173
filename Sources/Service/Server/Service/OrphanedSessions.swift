import Pawl
import Synchronization

/// Takes over orphaned background sessions until their programs return or nothing is left to do.
///
/// Events for a session's delegate stay in its queue, and are delivered when a program creates the session again.
final class OrphanedSessions: Sendable {
    private enum Standing {
        /// It has work, or this is being determined.
        case here(isAtWork: Bool)
        /// There is nothing to do until a program has held it again.
        case settled(run: UInt64)
    }

    private enum Ending: String {
        case done = "no work is left"
        case claimed = "its program is running again"
        case stopped = "the service is stopping"
    }

    /// Each has threads of its own.
    private static let most = 16
    /// Interval of the search for orphaned sessions.
    private static let pace = Duration.seconds(2)
    /// Interval of the check whether a program has returned.
    private static let glance = Duration.milliseconds(50)
    /// Number of such checks after which the remaining work is checked once.
    private static let glances = 20

    private let state: String
    private let manager: DownloadManager
    private let log: ServiceLog?
    private let book = Mutex<[SessionRoot: Standing]>([:])
    private let watch = Mutex<Task<Void, Never>?>(nil)

    /// The sessions share the rate limit of the downloads of `manager`.
    init(in state: String, beside manager: DownloadManager, log: ServiceLog?) {
        self.state = state
        self.manager = manager
        self.log = log
    }

    /// Sessions being continued.
    var count: Int { book.withLock { $0.values.count { if case .here(isAtWork: true) = $0 { true } else { false } } } }

    func begin() {
        let task = Task {
            await withDiscardingTaskGroup { group in
                repeat {
                    for (root, run) in found() { group.addTask { await self.takeOver(root, leftBy: run) } }
                } while await Self.rest(Self.pace)
            }
        }
        watch.withLock { $0 = task }
    }

    /// Releases all sessions.
    func close() async {
        let task = watch.withLock { $0 }
        task?.cancel()
        await task?.value
    }

    /// `false` when the service stops.
    private static func rest(_ span: Duration) async -> Bool { (try? await Task.sleep(for: span)) != nil }

    // MARK: discovery

    /// Sessions to check, and the runs of the programs that left them.
    private func found() -> [(SessionRoot, UInt64)] {
        let left = SessionRoot.all(in: state).compactMap { root in root.leftBy.map { (root, $0) } }
        return book.withLock { book in
            var room = Self.most - book.values.count { if case .here = $0 { true } else { false } }
            return left.filter { root, run in
                switch book[root] {
                case .here: return false
                case .settled(run): return false
                case .settled, nil:
                    guard room > 0 else { return false }
                    room -= 1
                    book[root] = .here(isAtWork: false)
                    return true
                }
            }
        }
    }

    private func set(_ root: SessionRoot, _ standing: Standing?) { book.withLock { $0[root] = standing } }

    // MARK: a session

    private func takeOver(_ root: SessionRoot, leftBy run: UInt64) async {
        do throws(PawlError) {
            let manager = try await DownloadManager(resumingIn: root.path, beside: manager)
            let ending: Result<Ending, PawlError>
            do throws(PawlError) { ending = .success(try await attend(root, run, manager)) } catch {
                ending = .failure(error)
            }
            await manager.shutDown()
            let wasAtWork = book.withLock { if case .here(isAtWork: true) = $0[root] { true } else { false } }
            let end = try ending.get()
            if wasAtWork { log?.note("letGo", "released the session \(root.name): \(end.rawValue)") }
            set(root, end == .done ? .settled(run: run) : nil)
        } catch {
            // A program, or another service, claimed it first.
            let isTaken = error.code == .alreadyDownloading
            if !isTaken { log?.note(error.failure) }
            set(root, isTaken ? nil : .settled(run: run))
        }
    }

    /// Returns when the session must be released.
    private func attend(
        _ root: SessionRoot, _ run: UInt64, _ manager: DownloadManager
    ) async throws(PawlError) -> Ending {
        guard try await manager.hasWork else { return .done }
        set(root, .here(isAtWork: true))
        log?.note("adopted", "taking over the session \(root.name), whose program has exited")
        while true {
            for _ in 0..<Self.glances {
                guard await Self.rest(Self.glance) else { return .stopped }
                guard root.leftBy == run else { return .claimed }
            }
            guard try await manager.hasWork else { return .done }
        }
    }
}
