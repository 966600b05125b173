import Pawl
import Synchronization

/// Removals that can still be undone for some seconds.
///
/// A download to be removed is suspended at once and keeps its slot, so that undoing the removal changes nothing. The
/// service completes pending removals before it stops.
final class PendingRemovals: Sendable {
    private struct PendingRemoval {
        let keepsFile: Bool
        /// It ran or waited.
        let wasUnderWay: Bool
        let timer: Task<Void, Never>
    }

    private let manager: DownloadManager
    private let leaving = Mutex<[Download.ID: PendingRemoval]>([:])
    private let listener = Mutex<(@Sendable (PawlError) -> Void)?>(nil)

    init(_ manager: DownloadManager) { self.manager = manager }

    /// Whom failures are told to: who asked for the removal has its reply already.
    func listen(_ listener: @escaping @Sendable (PawlError) -> Void) { self.listener.withLock { $0 = listener } }

    func holds(_ id: Download.ID) -> Bool { leaving.withLock { $0[id] != nil } }

    /// Removes a download after `delay`, unless this is undone; `false` if there is no such download, or if it is
    /// being removed.
    func remove(_ id: Download.ID, in step: QueueStep, keepingFile: Bool, after delay: Duration) throws -> Bool {
        guard let snapshot = try step.snapshot(of: id), snapshot.state != .removed, !holds(id) else { return false }
        let wasUnderWay = try step.perform(.pause(id, keepsSlot: true)).isChange
        let timer = Task {
            guard (try? await Task.sleep(for: delay)) != nil else { return }
            await self.complete(id)
        }
        leaving.withLock { $0[id] = PendingRemoval(keepsFile: keepingFile, wasUnderWay: wasUnderWay, timer: timer) }
        return true
    }

    /// Undoes a removal; `false` if it is too late.
    func restore(_ id: Download.ID, in step: QueueStep) throws -> Bool {
        guard let pendingRemoval = leaving.withLock({ $0.removeValue(forKey: id) }) else { return false }
        pendingRemoval.timer.cancel()
        if pendingRemoval.wasUnderWay { try step.perform(.resume(id)) }
        return true
    }

    /// Completes all pending removals now.
    func completeAll() async { for id in leaving.withLock({ Array($0.keys) }) { await complete(id) } }

    private func complete(_ id: Download.ID) async {
        guard let pendingRemoval = leaving.withLock({ $0.removeValue(forKey: id) }) else { return }
        do throws(PawlError) { try await manager.remove(id, keepingFile: pendingRemoval.keepsFile) } catch {
            listener.withLock { $0 }?(error)
        }
    }
}
