import Pawl
import PawlBase
import Synchronization

/// What happens when the last download has ended; the queue keeps it.
package final class AtEnd: Sendable {
    package enum Action: String, Sendable, CaseIterable {
        case nothing
        /// Run the program that ``Hooks/idle`` names.
        case command
    }

    private let state = Mutex(Action.command)
    private static let place = "at end"

    package init() {}

    package var action: Action { state.withLock { $0 } }

    /// Restores the one of an earlier service.
    func load(from manager: DownloadManager, log: ServiceLog?) async {
        do throws(PawlError) {
            let kept = try await manager.keptText(AtEnd.place).flatMap(Action.init(rawValue:))
            state.withLock { $0 = kept ?? .command }
        } catch { log?.note(error.failure) }
    }

    func change(to action: Action, in manager: DownloadManager) async throws {
        try await manager.keep(action.rawValue, as: AtEnd.place) { [self] in state.withLock { $0 = action } }
    }
}
