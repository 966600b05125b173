import PawlBase
import PawlCore
import PawlDisk
import PawlEngine

/// Passes an engine's questions to the closures of a program, each in a task of its own.
final class ClosureResponder: HookResponder {
    private let hooks: DownloadHooks
    /// The identifier that the program knows.
    private let id: Download.ID?

    /// Without `id` it is that of the engine.
    init(_ hooks: DownloadHooks, of id: Download.ID? = nil) {
        self.hooks = hooks
        self.id = id
    }

    func ask(
        _ question: HookQuestion, of id: DownloadID, reply: @escaping @Sendable (HookReply) -> Void
    ) -> @Sendable () -> Void {
        let id = self.id ?? Download.ID(rawValue: id.rawValue)
        let task = Task { [hooks] in reply(await hooks.reply(to: question, of: id)) }
        return { task.cancel() }
    }
}

extension DownloadHooks {
    var set: HookSet {
        var set: HookSet = []
        if adaptRequest != nil { set.insert(.adapt) }
        if authenticate != nil { set.insert(.authenticate) }
        if redirect != nil { set.insert(.redirect) }
        if validateResponse != nil { set.insert(.validate) }
        if retry != nil { set.insert(.retry) }
        return set
    }

    fileprivate func reply(to question: HookQuestion, of id: Download.ID) async -> HookReply {
        switch question {
        case .adapt(let address, let range, let redirects): return await adapted(address, range, redirects, id)
        case .authenticate(let address, let head, let failures): return await login(address, head, failures, id)
        case .redirect(let from, let to, let head, let redirects): return await followed(from, to, head, redirects, id)
        case .validate(let address, let head, let length, let resumedAt):
            return .decision(await validated(address, head, length, resumedAt, id))
        case .retry(let failure, let attempt, let wait): return .decision(await retried(failure, attempt, wait, id))
        }
    }

    private func adapted(
        _ address: WebAddress, _ range: RequestedRange, _ redirects: Int, _ id: Download.ID
    ) async -> HookReply {
        guard let adaptRequest, address.scheme == .http || address.scheme == .https else { return .decision(.proceed) }
        let request = OutgoingRequest(
            download: id, url: address.text, range: range.fieldValue.map { "bytes=\($0)" }, redirects: redirects)
        do {
            let adapted = try await adaptRequest(request)
            return try Self.checked(adapted, instead: address)
        } catch {
            var failure = Failure(
                .rejected, "cannot request", at: address.redacted,
                because: "the program did not provide the request: \((error as? Failure)?.why ?? "\(error)")")
            failure.underlying = UnderlyingError(error)
            return .decision(.fail(failure))
        }
    }

    /// The changed request; nothing in it can change how the response is judged.
    private static func checked(_ request: OutgoingRequest, instead old: WebAddress) throws(Failure) -> HookReply {
        let address = request.url.hasSameBytes(as: old.text) ? old : try WebAddress.parse(request.url).address
        guard address.scheme == .http || address.scheme == .https else {
            throw Failure(.badOption, "cannot request", at: address.redacted, because: "it is not an HTTP URL")
        }
        return .request(address, fields: try lines(request.headers))
    }

    /// The header lines, unless one of them could change how the response is judged.
    private static func lines(_ headers: [DownloadResponse.Field]) throws(Failure) -> [String] {
        let lines = headers.map { "\($0.name): \($0.value)" }
        for (field, line) in zip(headers, lines) {
            try OptionForm.header.check(line, .header)
            guard !RequestField.reserved.contains(field.name.lowercased()) else {
                throw Failure(refusing: .header, field.name, because: "it is set by Pawl itself")
            }
        }
        return lines
    }

    private func login(
        _ address: WebAddress, _ head: ResponseHead?, _ failures: Int, _ id: Download.ID
    ) async -> HookReply {
        guard let authenticate else { return .decision(.decline) }
        let challenges = head.map(LoginChallenge.all) ?? []
        let challenge = AuthenticationChallenge(
            download: id, url: address.redacted, host: address.host, port: Int(address.origin.port),
            isProxy: head?.status == 407, schemes: challenges.map(\.scheme),
            realm: challenges.lazy.compactMap { $0.parameters["realm"] }.first, previousFailures: failures,
            response: head.map { DownloadResponse($0, from: address) })
        switch await authenticate(challenge) {
        case .credentials(let user, let password):
            guard FieldText.isSafe(user), FieldText.isSafe(password) else { return .decision(.fail(.badLogin)) }
            return .login(.credentials(Credentials(user: user, password: password)))
        case .authorization(let value):
            guard FieldText.isSafe(value) else { return .decision(.fail(.badLogin)) }
            guard !challenge.isProxy else { return .decision(.fail(.fieldForProxy)) }
            return .login(.field(value))
        case .useDefault: return .decision(.decline)
        case .cancel:
            var failure = Failure(
                .authorization, "cannot fetch", at: address.redacted, because: "the program did not provide a login")
            failure.status = head?.status
            return .decision(.fail(failure))
        }
    }

    private func followed(
        _ from: WebAddress, _ to: WebAddress, _ head: ResponseHead, _ redirects: Int, _ id: Download.ID
    ) async -> HookReply {
        guard let redirect else { return .decision(.proceed) }
        let proposal = RedirectProposal(
            download: id, from: from.text, to: to.text, response: DownloadResponse(head, from: from),
            redirects: redirects)
        switch await redirect(proposal) {
        case .follow: return .decision(.proceed)
        case .followTo(let text, let headers):
            do throws(Failure) {
                return .redirect(try WebAddress.parse(text).address, fields: try Self.lines(headers))
            } catch { return .decision(.fail(error)) }
        case .stop: return .decision(.refuseRedirect)
        }
    }

    private func validated(
        _ address: WebAddress, _ head: ResponseHead, _ length: Int64?, _ resumedAt: Int64, _ id: Download.ID
    ) async -> HookDecision {
        guard let validateResponse else { return .proceed }
        let received = ReceivedResponse(
            download: id, url: address.text, response: DownloadResponse(head, from: address), length: length,
            resumedAt: resumedAt)
        switch await validateResponse(received) {
        case .allow: return .proceed
        case .cancel(let reason):
            var failure = Failure(.rejected, "cannot use the response of", at: address.redacted, because: reason)
            failure.status = head.status == 0 ? nil : head.status
            return .fail(failure)
        case .intoMemory(let most): return .memory(Int64(max(0, most)))
        }
    }

    private func retried(_ failure: Failure, _ attempt: Int, _ wait: Interval?, _ id: Download.ID) async -> HookDecision
    {
        guard let retry else { return .decline }
        let failed = FailedAttempt(
            download: id, error: PawlError(failure), attempt: attempt, wouldRetryAfter: wait.map { Duration($0) })
        switch await retry(failed) {
        case .useDefault: return .decline
        case .retry(let wait): return .retry(after: Interval(min(max(.zero, wait), .seconds(86_400))))
        case .fail: return .fail(failure)
        }
    }
}

extension Failure {
    fileprivate static let badLogin = Failure(
        .badOption, "cannot use", at: "the program's login", because: FieldText.flaw)
    fileprivate static let fieldForProxy = Failure(
        .badOption, "cannot use", at: "the program's login",
        because: "a proxy takes a user name and a password, not a field")
}

extension Job {
    /// Passes the decisions about this download to the program.
    mutating func use(_ hooks: DownloadHooks, of id: Download.ID? = nil) {
        guard !hooks.isEmpty else { return }
        plan.hooks = hooks.set
        self.hooks = ClosureResponder(hooks, of: id)
        memoryDigests = ContentDigest.digests
    }
}
