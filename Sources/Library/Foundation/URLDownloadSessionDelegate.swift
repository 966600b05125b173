#if Queue
public import Foundation
public import Pawl
public import PawlSession

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

extension DownloadSession {
    /// The decision about a challenge.
    public typealias AuthChallengeDisposition = URLSession.AuthChallengeDisposition
}

/// A `DownloadTaskDelegate` with the signatures of `URLSessionDelegate` and `URLSessionTaskDelegate`.
///
/// All methods are optional. The two that decide have asynchronous variants; implement one of each.
public protocol URLDownloadTaskDelegate: DownloadTaskDelegate {
    /// The server redirects to another URL; `nil` makes the redirect the response of the task.
    ///
    /// The URL can be changed and header fields can be added; they are sent to that URL, also on another origin. `request`
    /// has those fields of the task's request that are sent to its URL: `Authorization` only if the origin stays the same.
    func urlSession(
        _ session: DownloadSession, task: DownloadTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void)

    /// The same, asynchronous.
    func urlSession(
        _ session: DownloadSession, task: DownloadTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest
    ) async -> URLRequest?

    /// A server's certificate is to be judged (`NSURLAuthenticationMethodServerTrust`), or a client certificate
    /// is requested (`NSURLAuthenticationMethodClientCertificate`).
    ///
    /// Without this method, the method with a task is called.
    func urlSession(
        _ session: DownloadSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void)

    /// The same, asynchronous.
    func urlSession(
        _ session: DownloadSession, didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?)

    /// A server or a proxy requires a login.
    func urlSession(
        _ session: DownloadSession, task: DownloadTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void)

    /// The same, asynchronous.
    func urlSession(
        _ session: DownloadSession, task: DownloadTask, didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?)
}

/// A `DownloadSessionDelegate` that receives files by `URL`, as `URLSessionDownloadDelegate` does.
public protocol URLDownloadSessionDelegate: DownloadSessionDelegate, URLDownloadTaskDelegate {
    /// The file is complete.
    ///
    /// It is removed after this returns, unless it was moved.
    func urlSession(_ session: DownloadSession, downloadTask: DownloadTask, didFinishDownloadingTo location: URL)
}

extension URLDownloadSessionDelegate {
    /// Calls the `URL` variant.
    public func urlSession(
        _ session: DownloadSession, downloadTask: DownloadTask, didFinishDownloadingTo location: String
    ) { urlSession(session, downloadTask: downloadTask, didFinishDownloadingTo: URL(fileURLWithPath: location)) }
}

// MARK: - From the session's types

extension URLDownloadTaskDelegate {
    /// A `URLError` with the closest code; its `pawlError` is the error itself.
    public func urlSession(_ session: DownloadSession, errorFor error: PawlError) -> any Error { error.urlError }

    /// Calls the method with a `PawlError`.
    public func urlSession(_ session: DownloadSession, task: DownloadTask, didCompleteWithError error: (any Error)?) {
        let error = (error as? URLError)?.pawlError ?? error as? PawlError
        urlSession(session, task: task, didCompleteWithError: error)
    }

    /// Calls the method with a `PawlError`.
    public func urlSession(_ session: DownloadSession, didBecomeInvalidWithError error: (any Error)?) {
        let error = (error as? URLError)?.pawlError ?? error as? PawlError
        urlSession(session, didBecomeInvalidWithError: error)
    }

    /// Calls the variant with Foundation's types.
    public func urlSession(
        _ session: DownloadSession, task: DownloadTask, willPerformHTTPRedirection response: SessionResponse,
        newRequest request: SessionRequest, completionHandler: @escaping @Sendable (SessionRequest?) -> Void
    ) {
        // Foundation has no URL for it: nobody can decide about it.
        guard let next = request.urlRequest, let redirect = response.httpResponse(for: nil) else {
            session.leaveUndecided(task, request.url, because: "Foundation cannot represent its URL")
            return completionHandler(nil)
        }
        urlSession(session, task: task, willPerformHTTPRedirection: redirect, newRequest: next) {
            completionHandler($0.map { SessionRequest($0) })
        }
    }

