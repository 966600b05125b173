import Pawl
import PawlCore
import Synchronization

// What the delegate decides while a request is made.
extension DownloadSession {
    /// The questions of downloads that go to the delegate.
    var hooks: DownloadHooks {
        var hooks = DownloadHooks()
        hooks.redirect = { [weak self] proposal in await self?.decide(proposal) ?? .follow }
        hooks.authenticate = { [weak self] challenge in await self?.decide(challenge) ?? .useDefault }
        return hooks
    }

    private func decide(_ proposal: RedirectProposal) async -> RedirectDecision {
        guard let task = task(proposal.download), task.delegate ?? delegate != nil else { return .follow }
        let response = SessionResponse(proposal.response)
        let request = task.plainRequest.redirected(
            to: proposal.to,
            sendingAll: configuration.options.trustsRedirects
        )
        let next: SessionRequest? = await ask(instead: request) { reply in
            self.notify(task) { delegate in
                delegate.urlSession(
                    self,
                    task: task,
                    willPerformHTTPRedirection: response,
                    newRequest: request,
                    completionHandler: reply
                )
            }
        }
        guard let next else { return .stop }
        if let refusal = next.refusal(adding: [:]) {
            task.facts.withLock { $0.decided = refusal }
            return .stop
        }
        task.facts.withLock { $0.current = next }
        let added = next.fields(addedTo: request)
        return next.url.hasSameBytes(as: proposal.to) && added.isEmpty
            ? .follow : .followTo(next.url, headers: added)
    }

    private func decide(_ challenge: AuthenticationChallenge) async -> AuthenticationDecision {
        guard let task = task(challenge.download), let space = SessionChallenge.ProtectionSpace(challenge)
        else { return .useDefault }
        let question = SessionChallenge(
            protectionSpace: space,
            previousFailureCount: challenge.previousFailures,
            failureResponse: challenge.response.map { SessionResponse($0) },
            task: task
        )
        let decision = await ask(question, of: task)
        switch decision.disposition {
        case .useCredential:
            guard let user = decision.credential?.user else { return .useDefault }
            return .credentials(user: user, password: decision.credential?.password ?? "")
        case .performDefaultHandling, .rejectProtectionSpace: return .useDefault
        case .cancelAuthenticationChallenge: return .cancel
        }
    }

    /// The delegate's decision about certificates.
    func judge(_ id: Download.ID, _ question: CertificateQuestion) async -> CertificateDecision {
        guard let task = task(id) else { return .usual }
        let challenge = SessionChallenge(
            protectionSpace: SessionChallenge.ProtectionSpace(question),
            previousFailureCount: 0,
            failureResponse: nil,
            task: task
        )
        let decision = await ask(challenge, of: task)
        switch decision.disposition {
        case .performDefaultHandling: return .usual
        case .cancelAuthenticationChallenge: return .refuse
        case .rejectProtectionSpace:
            if case .client = question.kind { return .usual }
            return .refuse
        case .useCredential:
            // Code that responds to every challenge with a login does not accept every certificate.
            switch (question.kind, decision.credential?.kind) {
            case (.server, .trust): return .accept
            case (.client, .certificate(let file, let key)): return .certificate(file: file, key: key)
            case (.server, _), (.client, _): return .usual
            }
        }
    }

    struct Decision: Sendable {
        var disposition: SessionChallenge.Disposition
        var credential: SessionCredential?
    }

    /// The delegate's decision; one about certificates goes to the session's delegate first.
    func ask(_ question: SessionChallenge, of task: DownloadTask) async -> Decision {
        let isOfSession = question.protectionSpace.isCertificate
        let usual = Decision(disposition: .performDefaultHandling, credential: nil)
        guard task.delegate ?? delegate != nil else { return usual }
        let decision: Decision = await ask(instead: usual) { reply in
            let completion: @Sendable (SessionChallenge.Disposition, SessionCredential?) -> Void = {
                reply(Decision(disposition: $0, credential: $1))
            }
            if isOfSession, let delegate = self.delegate {
                self.call { delegate.urlSession(self, didReceive: question, completionHandler: completion) }
            } else {
                self.notify(task) { delegate in
                    delegate.urlSession(
                        self,
                        task: task,
                        didReceive: question,
                        completionHandler: completion
                    )
                }
            }
        }
        if decision.disposition == .cancelAuthenticationChallenge {
            task.facts.withLock { $0.decided = .cancelled(task) }
        }
        return decision
    }

    /// Calls the delegate on its thread, and waits until it replies; one that forgets its completion handler has
    /// replied `instead`.
    private func ask<Value: Sendable>(
        instead: Value,
        _ call: @escaping @Sendable (@escaping @Sendable (Value) -> Void) -> Void
    ) async -> Value {
        guard let manager = queue.withLock({ $0 }) else { return instead }
        return await withCheckedContinuation { continuation in
            let reply = Reply(continuation, instead: instead)
            manager.perform { call { reply.give($0) } }
        }
    }
}

/// A reply that is given once.
private final class Reply<Value: Sendable>: Sendable {
    private let continuation: Mutex<CheckedContinuation<Value, Never>?>
    private let instead: Value

    init(_ continuation: CheckedContinuation<Value, Never>, instead: Value) {
        self.continuation = Mutex(continuation)
        self.instead = instead
    }

    deinit { give(instead) }

    func give(_ value: Value) {
        let waiting = continuation.withLock { continuation in
            defer { continuation = nil }
            return continuation
        }
        waiting?.resume(returning: value)
    }
}

extension SessionChallenge.ProtectionSpace {
    /// `nil` for methods that `URLSession` has no challenge for.
    init?(_ challenge: AuthenticationChallenge) {
        if challenge.schemes.contains("digest") {
            authenticationMethod = Self.httpDigest
        } else if challenge.schemes.contains("basic") {
            authenticationMethod = Self.httpBasic
        } else if challenge.schemes.isEmpty, challenge.response?.status != 401 {
            authenticationMethod = "NSURLAuthenticationMethodDefault"
        } else {
            return nil
        }
        host = challenge.host
        port = challenge.port
        `protocol` = String(challenge.url.prefix { $0 != ":" })
        realm = challenge.realm
        isProxy = challenge.isProxy
        serverTrust = nil
    }

    init(_ question: CertificateQuestion) {
        host = question.host
        port = Int(question.port)
        `protocol` = "https"
        realm = nil
        isProxy = false
        switch question.kind {
        case .server(let chain, let problem):
            authenticationMethod = Self.serverTrust
            serverTrust = SessionChallenge.ServerTrust(certificates: chain, error: problem)
        case .client:
            authenticationMethod = Self.clientCertificate
            serverTrust = nil
        }
    }

    var isCertificate: Bool {
        authenticationMethod == Self.serverTrust || authenticationMethod == Self.clientCertificate
    }
}
