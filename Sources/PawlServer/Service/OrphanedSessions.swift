import Pawl
import PawlCore
import Synchronization

/// Goes on with background sessions whose programs are gone, until these are there again or nothing is left to do (A2).
///
/// What a session's delegate would have heard stays in its queue, and is told by the program that makes the session again.
final class OrphanedSessions: Sendable {
    private enum Standing {
        /// It has work, or that is just being found out.
        case here(isAtWork: Bool)
        /// There is nothing to do before a program has had it again.
        case settled(run: UInt64)
    }

    private enum Ending: String {
        case done = "nothing is left to do"
        case claimed = "its program is there again"
        case stopped = "the service stops"
    }

    /// Each has threads of its own.
    private static let most = 16
    /// How long a session may have been left before it is seen.
    private static let pace = Duration.seconds(2)
    /// How long a program that is there again waits at most before it is seen.
    private static let glance = Duration.milliseconds(50)
    /// Glances between two looks at what is left to do.
    private static let glances = 20

    private let state: String
    private let manager: DownloadManager
    private let log: ServiceLog?
    private let book = Mutex<[SessionRoot: Standing]>([:])
    private let watch = Mutex<Task<Void, Never>?>(nil)

    /// `manager` is the one with whose downloads they share the limit.
    init(in state: String, beside manager: DownloadManager, log: ServiceLog?) {
        self.state = state
        self.manager = manager
        self.log = log
    }

    /// Sessions that are gone on with.
    var count: Int {
        book.withLock { $0.values.count { if case .here(isAtWork: true) = $0 { true } else { false } } }
    }

    func begin() {
        let task = Task {
            await withDiscardingTaskGroup { group in
                repeat {
                    for (root, run) in found() { group.addTask { await self.goOn(with: root, leftBy: run) } }
                } while await Self.rest(Self.pace)
            }
        }
        watch.withLock { $0 = task }
    }

    /// Lets go of all of them.
    func close() async {
        let task = watch.withLock { $0 }
        task?.cancel()
        await task?.value
    }

    /// `false` when the service stops.
    private static func rest(_ span: Duration) async -> Bool { (try? await Task.sleep(for: span)) != nil }

    // MARK: which

    /// Sessions that are to be looked at, and the runs of the programs that left them.
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

    // MARK: one of them

    private func goOn(with root: SessionRoot, leftBy run: UInt64) async {
        do throws(PawlError) {
            let manager = try await DownloadManager(goingOnIn: root.path, beside: manager)
            let ending: Result<Ending, PawlError>
            do throws(PawlError) {
                ending = .success(try await attend(root, run, manager))
            } catch {
                ending = .failure(error)
            }
            await manager.shutDown()
            let isTold = book.withLock { if case .here(isAtWork: true) = $0[root] { true } else { false } }
            let words = try ending.get()
            if isTold { log?.note("letGo", "let go of the session \(root.name): \(words.rawValue)") }
            set(root, words == .done ? .settled(run: run) : nil)
        } catch {
            // A program, or another service, was quicker.
            let isTaken = error.code == .alreadyDownloading
            if !isTaken { log?.note(error.failure) }
            set(root, isTaken ? nil : .settled(run: run))
        }
    }

    /// Returns when the session is to be let go of.
    private func attend(
        _ root: SessionRoot,
        _ run: UInt64,
        _ manager: DownloadManager
    ) async throws(PawlError) -> Ending {
        guard try await manager.hasWork else { return .done }
        set(root, .here(isAtWork: true))
        log?.note("adopted", "going on with the session \(root.name), whose program is gone")
        while true {
            for _ in 0..<Self.glances {
                guard await Self.rest(Self.glance) else { return .stopped }
                guard root.leftBy == run else { return .claimed }
            }
            guard try await manager.hasWork else { return .done }
        }
    }
}
