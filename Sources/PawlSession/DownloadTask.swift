public import Pawl
import Synchronization

/// One download of a ``DownloadSession``, in the shape of `URLSessionDownloadTask`.
///
/// Nothing runs before ``resume()``.
public final class DownloadTask: Sendable {
    /// Where a task stands, as in `URLSessionTask.State`.
    public enum State: Int, Sendable, Hashable, CaseIterable {
        /// It runs, or waits for its turn.
        case running
        /// It has not been resumed.
        case suspended
        /// It is being cancelled.
        case canceling
        /// It is over, one way or another.
        case completed
    }

    /// What stands for a size that is not known.
    public static let unknownSize: Int64 = -1
    /// A priority below the default.
    public static let lowPriority: Float = 0.25
    /// What tasks have that were given none.
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
        /// Its name in the queue, once it is there.
        var id: Download.ID?
        /// Why it never got there.
        var refusal: PawlError?
        var completion: Completion?
        /// Who waits for resume data.
        var producing: ResumeDataHandler?
        /// An answer was accepted since it runs.
        var isAnswered = false
        /// What was written before it was known from where.
        var early: (written: Int64, total: Int64?)?

        /// Nobody has ended it.
        var isAlive: Bool { state == .running || state == .suspended }
    }

    /// Tells it from the others of its session.
    public let taskIdentifier: Int
    /// What was asked for first.
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

    /// A text of the program's own; a background session keeps it.
    public var taskDescription: String? {
        get { facts.withLock { $0.description } }
        set {
            facts.withLock { $0.description = newValue }
            session.noteChanged(self)
        }
    }

    /// 0…1: of those that wait, a greater one runs earlier.
    public var priority: Float {
        get { facts.withLock { $0.priority } }
        set {
            facts.withLock { $0.priority = min(max(0, newValue), 1) }
            session.priorityChanged(self)
        }
    }

    /// Where it stands.
    public var state: State { facts.withLock { $0.state } }
    /// Bytes of the content that are on disk.
    public var countOfBytesReceived: Int64 { facts.withLock { $0.received } }
    /// Bytes of the whole content; ``unknownSize`` while unknown.
    public var countOfBytesExpectedToReceive: Int64 { facts.withLock { $0.expected } }
    /// What the server said with the content, once it has.
    public var response: SessionResponse? { facts.withLock { $0.response } }
    /// Why it ended, when it did not finish, and what a new task goes on from
    /// (`PawlError.downloadTaskResumeData`).
    public var error: PawlError? { facts.withLock { $0.error } }

    /// Lets it start or go on; does nothing after a cancel or the end.
    public func resume() { move(from: [.suspended], to: .running) }

    /// Lets it stand still; it keeps its place among those that transfer at once.
    public func suspend() { move(from: [.running], to: .suspended) }

    /// Ends it; what it received is removed, and its place is free.
    public func cancel() { move(from: [.running, .suspended], to: .canceling) }

    /// Ends it, frees its place, and hands out what a new task goes on from.
    ///
    /// The handler gets `nil` when nothing can be continued. The data is good for one new task, in any session whose
    /// configuration names the same state folder, in this process or another.
    @_disfavoredOverload  // PawlFoundation has the same with Data, as ported code has it.
    public func cancel(byProducingResumeData completionHandler: @escaping @Sendable ([UInt8]?) -> Void) {
        let isFirst = facts.withLock { facts in
            guard facts.isAlive else { return false }
            facts.state = .canceling
            facts.producing = completionHandler
            return true
        }
        if isFirst { session.stateChanged(self) } else { completionHandler(nil) }
    }

    /// Ends it, frees its place, and gives what a new task goes on from; `nil` when nothing can be continued.
    @_disfavoredOverload  // As above.
    public func cancelByProducingResumeData() async -> [UInt8]? {
        await withCheckedContinuation { continuation in
            cancel { continuation.resume(returning: $0) }
        }
    }

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

    /// The queue's priority: 0 by default.
    var queuePriority: Int { Int((priority * 100).rounded()) - 50 }
}
