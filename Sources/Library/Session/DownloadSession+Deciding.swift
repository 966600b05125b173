#if Queue
import Pawl
import PawlBase
import PawlSystem
import Synchronization

// What the delegate decides while a request is made.
extension DownloadSession {
    /// The questions of downloads that go to the delegate.
    var hooks: DownloadHooks {
        var hooks = DownloadHooks()
        hooks.redirect = { [weak self] proposal in await self?.decide(proposal) ?? .stop }
        hooks.authenticate = { [weak self] challenge in await self?.decide(challenge) ?? .useDefault }
        return hooks
    }

    private func decide(_ proposal: RedirectProposal) async -> RedirectDecision {
        // Without a task nobody receives what follows.
        guard let task = task(proposal.download) else { return .stop }
        guard task.delegate ?? delegate != nil else { return .follow }
        let response = SessionResponse(proposal.response)
        let request = task.plainRequest.redirected(to: proposal.to, sendingAll: configuration.options.trustsRedirects)
        let redirect = FollowedRedirect(from: proposal.from, to: proposal.to, number: proposal.redirects)
        if task.facts.withLock({ $0.followed.contains(redirect) }) { return .follow }
        let decided: RedirectReply = await ask(instead: .none) { reply in
            self.notify(task) { delegate in
                delegate.urlSession(
                    self, task: task, willPerformHTTPRedirection: response, newRequest: request,
                    completionHandler: { reply(.decided($0)) })
            }
        }
        guard case .decided(let next) = decided else {
            // What nobody has allowed is not requested.
            leaveUndecided(task, proposal.to)
            return .stop
        }
        guard let next else { return .stop }
        if let refusal = next.refusal(adding: [:]) {
            task.facts.withLock { $0.decided = refusal }
            return .stop
        }
        // Most requests of a stream are those of its segments.
        if task.streamOptions == nil { task.facts.withLock { $0.current = next } }
        let added = next.fields(addedTo: request)
        guard next.url.hasSameBytes(as: proposal.to), added.isEmpty else { return .followTo(next.url, headers: added) }
        task.facts.withLock { _ = $0.followed.insert(redirect) }
        return .follow
    }

    /// Nobody decides about a redirect to this URL: it is not followed, and the task fails.
    package func leaveUndecided(
        _ task: DownloadTask, _ target: String,
        because why: String = "the delegate dropped its completion handler without a decision"
    ) { task.facts.withLock { $0.decided = .undecided(target, because: why) } }

    private enum RedirectReply {
        /// The completion handler was dropped.
        case none
        case decided(SessionRequest?)
    }

    private func decide(_ challenge: AuthenticationChallenge) async -> AuthenticationDecision {
        guard let task = task(challenge.download), let space = SessionChallenge.ProtectionSpace(challenge) else {
            return .useDefault
        }
        let question = SessionChallenge(
            protectionSpace: space, previousFailureCount: challenge.previousFailures,
            failureResponse: challenge.response.map { SessionResponse($0) }, task: task)
        // A suspended transfer begins anew; a decision that was refused has failures.
        let known = challenge.previousFailures == 0 ? task.facts.withLock { $0.logins[space] } : nil
        let decision: Decision
        if let known { decision = known } else { decision = await ask(question, of: task) }
        task.facts.withLock { $0.logins[space] = decision }
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
            protectionSpace: SessionChallenge.ProtectionSpace(question), previousFailureCount: 0, failureResponse: nil,
            task: task)
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
    private func ask(_ question: SessionChallenge, of task: DownloadTask) async -> Decision {
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
                    delegate.urlSession(self, task: task, didReceive: question, completionHandler: completion)
                }
            }
        }
        if decision.disposition == .cancelAuthenticationChallenge {
            task.facts.withLock { $0.decided = .cancelled(task) }
        }
        return decision
    }

    /// Calls the delegate on its thread, and waits until it replies; one that drops its completion handler has replied
    /// `instead`.
    private func ask<Value: Sendable>(
        instead: Value, _ call: @escaping @Sendable (@escaping @Sendable (Value) -> Void) -> Void
    ) async -> Value {
        guard let manager = queue.withLock({ $0 }) else { return instead }
        return await Once.value(instead: instead) { once in manager.perform { call { once.give($0) } } }
    }

    /// The reply of another delegate, which is called as every delegate is.
    package func reply<Value: Sendable>(
        instead: Value, _ body: @escaping @Sendable (@escaping @Sendable (Value) -> Void) -> Void
    ) async -> Value { await ask(instead: instead) { reply in self.call { body(reply) } } }
}

/// A redirect that the delegate has let through.
struct FollowedRedirect: Hashable {
    @Bytewise var from: String
    @Bytewise var to: String
    /// How many redirects preceded it.
    package var number: Int
}

extension PawlError {
    fileprivate static func undecided(_ target: String, because why: String) -> PawlError {
        PawlError(
            Failure(
                .rejected, "cannot follow the redirect to", at: Redaction.address(target), because: why,
                remedy: "call the delegate's completion handler in every case"))
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
#endif
