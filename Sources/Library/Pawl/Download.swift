import PawlBase
import PawlEngine
import Synchronization

/// One download of a ``DownloadManager`` or a ``Downloader``.
///
/// ```swift
/// for await snapshot in download.updates {
///     print(snapshot.percent ?? 0)
/// }
/// print(try await download.file.path)
/// ```
///
/// A handle. Releasing it has no effect on a manager's download; a ``Downloader`` drops a download that was
/// never started.
public final class Download: Sendable, Identifiable {
    struct State {
        /// What is known apart from the engine's progress sample.
        var base: DownloadSnapshot
        /// The engine's progress sample while the download runs.
        var box: ProgressCell?
        /// Shown instead of the engine's state while the download is being stopped.
        var leaving: DownloadState?
        /// How it ended, a finish or a failure: kept as it was reported, which costs no copy.
        var end: DownloadEvent.Kind?
        /// The finished file.
        var stamp: FileStamp?
        var isWatched = false
        /// Its owner has ended: nothing changes any more.
        var isClosed = false
        /// Called once at the end.
        var onEnd: (@Sendable () -> Void)?
    }

    /// The identifier of this download.
    public let id: ID

    private let owner: any DownloadOwner
    private let state: Mutex<State>
    /// Signals every change that is visible in a snapshot.
    let changes = ChangeSignal()
    /// Signals when the outcome is known or the download stops running.
    private let turns = ChangeSignal()

    init(_ base: consuming DownloadSnapshot, box: ProgressCell? = nil, owner: any DownloadOwner) {
        id = base.id
        self.owner = owner
        state = Mutex(State(base: base, box: box))
    }

    deinit { owner.letGo(id) }

    /// The URL, with secrets redacted.
    public var source: String { state.withLock { $0.base.source } }
    /// The text given in ``DownloadOptions/taskDescription``.
    public var taskDescription: String? { state.withLock { $0.base.taskDescription } }

    /// The current state.
    public var snapshot: DownloadSnapshot {
        let (base, box, leaving, hasEnded) = state.withLock { ($0.base, $0.box, $0.leaving, $0.end != nil) }
        guard let box else { return base }
        var snapshot = base.overlaid(with: box.reading)
        if !hasEnded, owner.decidesFailures {
            snapshot.hideFailure()
            if leaving == nil { snapshot.hideWait() }
        }
        if let leaving, !snapshot.state.isAtRest { snapshot.state = leaving }
        return snapshot
    }

    /// Snapshots: the current one, then one after every change, about ten times a second while the download
    /// runs.
    ///
    /// Each iteration gets the latest value when it requests one and skips those in between, so a slow
    /// consumer costs nothing. The sequence ends after a snapshot whose state is `finished`, `failed` or
    /// `removed`, and when the download's manager or downloader is shut down or released.
    public var updates: Updates { Updates(download: self) }

    /// Starts or resumes the download; in a manager it waits for a slot.
    ///
    /// Returns before that has happened. ``DownloadManager/resume(_:)`` also waits until the change is
    /// stored.
    public func resume() { owner.resume(id) }

    /// Pauses the download; everything received is kept.
    ///
    /// Returns before that has happened. The data is on disk when the state ``DownloadState/paused`` is
    /// reported.
    public func pause() { owner.pause(id) }

    /// The finished file; waits until the download ends.
    ///
    /// Throws the error of ``DownloadEvent/Kind/failed(_:)``; ``PawlError`` with ``PawlError/Code/unfinished`` when
    /// the download is removed, or its manager or downloader is shut down or released; and `CancellationError` when
    /// the waiting task is cancelled. A pause does not end the wait, and the end of the wait does not stop the
    /// download: ``Downloader/download(_:to:options:hooks:progress:)`` does that.
    public var file: DownloadedFile {
        get async throws {
            guard let outcome = await ending else { throw CancellationError() }
            return try outcome.get()
        }
    }

    /// How the download ended, as soon as it has; `nil` if the waiting task is cancelled before.
    var ending: Result<DownloadedFile, PawlError>? {
        get async {
            while true {
                let seen = turns.count
                if let outcome { return outcome }
                if Task.isCancelled { return nil }
                await turns.wait(after: seen)
            }
        }
    }

    /// Stops the download and removes the part file, its journal and, by default, the finished file.
    ///
    /// A manager removes its record too. Files that existed before this download stay. Throws ``PawlError``
    /// when a file cannot be removed.
    public func remove(keepingFile: Bool = false) async throws(PawlError) {
        try await owner.remove(self, keepingFile: keepingFile)
    }
}

/// The owner that carries out the requests made through a handle.
protocol DownloadOwner: AnyObject, Sendable {
    func resume(_ id: Download.ID)
    func pause(_ id: Download.ID)
    func remove(_ download: Download, keepingFile: Bool) async throws(PawlError)
    /// The last reference to the handle is gone.
    func letGo(_ id: Download.ID)
    /// Whether a failure of the engine may become a wait.
    var decidesFailures: Bool { get }
    /// What is on disk of the beginning of `range` while the download runs, see ``Engine/read(_:known:of:completion:)``.
    func read(_ id: Download.ID, _ range: ByteRange, known: ByteRange) async -> PartBytes?
}

