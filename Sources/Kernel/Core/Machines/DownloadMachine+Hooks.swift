// Questions to the program and its replies.
//
// Each question leaves its lane, or the download, waiting without a deadline: a pause, a removal, a lost network and
// the end of the engine drop it, and a reply that comes later finds nothing that it belongs to.
package import PawlBase
import PawlJournal

extension DownloadMachine {
    /// How often one lane asks for another login.
    static let mostLogins = 10

    private mutating func nextHookID() -> HookID {
        nextQuestion += 1
        return HookID(rawValue: nextQuestion)
    }

    /// Leaves the lane waiting for the reply.
    private mutating func ask(_ question: HookQuestion, of index: Int, _ kind: PendingQuestion.Kind) -> Action {
        let id = nextHookID()
        lanes[index].stage = .asked(PendingQuestion(id: id, kind: kind))
        return .ask(HookOrder(id: id, lane: lanes[index].id, question: question))
    }

    /// Whether this question still waits for its reply.
    package func awaits(_ id: HookID) -> Bool {
        waiting.pendingFailure?.id == id || lanes.list.contains { $0.pending?.id == id }
    }

    // MARK: questions

    /// Presents the request of the lane that was added last before it is sent.
    mutating func presentRequest() -> Action {
        let index = lanes.list.count - 1
        let lane = lanes[index]
        let address = sources[lane.source].current
        return ask(.adapt(address: address, lane.request.range, redirects: lane.request.redirects), of: index, .adapt)
    }

    /// Presents a refused login; `nil` where the refusal stands.
    mutating func presentLogin(_ fault: AttemptFault, head: ResponseHead?, lane index: Int) -> [Action]? {
        let failures = lanes[index].request.logins[keyPath: fault.refusing]
        guard plan.hooks.contains(.authenticate), fault.isRefusedLogin, failures < DownloadMachine.mostLogins else {
            return nil
        }
        let question = HookQuestion.authenticate(
            address: sources[lanes[index].source].current, head: head, failures: failures)
        return [.drop(lanes[index].id), ask(question, of: index, .authenticate(fault))]
    }

    /// Presents a redirect that may be followed; `nil` without that hook.
    mutating func presentRedirect(to next: WebAddress, head: ResponseHead, lane index: Int) -> [Action]? {
        guard plan.hooks.contains(.redirect) else { return nil }
        let lane = lanes[index]
        let question = HookQuestion.redirect(
            from: sources[lane.source].current, to: next, head: head, redirects: lane.request.redirects)
        return [.drop(lane.id), ask(question, of: index, .redirect(to: next, status: head.status))]
    }

    /// Presents a response that would be used, or an error status, once for each request; `nil` for others.
    mutating func presentResponse(
        _ verdict: Judge.Verdict, head: ResponseHead, wallTime: UnixTime, lane index: Int
    ) -> [Action]? {
        guard plan.hooks.contains(.validate), !lanes[index].response.isValidated, verdict.isForValidation else {
            return nil
        }
        let question = HookQuestion.validate(
            address: sources[lanes[index].source].current, head: head,
            length: lanes.map.total ?? plan.selectedLength(of: head.resourceLength), resumedAt: written)
        var actions: [Action] = []
        // The host is limited now, because the program may take long to decide.
        if case .fault(let fault) = verdict, RetryPolicy.disposition(of: fault).isComplaint,
            let report = refusal(fault, lane: lanes[index])
        {
            lanes[index].request.hasReportedRefusal = true
            actions = [.drop(lanes[index].id), report]
        }
        return actions + [ask(question, of: index, .validate(head, wallTime: wallTime))]
    }

    /// Presents a failed attempt; `nil` without that hook.
    mutating func presentFailure(_ failure: Failure, of source: Int, wait: Interval?) -> [Action]? {
        guard plan.hooks.contains(.retry) else { return nil }
        let id = nextHookID()
        waiting.begin(for: PendingFailure(id: id, failure: failure, source: source, wait: wait))
        let question = HookQuestion.retry(failure, attempt: attempts + 1, wait: wait)
        return [.ask(HookOrder(id: id, lane: nil, question: question))]
    }

