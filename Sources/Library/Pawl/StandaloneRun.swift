import PawlBase
import PawlEngine

/// Controls one download outside a queue.
final class StandaloneRun: DownloadOwner {
    private let scheduler: DownloadScheduler
    private let place: FileLocation
    let board: EventBoard

    init(scheduler: DownloadScheduler, place: FileLocation, board: EventBoard) {
        self.scheduler = scheduler
        self.place = place
        self.board = board
    }

    package func resume(_ id: Download.ID) { scheduler.resume(DownloadID(rawValue: id.rawValue)) }
    func pause(_ id: Download.ID) { scheduler.pause(DownloadID(rawValue: id.rawValue)) }
    func letGo(_ id: Download.ID) { scheduler.forget(DownloadID(rawValue: id.rawValue)) }

    func read(_ id: Download.ID, _ range: ByteRange, known: ByteRange) async -> PartBytes? {
        await scheduler.engine.read(range, known: known, of: DownloadID(rawValue: id.rawValue))
    }

    func remove(_ download: Download, keepingFile: Bool) async throws(PawlError) {
        pause(download.id)
        await download.untilAtRest()
        do throws(Failure) {
            if case .success(let file) = download.outcome {
                if !keepingFile, !file.wasThere {
                    try place.removeFile(file.path, stamp: download.stamp, length: file.length)
                }
            } else if let name = download.readingName {
                try place.removePartial(of: name)
            }
        } catch { throw PawlError(error) }
        letGo(download.id)
        board.removedAtRest(download)
    }
}
