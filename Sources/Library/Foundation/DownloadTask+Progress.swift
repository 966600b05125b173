public import Foundation
public import PawlSession

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
