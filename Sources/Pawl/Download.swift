import PawlCore
import PawlEngine
import Synchronization

/// One download of a ``Downloader``.
public final class Download: Sendable, Identifiable {
    /// Names a download in its ``Downloader``.
    public struct ID: Hashable, Sendable {
        /// Counts up from 1; 0 in events that belong to no single download.
        public let rawValue: UInt64
    }

    private enum Outcome: Sendable {
        case open([CheckedContinuation<Result<DownloadedFile, PawlError>, Never>])
        case ended(Result<DownloadedFile, PawlError>)
    }

    /// This download's name.
    public let id: ID
    /// The address that was given, secrets redacted.
    public let source: String
    /// The text given in ``DownloadOptions/taskDescription``.
    public let taskDescription: String?

    private let engine: Engine
    private let box: ReadingBox
    private let place: Place
    private let outcome = Mutex(Outcome.open([]))
    /// Who waits until it does not run.
    private let waiting = Mutex<[CheckedContinuation<Void, Never>]>([])

    init(
        id: ID,
        source: String,
        taskDescription: String?,
        place: Place,
        engine: Engine,
        box: ReadingBox
    ) {
        self.id = id
        self.source = source
        self.taskDescription = taskDescription
        self.place = place
        self.engine = engine
        self.box = box
    }

    deinit { engine.forget(DownloadID(rawValue: id.rawValue)) }

    /// Where it stands.
    public var snapshot: DownloadSnapshot {
        let reading = box.reading
        let left = reading.total.map { Double($0 - reading.written) }
        return DownloadSnapshot(
            id: id,
            source: source,
            state: DownloadState(reading.phase),
            name: reading.name,
            written: reading.written,
            total: reading.total,
            received: reading.received,
            speed: reading.speed,
            smoothedSpeed: reading.smoothed,
            timeLeft: reading.smoothed > 0 ? left.map { $0 / Double(reading.smoothed) } : nil,
            connections: reading.connections,
            taskDescription: taskDescription
        )
    }

    /// Starts it, or lets it go on after a pause.
    public func resume() { engine.resume(DownloadID(rawValue: id.rawValue)) }

    /// Pauses it; everything received is kept.
    ///
    /// It is on disk when the state ``DownloadState/paused`` is told.
    public func pause() { engine.pause(DownloadID(rawValue: id.rawValue)) }

    /// Waits for the end.
    ///
    /// Throws what ``DownloadEvent/Kind/failed(_:)`` tells; a pause does not end the wait.
    public func file() async throws(PawlError) -> DownloadedFile {
        let result = await withCheckedContinuation { continuation in
            let known = outcome.withLock { outcome -> Result<DownloadedFile, PawlError>? in
                switch outcome {
                case .open(let waiting):
                    outcome = .open(waiting + [continuation])
                    return nil
                case .ended(let result): return result
                }
            }
            if let known { continuation.resume(returning: known) }
        }
        return try result.get()
    }

    /// Stops it and removes what it made: the part file, its journal and, unless told otherwise, the finished file.
    ///
    /// Files that were there before this download stay. Throws ``PawlError`` when something cannot be removed.
    public func remove(deletingFile: Bool = true) async throws(PawlError) {
        pause()
        while !snapshot.state.isAtRest {
            await withCheckedContinuation { continuation in
                waiting.withLock { $0.append(continuation) }
                // It may have come to rest before anybody waited.
                if snapshot.state.isAtRest { rested() }
            }
        }
        let finished: DownloadedFile? = outcome.withLock { outcome in
            guard case .ended(.success(let file)) = outcome, !file.wasThere else { return nil }
            return file
        }
        do throws(Failure) {
            if let finished {
                if deletingFile { try place.removeFile(finished.path) }
            } else if let name = box.reading.name {
                try place.removePartial(of: name)
            }
        } catch {
            throw PawlError(error)
        }
    }

    func rested() {
        let waiting = self.waiting.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    func end(_ result: Result<DownloadedFile, PawlError>) {
        let waiting = outcome.withLock {
            outcome -> [CheckedContinuation<Result<DownloadedFile, PawlError>, Never>] in
            guard case .open(let waiting) = outcome else { return [] }
            outcome = .ended(result)
            return waiting
        }
        for continuation in waiting { continuation.resume(returning: result) }
    }
}

extension DownloadState {
    /// Nothing of it runs.
    var isAtRest: Bool {
        switch self {
        case .waiting, .paused, .preempted, .finished, .failed: true
        case .probing, .transferring, .waitingForNetwork, .verifying, .publishing: false
        }
    }

    init(_ phase: Phase) {
        self =
            switch phase {
            case .waiting: .waiting
            case .probing: .probing
            case .transferring: .transferring
            case .waitingForNetwork: .waitingForNetwork
            case .verifying: .verifying
            case .publishing: .publishing
            case .paused: .paused
            case .preempted: .preempted
            case .finished: .finished
            case .failed: .failed
            }
    }
}

extension DownloadEvent {
    init(_ report: Report) {
        id = Download.ID(rawValue: report.id.rawValue)
        kind =
            switch report.telling {
            case .phase(let phase): .state(DownloadState(phase))
            case .started(let total, let resumedAt):
                .started(name: report.name, total: total, resumedAt: resumedAt)
            case .notice(let text): .notice(text)
            case .retrying(let failure, let after): .retry(PawlError(failure), delay: after.seconds)
            case .finished(let length, let wasThere):
                .finished(
                    DownloadedFile(
                        path: report.path,
                        length: length,
                        received: report.received,
                        duration: report.elapsed.seconds,
                        wasThere: wasThere
                    )
                )
            case .failed(let failure): .failed(PawlError(failure))
            }
    }
}
