#if Queue
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
        /// It is being cancelled for its resume data: what it has is not to be lost.
        var keepsData = false
        /// Its bytes are being moved to where the queue expects them; nothing else happens to it meanwhile.
        var isPreparing = false
        /// It was refused, and its delegate has not been called yet.
        var isUnreported = false
        /// A response was accepted in this run.
        var hasResponse = false
        /// Called after each change of what a progress bar shows.
        var watcher: (@Sendable (DownloadTask) -> Void)?
        /// What the watcher keeps up to date, made once.
        var shown: (any Sendable)?
        /// Its own delegate, until it has ended.
        var delegate: (any DownloadTaskDelegate)?
        /// Seconds since 1970 before which it does not start.
        var begin: Double?
        /// Seconds since 1970 of its first resume.
        var firstResume: Double?
        /// It is of an earlier session: without a receiver its file waits for the next session.
        var isRestored = false
        /// Seconds since 1970 when it is looked at again, for its begin date.
        var looksAgain: Double?
        /// Seconds since 1970 when its time is over, once that is watched.
        var timeLimit: Double?
        /// The resume data that it was made from, as long as that can still be used.
        var unusedData: [UInt8]?
        /// The error with which a decision of its delegate has ended it.
        var decided: PawlError?
        /// The request of the last redirect.
        var current: SessionRequest?
        /// The redirects that its delegate let through unchanged.
        var followed: Set<FollowedRedirect> = []
        /// The delegate's latest decisions about logins.
        var logins: [SessionChallenge.ProtectionSpace: DownloadSession.Decision] = [:]
        /// What was measured.
        var metrics = CollectedMetrics()
        /// The segments of a stream that are on disk, and all of them.
        var segments: DownloadSnapshot.Segments?
        /// The further files of a stream that has finished.
        var others: [String] = []
        /// Progress that arrived before the response.
        var early: (written: Int64, total: Int64?)?

        /// It has not ended.
        var isAlive: Bool { state == .running || state == .suspended }
        /// Its file is reported if it is complete.
        var acceptsFile: Bool { isAlive || keepsData && state == .canceling }

        /// The response came from this URL.
        mutating func move(to url: String?) { if let url { current?.url = url } }
    }

    /// The identifier within its session.
    public let taskIdentifier: Int
    /// The first request.
    @_disfavoredOverload  // PawlFoundation has the same as a URLRequest.
    public let originalRequest: SessionRequest?
    /// Which tracks are downloaded of the stream; `nil` for a task that is of a file.
    public let streamOptions: StreamOptions?
    let folder: String
    /// The partial file of the resume data that it was made from.
    let partial: String?
    private let session: DownloadSession
    let facts: Mutex<Facts>

    init(_ note: TaskNote, session: DownloadSession, completion: Completion? = nil) {
        taskIdentifier = note.number
        folder = note.folder
        partial = note.partial
        originalRequest = note.request
        streamOptions = note.stream
        self.session = session
        var facts = Facts(description: note.description, completion: completion)
        (facts.begin, facts.firstResume) = (note.begin, note.firstResume)
        self.facts = Mutex(facts)
    }

    /// The request with the URL that redirects led to, and the header fields that a delegate added to it.
    @_disfavoredOverload  // PawlFoundation has the same as a URLRequest.
    public var currentRequest: SessionRequest? {
        let (current, url) = facts.withLock { ($0.current, $0.response?.url) }
        var request = current ?? originalRequest
        if let url { request?.url = url }
        return request
    }

    // For PawlFoundation, whose own properties hide these.
    var plainRequest: SessionRequest { originalRequest ?? SessionRequest(url: "") }
    package var firstRequest: SessionRequest? { originalRequest }
    package var presentRequest: SessionRequest? { currentRequest }
    package var sessionResponse: SessionResponse? { response }
    package var sessionError: PawlError? { error }
    package var beginTime: Double? {
        get { earliestBeginDate }
        set { earliestBeginDate = newValue }
    }

    /// A delegate for this task alone; what it does not implement goes to the session's.
    ///
    /// It is retained until the task has ended. Set it before the task is resumed.
    public var delegate: (any DownloadTaskDelegate)? {
        get { facts.withLock { $0.delegate } }
        set { facts.withLock { $0.delegate = newValue } }
    }

    /// The time before which the task does not start, in seconds since 1970; `nil` (default) for none.
    ///
    /// Set it before the task is resumed; a background session stores it.
    @_disfavoredOverload  // PawlFoundation has the same as a Date.
    public var earliestBeginDate: Double? {
        get { facts.withLock { $0.begin } }
        set {
            facts.withLock { $0.begin = newValue }
            session.noteChanged(self)
            session.stateChanged(self)
        }
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
    /// The segments of a stream that are on disk, and all of them; `nil` for a file, and until its playlist is known.
    public var segments: DownloadSnapshot.Segments? { facts.withLock { $0.segments } }
    /// The paths of a stream's further files, such as sound that is apart and subtitles, when its first file is reported.
    ///
    /// They are removed with that file, unless they were moved.
    @_disfavoredOverload  // PawlFoundation has the same as URLs.
    public var otherLocations: [String] { facts.withLock { $0.others } }
    /// The same for PawlFoundation, whose own property hides it.
    package var otherPaths: [String] { otherLocations }
    /// Downloads have no body in their requests: 0.
    public var countOfBytesSent: Int64 { 0 }
    /// Downloads have no body in their requests: 0.
    public var countOfBytesExpectedToSend: Int64 { 0 }
    /// The server's response, once known; also that of a task which failed.
    @_disfavoredOverload  // PawlFoundation has the same as an HTTPURLResponse.
    public var response: SessionResponse? { facts.withLock { $0.response } }
    /// The error of a failed task, with resume data for a new one (`PawlError.downloadTaskResumeData`).
    @_disfavoredOverload  // PawlFoundation has the same as a URLError.
    public var error: PawlError? { facts.withLock { $0.error } }

    /// Starts or resumes the transfer; has no effect after a cancel or the end.
    public func resume() { move(from: [.suspended], to: .running) }

    /// Suspends the transfer without giving up its slot.
    public func suspend() { move(from: [.running], to: .suspended) }

    /// Cancels the task, removes what it received and frees its slot.
    public func cancel() { move(from: [.running, .suspended], to: .canceling) }

    /// Cancels the task, frees its slot, and produces resume data for a new one.
    ///
    /// The handler gets `nil` when nothing can be resumed: nothing was received, or the file is complete, and is then
    /// reported as finished. The data is valid for one new task, in any session
    /// whose configuration has the same state folder, in this process or another.
    @_disfavoredOverload  // PawlFoundation has the same with Data, as ported code uses it.
    public func cancel(byProducingResumeData completionHandler: @escaping @Sendable ([UInt8]?) -> Void) {
        let isFirst = facts.withLock { facts in
            guard facts.isAlive else { return false }
            facts.state = .canceling
            facts.producing = completionHandler
            facts.keepsData = true
            return true
        }
        if isFirst { return session.stateChanged(self) }
        completionHandler(nil)
        session.reportRefused(self)
    }

    /// Cancels the task, frees its slot, and returns resume data for a new one; `nil` when nothing can be
    /// resumed.
    @_disfavoredOverload  // As above.
    public func cancelByProducingResumeData() async -> [UInt8]? {
        await withCheckedContinuation { continuation in cancel { continuation.resume(returning: $0) } }
    }

    /// The one `Value` that shows this task's progress: `make` creates it, and `update` is called after each
    /// change.
    package func shown<Value: Sendable>(
        _ make: () -> Value, update: @escaping @Sendable (Value, DownloadTask) -> Void
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
        if isMoved { session.stateChanged(self) } else { session.reportRefused(self) }
    }

    var note: TaskNote {
        var note = TaskNote(
            number: taskIdentifier, folder: folder, request: originalRequest ?? SessionRequest(url: ""),
            description: taskDescription)
        (note.begin, note.firstResume) = facts.withLock { ($0.begin, $0.firstResume) }
        (note.partial, note.stream) = (partial, streamOptions)
        return note
    }

    /// The queue's priority; 0 by default.
    var queuePriority: Int { Int((priority * 100).rounded()) - 50 }
}
#endif