    // MARK: replies

    /// The program's reply to the question `id`.
    package mutating func replied(_ id: HookID, _ decision: HookDecision, now: Instant) -> [Action] {
        guard isActive else { return [] }
        if let pending = waiting.pendingFailure, pending.id == id { return replied(pending, decision, now: now) }
        guard let index = lanes.list.firstIndex(where: { $0.pending?.id == id }), let pending = lanes[index].pending
        else {
            return []
        }
        lanes[index].stage = .asking
        lanes[index].speed.waited(now: now)
        if case .fail(let failure) = decision { return fail(failure) }
        switch pending.kind {
        case .adapt:
            lanes[index].speed.began(now: now)
            return [send(index)]
        case .authenticate(let fault):
            guard decision == .proceed else { return laneFault(index, fault, now: now) }
            var logins = lanes[index].request.logins
            logins[keyPath: fault.refusing] += 1
            let open = reopen(index, logins: logins, now: now)
            return [open]
        case .redirect(let target, let status):
            switch decision {
            case .proceed: return follow(target, lane: index, now: now)
            case .redirect(let other): return follow(other, lane: index, now: now)
            // Only what was decided is followed.
            case .refuseRedirect, .decline, .memory, .retry, .fail:
                return laneFault(index, .status(status, retryAfter: nil), now: now)
            }
        case .validate(let head, let wallTime):
            lanes[index].response.isValidated = true
            return useMemory(decision) + judge(index, head: head, wallTime: wallTime, now: now)
        }
    }

    /// Bytes on disk are never given up for memory: such a file is continued.
    ///
    /// Nor is a file that several connections fill, or of which wrong pieces are fetched again: memory takes bytes in order.
    private mutating func useMemory(_ decision: HookDecision) -> [Action] {
        guard case .memory(let limit) = decision, lanes.map.done.isEmpty, lanes.list.count == 1, plan.pieces == nil,
            file.useMemory()
        else { return [] }
        return [.useMemory(limit: limit)]
    }

    private mutating func replied(_ pending: PendingFailure, _ decision: HookDecision, now: Instant) -> [Action] {
        waiting.end()
        switch decision {
        case .fail(let failure):
            sources[pending.source].leaveOut()
            return fail(failure)
        case .retry(let wait):
            let actions = attempt(pending.source, after: wait, pending.failure, now: now)
            // The program's decision counts more than what the host requested.
            waiting.force()
            return actions
        case .proceed, .decline, .redirect, .refuseRedirect, .memory:
            guard let wait = pending.wait else {
                sources[pending.source].leaveOut()
                return fail(pending.failure)
            }
            return attempt(pending.source, after: wait, pending.failure, now: now)
        }
    }
}

extension AttemptFault {
    /// Whether the origin or a proxy refused the login.
    fileprivate var refusing: WritableKeyPath<Lane.Request.Logins, Int> {
        if case .status(407, _) = self { \.proxy } else { \.origin }
    }

    /// Whether another login could help.
    fileprivate var isRefusedLogin: Bool {
        switch self {
        case .status(let status, _): status == 401 || status == 407
        case .transfer(let fault): fault.kind == .denied
        case .silent, .tooSlow, .refused, .unproven, .page, .suspectPage, .rangeRefused, .badRedirect, .downgrade,
            .tooManyRedirects:
            false
        }
    }
}

extension Judge.Verdict {
    /// Responses that would be used, and error statuses; the others only tell how to continue.
    fileprivate var isForValidation: Bool {
        switch self {
        case .usable, .wholeInstead, .suspectPage, .changed: true
        case .fault(.status), .fault(.refused), .fault(.page): true
        case .complete, .rangesBroken, .openRangeRefused, .validRangeRefused, .redirect, .fault: false
        }
    }
}
