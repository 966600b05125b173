public import Pawl
import Synchronization

/// A download of a ``DownloadSession``, with the interface of `URLSessionDownloadTask`.
///
/// Nothing runs before ``resume()``.
public final class DownloadTask: Sendable {
    /// The state of a task, as in `URLSessionTask.State`.
    public enum State: Int, Sendable, Hashable, CaseIterable {
        /// It runs, or waits for a slot.
        case running
        /// It has not been resumed.
        case suspended
        /// It is being cancelled.
        case canceling
        /// It finished, failed or was cancelled.
        case completed
    }

    /// The value for an unknown size.
    public static let unknownSize: Int64 = -1
    /// A priority below the default.
    public static let lowPriority: Float = 0.25
    /// The default priority.
    public static let defaultPriority: Float = 0.5
    /// A priority above the default.
    public static let highPriority: Float = 0.75

    typealias Completion = @Sendable (String?, SessionResponse?, PawlError?) -> Void
    typealias ResumeDataHandler = @Sendable ([UInt8]?) -> Void

    struct Facts {
        var state = State.suspended
        var description: String?
        var priority = DownloadTask.defaultPriority
        var received: Int64 = 0
        var expected: Int64 = DownloadTask.unknownSize
        var response: SessionResponse?
        var error: PawlError?
        /// Its identifier in the queue, once it is added.
        var id: Download.ID?
        /// The reason why it was refused.
        var refusal: PawlError?
        var completion: Completion?
        /// The handler that waits for resume data.
        var producing: ResumeDataHandler?
        /// A response was accepted in this run.
        var hasResponse = false
        /// Called after each change of what a progress bar shows.
        var watcher: (@Sendable (DownloadTask) -> Void)?
        /// What the watcher keeps up to date, made once.
        var shown: (any Sendable)?
        /// Progress that arrived before the response.
        var early: (written: Int64, total: Int64?)?

        /// It has not ended.
        var isAlive: Bool { state == .running || state == .suspended }
    }

    /// The identifier within its session.
    public let taskIdentifier: Int
    /// The first request.
    public let originalRequest: SessionRequest?
    let folder: String
    private let session: DownloadSession
    let facts: Mutex<Facts>

    init(_ note: TaskNote, session: DownloadSession, completion: Completion? = nil) {
        taskIdentifier = note.number
        folder = note.folder
        originalRequest = note.request
        self.session = session
        facts = Mutex(Facts(description: note.description, completion: completion))
    }

    /// The caller's own text; a background session stores it.
    public var taskDescription: String? {
        get { facts.withLock { $0.description } }
        set {
            facts.withLock { $0.description = newValue }
            session.noteChanged(self)
        }
    }

    /// 0…1; among waiting tasks, higher starts first.
    public var priority: Float {
        get { facts.withLock { $0.priority } }
        set {
            facts.withLock { $0.priority = min(max(0, newValue), 1) }
            session.priorityChanged(self)
        }
    }

    /// The state.
    public var state: State { facts.withLock { $0.state } }
    /// Bytes of the content that are on disk.
    public var countOfBytesReceived: Int64 { facts.withLock { $0.received } }
    /// Bytes of the whole content; ``unknownSize`` while unknown.
    public var countOfBytesExpectedToReceive: Int64 { facts.withLock { $0.expected } }
    /// The server's response, once known.
    public var response: SessionResponse? { facts.withLock { $0.response } }
    /// The error of a failed task, with resume data for a new one (`PawlError.downloadTaskResumeData`).
    public var error: PawlError? { facts.withLock { $0.error } }

    /// Starts or resumes the transfer; has no effect after a cancel or the end.
    public func resume() { move(from: [.suspended], to: .running) }

    /// Suspends the transfer without giving up its slot.
    public func suspend() { move(from: [.running], to: .suspended) }

    /// Cancels the task, removes what it received and frees its slot.
    public func cancel() { move(from: [.running, .suspended], to: .canceling) }

    /// Cancels the task, frees its slot, and produces resume data for a new one.
    ///
    /// The handler gets `nil` when nothing can be resumed. The data is valid for one new task, in any session
    /// whose configuration has the same state folder, in this process or another.
    @_disfavoredOverload  // PawlFoundation has the same with Data, as ported code uses it.
    public func cancel(byProducingResumeData completionHandler: @escaping @Sendable ([UInt8]?) -> Void) {
        let isFirst = facts.withLock { facts in
            guard facts.isAlive else { return false }
            facts.state = .canceling
            facts.producing = completionHandler
            return true
        }
        if isFirst { session.stateChanged(self) } else { completionHandler(nil) }
    }

    /// Cancels the task, frees its slot, and returns resume data for a new one; `nil` when nothing can be
    /// resumed.
    @_disfavoredOverload  // As above.
    public func cancelByProducingResumeData() async -> [UInt8]? {
        await withCheckedContinuation { continuation in
            cancel { continuation.resume(returning: $0) }
        }
    }

    /// The one `Value` that shows this task's progress: `make` creates it, and `update` is called after each
    /// change.
    package func shown<Value: Sendable>(
        _ make: () -> Value,
        update: @escaping @Sendable (Value, DownloadTask) -> Void
    ) -> Value {
        if let value = facts.withLock({ $0.shown }) as? Value { return value }
        let value = make()
        let kept = facts.withLock { facts -> Value in
            if let other = facts.shown as? Value { return other }
            facts.shown = value
            facts.watcher = { update(value, $0) }
            return value
        }
        update(kept, self)
        return kept
    }

    /// What a progress bar shows has changed.
    func changed() { facts.withLock { $0.watcher }?(self) }

    private func move(from old: Set<State>, to new: State) {
        let isMoved = facts.withLock { facts in
            guard old.contains(facts.state) else { return false }
            facts.state = new
            return true
        }
        if isMoved { session.stateChanged(self) }
    }

    var note: TaskNote {
        TaskNote(
            number: taskIdentifier,
            folder: folder,
            request: originalRequest ?? SessionRequest(url: ""),
            description: taskDescription
        )
    }

    /// The queue's priority; 0 by default.
    var queuePriority: Int { Int((priority * 100).rounded()) - 50 }
}
