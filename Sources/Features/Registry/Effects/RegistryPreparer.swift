package import PawlBase
import PawlHTTP

/// Gives the requests for blobs of a registry their token or login, asks for one where the registry does, and reads why it
/// refuses a request.
package final class RegistryPreparer: RequestPreparing {
    private let clock: any Clock
    private let tokens: RegistryTokens

    package init(clock: any Clock, tokens: RegistryTokens = .shared) {
        self.clock = clock
        self.tokens = tokens
    }

    package func begin(
        _ request: TransferRequest, for object: WebAddress, as id: TransferID, sink: any TransferSink,
        start: @escaping (TransferRequest, TransferID, any TransferSink) -> Void
    ) {
        guard let reference = try? RegistryReference(object.text) else { return start(request, id, sink) }
        let access = request.settings.values.accesses[.oci]?.locating as? RegistryAccess ?? RegistryAccess()
        let front = RegistrySink(before: sink, request, reference, access, clock, tokens, start: start)
        front.begin(id)
    }
}

/// One request of a download: with the token that is known, and once more with a new one after a 401.
///
/// Redirects to the registry itself are followed with the token; those to other hosts go to the transfer's receiver, and what
/// follows has none.
private final class RegistrySink: ForwardingSink {
    private enum Step {
        case forwarding
        /// The response is not wanted; then this request is made.
        case again(TransferRequest)
        case asking
        /// The response of the server of tokens is received.
        case token(ResponseHead?, [UInt8])
    }

    let target: any TransferSink
    private var request: TransferRequest
    private let reference: RegistryReference
    private let access: RegistryAccess
    private let clock: any Clock
    private let tokens: RegistryTokens
    private let start: (TransferRequest, TransferID, any TransferSink) -> Void
    private var step = Step.forwarding
    private var used: String?
    private var challenges = 0
    private var redirects = 0
    private let login: RegistryLogin?
    private let key: RegistryTokens.Key

    private static let mostRedirects = 5
    private static let mostChallenges = 2

    init(
        before target: any TransferSink, _ request: TransferRequest, _ reference: RegistryReference,
        _ access: RegistryAccess, _ clock: any Clock, _ tokens: RegistryTokens,
        start: @escaping (TransferRequest, TransferID, any TransferSink) -> Void
    ) {
        self.target = target
        self.request = request
        self.reference = reference
        self.access = access
        self.clock = clock
        self.tokens = tokens
        self.start = start
        login = access.login(to: reference)
        key = RegistryTokens.Key(request.address, reference, login)
    }

    func begin(_ id: TransferID) {
        step = .forwarding
        start(authorized(request), id, self)
    }

    private func authorized(_ request: TransferRequest) -> TransferRequest {
        var request = request
        used = tokens.field(key, at: clock.now)
        request.fields += [RegistryDocument.accept] + (used.map { ["Authorization: \($0)"] } ?? [])
        return request
    }

    func transfer(_ id: TransferID, head: ResponseHead) -> Bool {
        if case .token = step {
            step = .token(head, [])
            return true
        }
        var head = head
        if head.status == 401, challenges < Self.mostChallenges {
            challenges += 1
            if prepare(for: head) { return false }
        }
        if (300..<400).contains(head.status), let reference = head.location,
            let next = try? request.address.resolving(reference)
        {
            if next.origin == request.address.origin, redirects < Self.mostRedirects {
                redirects += 1
                request.address = next
                step = .again(request)
                return false
            }
            head.location = next.text
        } else if [401, 403, 404, 429].contains(head.status) {
            head.refusal = refusal(head.status)
        }
        return target.transfer(id, head: head)
    }

    private func refusal(_ status: Int) -> StatedRefusal {
        RegistryRefusal(
            status: status, hasLogin: login != nil, hasHelpers: access.hasIdleHelpers, registry: reference.registry
        ).stated
    }

    /// Whether another request follows the challenge.
    private func prepare(for head: ResponseHead) -> Bool {
        // Another transfer may have renewed the token.
        if let known = tokens.field(key, at: clock.now), known != used {
            step = .again(request)
            return true
        }
        let question = try? TokenQuestion(
            LoginChallenge.all(in: head), from: request.address, of: reference.name, login)
        switch question {
        case nil: return false
        case .basic(let field):
            guard field != used else { return false }
            tokens.note(basic: field, for: key)
            step = .again(request)
        case .token(let question):
            var asking = TransferRequest(
                address: question.address, carriesSecrets: false, bufferSize: 64 << 10, settings: request.settings)
            asking.method = question.body.isEmpty ? "GET" : "POST"
            asking.body = question.body
            asking.fields = question.lines + ["Accept-Encoding: identity"]
            asking.judge = request.judge
            step = .again(asking)
            isAsking = true
        }
        return true
    }

    private var isAsking = false

    func transfer(_ id: TransferID, chunk: UnsafeRawBufferPointer) -> ChunkResult {
        guard case .token(let head, var body) = step else { return unsafe target.transfer(id, chunk: chunk) }
        guard body.count + chunk.count <= RegistryToken.longest else { return .stop }
        unsafe body.append(contentsOf: chunk)
        step = .token(head, body)
        return .taken
    }

    func transferEnded(_ id: TransferID, _ end: TransferEnd) {
        switch step {
        case .forwarding, .asking: target.transferEnded(id, end)
        case .again(let next):
            guard isAsking else { return begin(id) }
            isAsking = false
            step = .token(nil, [])
            start(next, id, self)
        case .token(let head, let body):
            guard let head else { return target.transferEnded(id, end) }
            if head.status == 200, let token = RegistryToken(body) {
                tokens.note(token, for: key, at: clock.now)
                return begin(id)
            }
            step = .forwarding
            // Overload of the server of tokens is no refusal.
            var answer = ResponseHead(status: head.status >= 500 || head.status == 429 ? head.status : 401)
            if answer.status < 500 { answer.refusal = refusal(answer.status) }
            answer.retryAfter = head.retryAfter
            guard target.transfer(id, head: answer) else { return target.transferEnded(id, .stopped) }
            target.transferEnded(id, end)
        }
    }

    private var isForwarding: Bool {
        if case .forwarding = step { true } else { false }
    }

    func holdsBack(_ id: TransferID) -> Bool { isForwarding && target.holdsBack(id) }

    func spliceTarget(_ id: TransferID) -> SpliceTarget? { isForwarding ? target.spliceTarget(id) : nil }
}
