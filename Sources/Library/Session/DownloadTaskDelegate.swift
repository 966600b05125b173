#if Queue
public import Pawl

/// Receives what concerns a session or one task, with the methods of `URLSessionDelegate` and
/// `URLSessionTaskDelegate`; all are optional.
///
/// A session's delegate, or the ``DownloadTask/delegate`` of one task, whose methods are then called instead of
/// the session's. For a method with a completion handler the task waits until that is called; it may be called
/// later, and from any thread.
///
/// The library `PawlFoundation` has `URLDownloadTaskDelegate`, with the types of Foundation.
public protocol DownloadTaskDelegate: AnyObject, Sendable {
    /// A task was created.
    func urlSession(_ session: DownloadSession, didCreateTask task: DownloadTask)

    /// The task waits for a network; it continues by itself.
    func urlSession(_ session: DownloadSession, taskIsWaitingForConnectivity task: DownloadTask)

    /// The server redirects to another URL.
    ///
    /// Called once for a redirect to a URL that is followed unchanged, however often the task is suspended, and again
    /// after a suspension for one whose request was changed, since that may have expired. The completion handler gets the
    /// request to follow, by default `request`, or `nil`: then the redirect is the response of the task. If it is dropped
    /// without a call, the redirect is not followed, and the task fails with code 36. The URL can be changed and header
    /// fields can be added; they are sent to that URL, also on another origin. `request` has those fields of the task's
    /// request that are sent to its URL.
    func urlSession(
        _ session: DownloadSession, task: DownloadTask, willPerformHTTPRedirection response: SessionResponse,
        newRequest request: SessionRequest, completionHandler: @escaping @Sendable (SessionRequest?) -> Void)

    /// A server's certificate is to be judged, or a client certificate is requested.
    ///
    /// Without this method, ``urlSession(_:task:didReceive:completionHandler:)`` is called.
    func urlSession(
        _ session: DownloadSession, didReceive challenge: SessionChallenge,
        completionHandler: @escaping @Sendable (SessionChallenge.Disposition, SessionCredential?) -> Void)

    /// A server or a proxy requires a login.
    ///
    /// Without this method, or with ``SessionChallenge/Disposition/performDefaultHandling``, the credentials of
    /// the session's options are used. A decision also holds after a suspension; the method is called again when it is
    /// refused.
    func urlSession(
        _ session: DownloadSession, task: DownloadTask, didReceive challenge: SessionChallenge,
        completionHandler: @escaping @Sendable (SessionChallenge.Disposition, SessionCredential?) -> Void)

    /// The requests of the task were measured; called before `didCompleteWithError`, also for a task with a
    /// completion handler.
    func urlSession(_ session: DownloadSession, task: DownloadTask, didFinishCollecting metrics: DownloadTaskMetrics)

    /// The task ended; `error` is `nil` if it finished, also with a response such as 404.
    ///
    /// It is what ``urlSession(_:errorFor:)`` returns. After a kill it may be repeated for a task if the program was killed during this
    /// call.
    func urlSession(_ session: DownloadSession, task: DownloadTask, didCompleteWithError error: (any Error)?)

    /// The same with the error's type; implement one of the two.
    func urlSession(_ session: DownloadSession, task: DownloadTask, didCompleteWithError error: PawlError?)

    /// The form in which methods with an `any Error` receive this error: a `PawlError`, or a `URLError` with
    /// `URLDownloadTaskDelegate` of `PawlFoundation`.
    func urlSession(_ session: DownloadSession, errorFor error: PawlError) -> any Error

    /// A recreated background session has delivered all earlier events; not called if there were none.
    func urlSessionDidFinishEvents(forBackgroundURLSession session: DownloadSession)

    /// The session was invalidated, and no calls follow; or, with an error, it could not be opened: then only the ends
    /// of tasks follow that are made nevertheless.
    func urlSession(_ session: DownloadSession, didBecomeInvalidWithError error: (any Error)?)