    /// Calls the variant with Foundation's types.
    public func urlSession(
        _ session: DownloadSession, didReceive challenge: SessionChallenge,
        completionHandler: @escaping @Sendable (SessionChallenge.Disposition, SessionCredential?) -> Void
    ) { urlSession(session, didReceive: TaskChallenge.make(challenge)) { completionHandler($0.own, $1?.own) } }

    /// Calls the variant with Foundation's types.
    public func urlSession(
        _ session: DownloadSession, task: DownloadTask, didReceive challenge: SessionChallenge,
        completionHandler: @escaping @Sendable (SessionChallenge.Disposition, SessionCredential?) -> Void
    ) {
        urlSession(session, task: task, didReceive: TaskChallenge.make(challenge)) {
            completionHandler($0.own, $1?.own)
        }
    }
}

// MARK: - Defaults

extension URLDownloadTaskDelegate {
    /// Calls the asynchronous variant.
    public func urlSession(
        _ session: DownloadSession, task: DownloadTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        Task {
            let next = await urlSession(session, task: task, willPerformHTTPRedirection: response, newRequest: request)
            completionHandler(next)
        }
    }

    /// Follows the redirect; for a task's own delegate: asks the session's.
    public func urlSession(
        _ session: DownloadSession, task: DownloadTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest
    ) async -> URLRequest? {
        guard let next = session.delegate(behind: self), let original = (response as? NamedResponse)?.original else {
            return request
        }
        let decided: RedirectReply = await session.reply(instead: .none) { reply in
            next.urlSession(
                session, task: task, willPerformHTTPRedirection: original, newRequest: SessionRequest(request),
                completionHandler: { reply(.decided($0)) })
        }
        guard case .decided(let request) = decided else {
            session.leaveUndecided(task, request.url?.text ?? "")
            return nil
        }
        return request?.urlRequest
    }

    /// Calls the asynchronous variant.
    public func urlSession(
        _ session: DownloadSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        Task {
            let (disposition, credential) = await urlSession(session, didReceive: challenge)
            completionHandler(disposition, credential)
        }
    }

    /// Calls the variant with a task.
    public func urlSession(
        _ session: DownloadSession, didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        guard let task = (challenge as? TaskChallenge)?.original?.task else { return (.performDefaultHandling, nil) }
        return await (task.delegate ?? self).decide(challenge, of: task, in: session)
    }

    /// Calls the asynchronous variant.
    public func urlSession(
        _ session: DownloadSession, task: DownloadTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        Task {
            let (disposition, credential) = await urlSession(session, task: task, didReceive: challenge)
            completionHandler(disposition, credential)
        }
    }

    /// Handles it as without a delegate; for a task's own delegate: asks the session's.
    public func urlSession(
        _ session: DownloadSession, task: DownloadTask, didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        guard let next = session.delegate(behind: self) else { return (.performDefaultHandling, nil) }
        return await next.decide(challenge, of: task, in: session)
    }
}

private enum RedirectReply {
    /// The completion handler was dropped.
    case none
    case decided(SessionRequest?)
}

extension DownloadTaskDelegate {
    /// The decision of its method with a task, whichever types that has; the usual one if it drops its handler.
    fileprivate func decide(
        _ challenge: URLAuthenticationChallenge, of task: DownloadTask, in session: DownloadSession
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        guard let original = (challenge as? TaskChallenge)?.original else { return (.performDefaultHandling, nil) }
        let usual = ChallengeReply(disposition: .performDefaultHandling, credential: nil)
        let decided = await session.reply(instead: usual) { reply in
            self.urlSession(session, task: task, didReceive: original) {
                reply(ChallengeReply(disposition: $0, credential: $1))
            }
        }
        return (decided.disposition.foundation, decided.credential?.foundation)
    }
}

private struct ChallengeReply: Sendable {
    var disposition: SessionChallenge.Disposition
    var credential: SessionCredential?
}
#endif
