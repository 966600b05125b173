import Pawl
import PawlBase

/// Runs a program when the last download has ended, with or without success: what is left is paused, or nothing.
actor IdleWatcher {
    private let manager: DownloadManager
    private let collections: CollectionQueue
    private let program: String?
    private let atEnd: AtEnd
    private let runner: HookRunner
    /// Whether something has run or was added since the program was run.
    private var isBusy: Bool

    init(
        _ manager: DownloadManager, _ collections: CollectionQueue, _ configuration: ServiceConfiguration, isBusy: Bool
    ) {
        self.manager = manager
        self.collections = collections
        self.isBusy = isBusy
        program = configuration.hooks.idle
        atEnd = configuration.atEnd
        runner = HookRunner(log: configuration.log)
    }

    func hear(_ event: DownloadEvent) async {
        guard program != nil else { return }
        switch event.kind {
        case .added, .started: isBusy = true
        case .finished, .failed, .missed: await look()
        case .state, .notice, .retry, .changed, .queueChanged: break
        }
    }

    /// Something has ended that may have been the last.
    func look() async {
        guard let program, isBusy, await isIdle() else { return }
        // Meanwhile it may have been run, or something been added.
        guard isBusy else { return }
        isBusy = false
        if atEnd.action == .command { runner.run([program]) }
    }

    private func isIdle() async -> Bool {
        guard let isIdle = try? await manager.isIdle(), isIdle,
            let snapshots = try? await collections.snapshots()
        else { return false }
        return snapshots.allSatisfy { [.finished, .failed, .removed, .paused].contains($0.state) }
    }

    func close(by deadline: ContinuousClock.Instant) async { await runner.close(within: max(.zero, deadline - .now)) }
}