    /// The same with the error's type; implement one of the two.
    func urlSession(_ session: DownloadSession, didBecomeInvalidWithError error: PawlError?)
}

// What a task's own delegate does not implement goes to the session's.
extension DownloadTaskDelegate {
    /// Does nothing; for a task's own delegate: calls the session's.
    public func urlSession(_ session: DownloadSession, didCreateTask task: DownloadTask) {
        session.delegate(behind: self)?.urlSession(session, didCreateTask: task)
    }
    /// Does nothing; for a task's own delegate: calls the session's.
    public func urlSession(_ session: DownloadSession, taskIsWaitingForConnectivity task: DownloadTask) {
        session.delegate(behind: self)?.urlSession(session, taskIsWaitingForConnectivity: task)
    }
    /// Follows the redirect; for a task's own delegate: asks the session's.
    public func urlSession(
        _ session: DownloadSession, task: DownloadTask, willPerformHTTPRedirection response: SessionResponse,
        newRequest request: SessionRequest, completionHandler: @escaping @Sendable (SessionRequest?) -> Void
    ) {
        guard let next = session.delegate(behind: self) else { return completionHandler(request) }
        next.urlSession(
            session, task: task, willPerformHTTPRedirection: response, newRequest: request,
            completionHandler: completionHandler)
    }
    /// Passes it on to the method with a task.
    public func urlSession(
        _ session: DownloadSession, didReceive challenge: SessionChallenge,
        completionHandler: @escaping @Sendable (SessionChallenge.Disposition, SessionCredential?) -> Void
    ) {
        guard let task = challenge.task else { return completionHandler(.performDefaultHandling, nil) }
        let target = task.delegate ?? self
        target.urlSession(session, task: task, didReceive: challenge, completionHandler: completionHandler)
    }
    /// Handles it as without a delegate; for a task's own delegate: asks the session's.
    public func urlSession(
        _ session: DownloadSession, task: DownloadTask, didReceive challenge: SessionChallenge,
        completionHandler: @escaping @Sendable (SessionChallenge.Disposition, SessionCredential?) -> Void
    ) {
        guard let next = session.delegate(behind: self) else { return completionHandler(.performDefaultHandling, nil) }
        next.urlSession(session, task: task, didReceive: challenge, completionHandler: completionHandler)
    }
    /// Does nothing; for a task's own delegate: calls the session's.
    public func urlSession(
        _ session: DownloadSession, task: DownloadTask, didFinishCollecting metrics: DownloadTaskMetrics
    ) { session.delegate(behind: self)?.urlSession(session, task: task, didFinishCollecting: metrics) }
    /// Calls the method with a `PawlError`.
    public func urlSession(_ session: DownloadSession, task: DownloadTask, didCompleteWithError error: (any Error)?) {
        let error = error as? PawlError
        urlSession(session, task: task, didCompleteWithError: error)
    }
    /// Does nothing; for a task's own delegate: calls the session's.
    public func urlSession(_ session: DownloadSession, task: DownloadTask, didCompleteWithError error: PawlError?) {
        guard let next = session.delegate(behind: self) else { return }
        let error = error.map { next.urlSession(session, errorFor: $0) }
        next.urlSession(session, task: task, didCompleteWithError: error)
    }
    /// The error itself.
    public func urlSession(_ session: DownloadSession, errorFor error: PawlError) -> any Error { error }
    /// Does nothing.
    public func urlSessionDidFinishEvents(forBackgroundURLSession session: DownloadSession) {}
    /// Calls the method with a `PawlError`.
    public func urlSession(_ session: DownloadSession, didBecomeInvalidWithError error: (any Error)?) {
        let error = error as? PawlError
        urlSession(session, didBecomeInvalidWithError: error)
    }
    /// Does nothing.
    public func urlSession(_ session: DownloadSession, didBecomeInvalidWithError error: PawlError?) {}
}
#endif
