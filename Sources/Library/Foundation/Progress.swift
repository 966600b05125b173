public import Foundation
public import Pawl
public import PawlSession

extension Download {
    /// This download as a `Progress`, for a progress bar or a tree of progresses.
    ///
    /// It follows ``Pawl/Download/updates`` until the download has ended. Its unit is the byte; while the
    /// size is unknown it is indeterminate (`totalUnitCount` is −1). Pausing or cancelling it pauses the
    /// download, resuming it resumes the download.
    public func makeProgress() -> Progress {
        let progress = Progress(totalUnitCount: -1)
        progress.kind = .file
        progress.isPausable = true
        progress.isCancellable = true
        progress.pausingHandler = { [weak self] in self?.pause() }
        progress.resumingHandler = { [weak self] in self?.resume() }
        progress.cancellationHandler = { [weak self] in self?.pause() }
        show(snapshot, in: progress)
        Task { [weak progress, updates] in
            for await snapshot in updates {
                guard let progress else { return }
                self.show(snapshot, in: progress)
            }
        }
        return progress
    }

    private func show(_ snapshot: DownloadSnapshot, in progress: Progress) {
        if snapshot.state == .finished, snapshot.written == 0 { return progress.completeEmpty() }
        progress.totalUnitCount = snapshot.total ?? -1
        progress.completedUnitCount = min(snapshot.written, snapshot.total ?? snapshot.written)
        // Linux's Progress has no properties for these two.
        progress.setUserInfoObject(Int(clamping: snapshot.smoothedSpeed), forKey: .throughputKey)
        progress.setUserInfoObject(snapshot.timeLeft?.seconds, forKey: .estimatedTimeRemainingKey)
    }
}

extension Progress {
    /// A finished file without content is one unit of one: zero of zero is never finished, neither is a tree with it.
    func completeEmpty() { (totalUnitCount, completedUnitCount) = (1, 1) }
}

#if Queue
extension DownloadTask {
    /// The task's progress in bytes, for a progress bar or a tree of progresses.
    ///
    /// It is indeterminate (`totalUnitCount` is −1) while the size is unknown. Cancelling it cancels the task;
    /// pausing it suspends the task, and resuming it resumes the task.
    public var progress: Progress {
        shown {
            let progress = Progress(totalUnitCount: DownloadTask.unknownSize)
            progress.kind = .file
            progress.isPausable = true
            progress.isCancellable = true
            progress.pausingHandler = { [weak self] in self?.suspend() }
            progress.resumingHandler = { [weak self] in self?.resume() }
            progress.cancellationHandler = { [weak self] in self?.cancel() }
            return progress
        } update: { progress, task in
            if task.state == .completed, task.sessionError == nil, task.countOfBytesReceived == 0 {
                return progress.completeEmpty()
            }
            progress.totalUnitCount = task.countOfBytesExpectedToReceive
            progress.completedUnitCount = task.countOfBytesReceived
        }
    }
}
#endif
