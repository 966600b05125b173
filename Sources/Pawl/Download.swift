import PawlCore
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
/// It is a handle: who lets go of it changes nothing in a manager; a ``Downloader`` forgets a download that has not
/// been started.
public final class Download: Sendable, Identifiable {
    struct State {
        /// What is known beside the engine's reading.
        var base: DownloadSnapshot
        /// The engine's reading while the engine has it.
        var box: ProgressCell?
        /// Shown instead of what the engine is doing, since it is leaving already.
        var leaving: DownloadState?
        var outcome: Result<DownloadedFile, PawlError>?
        var isWatched = false
    }

    /// This download's name.
    public let id: ID

    private let owner: any DownloadOwner
    private let state: Mutex<State>
    /// Beats with every change that a listener may see.
    let changes = ChangeSignal()
    /// Beats when the outcome or the rest changes.
    private let turns = ChangeSignal()

    init(_ base: DownloadSnapshot, box: ProgressCell? = nil, owner: any DownloadOwner) {
        id = base.id
        self.owner = owner
        state = Mutex(State(base: base, box: box))
    }

    deinit { owner.letGo(id) }

    /// The address, secrets redacted.
    public var source: String { state.withLock { $0.base.source } }
    /// The text given in ``DownloadOptions/taskDescription``.
    public var taskDescription: String? { state.withLock { $0.base.taskDescription } }

    /// Where it stands.
    public var snapshot: DownloadSnapshot {
        let (base, box, leaving) = state.withLock { ($0.base, $0.box, $0.leaving) }
        guard let box else { return base }
        var snapshot = base.overlaid(with: box.reading)
        if let leaving, !snapshot.state.isAtRest { snapshot.state = leaving }
        return snapshot
    }

    /// Where it stands, now and after every change, while it runs some ten times a second.
    ///
    /// Each listener gets the latest value when it asks for one; those in between are left out, so a slow listener costs
    /// nothing. It ends after a snapshot whose state is `finished`, `failed` or `removed`.
    public var updates: Updates { Updates(download: self) }

    /// Lets it start or go on; in a manager it waits for its turn.
    ///
    /// Returns before that has happened. ``DownloadManager/resume(_:)`` also waits until it is written down.
    public func resume() { owner.resume(id) }

    /// Pauses it; everything received is kept.
    ///
    /// Returns before that has happened: it is on disk when the state ``DownloadState/paused`` is told.
    public func pause() { owner.pause(id) }

    /// The finished file; waits for the end.
    ///
    /// Throws what ``DownloadEvent/Kind/failed(_:)`` tells, and ``PawlError/Code/unfinished`` when the waiting task is
    /// cancelled, the download is removed, or its manager is shut down. A pause does not end the wait.
    public var file: DownloadedFile {
        get async throws(PawlError) {
            while true {
                let seen = turns.beats
                if let outcome = state.withLock({ $0.outcome }) { return try outcome.get() }
                if Task.isCancelled { throw .gone(source, because: "the wait for it was cancelled") }
                await turns.wait(after: seen)
            }
        }
    }

    /// Stops it and removes what it made: the part file, its journal and, unless told otherwise, the finished file.
    ///
    /// A manager forgets it as well. Files that were there before this download stay. Throws ``PawlError`` when
    /// something cannot be removed.
    public func remove(keepingFile: Bool = false) async throws(PawlError) {
        try await owner.remove(self, keepingFile: keepingFile)
    }
}

/// Who carries out what is asked of a download's handle.
protocol DownloadOwner: AnyObject, Sendable {
    func resume(_ id: Download.ID)
    func pause(_ id: Download.ID)
    func remove(_ download: Download, keepingFile: Bool) async throws(PawlError)
    /// Nobody holds the handle any more.
    func letGo(_ id: Download.ID)
}

// What its owner tells it.
extension Download {
    var outcome: Result<DownloadedFile, PawlError>? { state.withLock { $0.outcome } }
    var readingName: String? { state.withLock { $0.box }?.reading.name }

    func end(_ result: Result<DownloadedFile, PawlError>) {
        state.withLock { $0.outcome = $0.outcome ?? result }
        changes.beat()
        turns.beat()
    }

    /// It runs again: who waits from now on waits for the new end.
    func reopen() { state.withLock { $0.outcome = nil } }

    /// It came to rest.
    func rested() { turns.beat() }

    func untilAtRest() async {
        while true {
            let seen = turns.beats
            if snapshot.state.isAtRest { return }
            await turns.wait(after: seen)
        }
    }

    /// Makes the engine's readings beat; costs nothing until somebody listens.
    func watch() {
        let box = state.withLock { state -> ProgressCell? in
            defer { state.isWatched = true }
            return state.isWatched ? nil : state.box
        }
        if let box { watch(box) }
    }

    /// The engine has it, or has it no more, and then `base` says it all.
    func show(_ base: DownloadSnapshot, box: ProgressCell?, leaving: DownloadState?) {
        let fresh = state.withLock { state -> ProgressCell? in
            let isFresh = state.isWatched && state.box !== box
            state.base = base
            state.box = box
            state.leaving = leaving
            return isFresh ? box : nil
        }
        if let fresh { watch(fresh) }
        changes.beat()
    }

    private func watch(_ box: ProgressCell) {
        box.watch { [weak self] _ in self?.changes.beat() }
    }
}

extension PawlError {
    static func gone(_ place: String, because why: String) -> PawlError {
        PawlError(Failure(.unfinished, "cannot wait for", at: place, because: why))
    }
}