extension DownloadOwner {
    var decidesFailures: Bool { false }
    func read(_ id: Download.ID, _ range: ByteRange, known: ByteRange) async -> PartBytes? { nil }
}

// Calls from the owner.
extension Download {
    var outcome: Result<DownloadedFile, PawlError>? { state.withLock { $0.end }?.outcome }
    /// The finished file; `nil` for one of a queue, whose record has it.
    var stamp: FileStamp? { state.withLock { $0.stamp } }
    var readingName: String? { state.withLock { $0.box }?.reading.name }

    /// Keeps how it ended, unless it has ended before.
    func end(_ kind: DownloadEvent.Kind, stamp: FileStamp? = nil) {
        let onEnd = state.withLock { state in
            if state.end == nil { state.stamp = stamp }
            state.end = state.end ?? kind
            defer { state.onEnd = nil }
            return state.onEnd
        }
        changes.notify()
        turns.notify()
        onEnd?()
    }

    /// Its owner has ended: every wait ends, and so do later ones.
    func close(because why: String) {
        let source = source
        let onEnd = state.withLock { state in
            state.isClosed = true
            state.end = state.end ?? .failed(.gone(source, because: why))
            defer { state.onEnd = nil }
            return state.onEnd
        }
        changes.notify()
        turns.notify()
        onEnd?()
    }

    /// It is removed, and nothing changes any more; `false` if it was before.
    func remove(because why: String) -> Bool {
        let snapshot = snapshot
        let isNew = snapshot.state != .removed
        // The engine may have reported the removal just now, which ends no wait.
        guard isNew || outcome == nil else { return false }
        var base = snapshot
        base.state = .removed
        (base.speed, base.smoothedSpeed, base.timeLeft, base.connections) = (0, 0, nil, 0)
        show(base, box: nil, leaving: nil)
        end(.failed(.gone(source, because: why)))
        return isNew
    }

    /// Calls `body` at the end; to be set before the download runs.
    func onEnd(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.onEnd = body } }

    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// The download runs again: later waits are for the new end.
    func reopen() { state.withLock { state in if !state.isClosed { state.end = nil } } }

    /// The download stopped running.
    func rested() { turns.notify() }

    func read(_ range: ByteRange, known: ByteRange) async -> PartBytes? {
        await owner.read(id, range, known: known)
    }

    func untilAtRest() async {
        while true {
            let seen = turns.count
            if snapshot.state.isAtRest || isClosed { return }
            await turns.wait(after: seen)
        }
    }

    /// Waits as ``untilAtRest()``, and returns the file if it was completed nevertheless.
    func fileAtRest() async -> DownloadedFile? {
        await untilAtRest()
        return snapshot.state == .finished ? try? await file : nil
    }

    /// Makes progress samples signal `changes`; free of cost until the first consumer.
    func watch() {
        let box = state.withLock { state -> ProgressCell? in
            defer { state.isWatched = true }
            return state.isWatched ? nil : state.box
        }
        if let box { watch(box) }
    }

    /// Sets `base` and the engine's sample; without a sample `base` is complete.
    func show(_ base: DownloadSnapshot, box: ProgressCell?, leaving: DownloadState?) {
        let fresh = state.withLock { state -> ProgressCell? in
            let isFresh = state.isWatched && state.box !== box
            state.base = base
            state.box = box
            state.leaving = leaving
            return isFresh ? box : nil
        }
        if let fresh { watch(fresh) }
        changes.notify()
    }

    private func watch(_ box: ProgressCell) { box.watch { [weak self] _ in self?.changes.notify() } }
}

extension PawlError {
    static func gone(_ place: String, _ what: String = "cannot wait for", because why: String) -> PawlError {
        PawlError(Failure(.unfinished, what, at: place, because: why))
    }
}

extension Download {
    /// The identifier of a download.
    ///
    /// In a ``DownloadManager`` it is random, never changes and outlives the process. In a ``Downloader`` it
    /// counts up from 1. 0 stands in events that belong to no single download.
    public struct ID: RawRepresentable, Hashable, Sendable {
        /// The number.
        public let rawValue: UInt64

        /// An identifier with this number.
        public init(rawValue: UInt64) { self.rawValue = rawValue }
    }
}

extension Download.ID: LosslessStringConvertible {
    /// 16 lowercase hexadecimal digits.
    public var description: String {
        let digits = String(rawValue, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    /// Parses 16 hexadecimal digits; `nil` for anything else.
    ///
    /// ``DownloadManager/ids(withPrefix:limit:)`` accepts abbreviations.
    public init?(_ description: String) {
        guard description.utf8.count == 16, let value = UInt64(description, radix: 16) else { return nil }
        self.init(rawValue: value)
    }
}
