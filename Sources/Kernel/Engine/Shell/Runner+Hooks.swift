import PawlBase
import PawlCore
import PawlJournal

/// The questions to the program, and those replies that the machine does not see.
struct HookState {
    /// A request as the program changed it.
    struct Change {
        var address: WebAddress
        var fields: [String]
    }

    /// Withdraws questions without a reply.
    var questions: [HookID: @Sendable () -> Void] = [:]
    /// Changed requests that are about to be sent.
    var changes: [LaneID: Change] = [:]
    /// Logins by origin; they hold for the rest of the run.
    var logins: [Origin: HookLogin] = [:]
    /// Header lines for the targets of redirects; they hold for the rest of the run.
    var targets: [WebAddress: [String]] = [:]
    /// The settings with a login for the proxy; they hold for the rest of the run.
    var settings: TransferSettings?

    var isEmpty: Bool { changes.isEmpty && logins.isEmpty && targets.isEmpty && settings == nil }

    private static func name(of line: String) -> String { line.prefix { $0 != ":" }.lowercased() }

    func prepare(_ request: inout TransferRequest, _ change: Change?) {
        if let change { request.fields = change.fields }
        if let lines = targets[request.address] {
            let names = request.fields.map(Self.name)
            request.fields += lines.filter { !names.contains(Self.name(of: $0)) }
        }
        if let settings { request.settings = settings }
        switch logins[request.address.origin] {
        case .credentials(let login): request.ownLogin = login
        case .field(let value):
            // The field that the program gave for this very request counts more.
            guard !request.fields.contains(where: { $0.lowercased().hasPrefix("authorization:") }) else { break }
            request.fields.append("Authorization: \(value)")
        case nil: break
        }
    }
}

// The questions of the machine, and their replies.
extension Runner {
    func ask(_ order: HookOrder) {
        guard let responder = job.hooks else { preconditionFailure("a question without hooks") }
        let post = loop.poster(for: self)
        hooks.questions[order.id] = responder.ask(order.question, of: id) { post(.replied(order, $0)) }
    }

    /// Withdraws the questions whose lanes are gone.
    func withdrawQuestions() {
        for (id, withdraw) in hooks.questions where !ask({ $0.awaits(id) }) {
            hooks.questions[id] = nil
            withdraw()
        }
    }

    /// Keeps a response's body back until the program has decided about it.
    func hold(_ lane: LaneID, _ head: ResponseHead) {
        guard !hooks.questions.isEmpty, let writer = writers.first(where: { $0.lane == lane }),
            let pending = machine.lane(lane)?.pending
        else { return }
        writer.question = pending.id
        writer.head = head
    }

    func replied(_ order: HookOrder, _ reply: HookReply) {
        guard hooks.questions.removeValue(forKey: order.id) != nil else { return }
        let decision = note(reply, to: order)
        let writer = writers.first { $0.lane == order.lane && $0.question == order.id }
        lastHead = writer?.head
        feed { $0.replied(order.id, decision, now: $1) }
        lastHead = nil
        guard let writer, writers.contains(where: { $0 === writer }) else { return }
        release(writer)
    }

    /// Delivers the body that was kept back, or ends a transfer whose response is not used.
    private func release(_ writer: LaneWriter) {
        writer.question = nil
        if let head = writer.head, let source = ask({ $0.source(of: writer.lane) }) {
            noteName(writer.lane, source: source, head)
        }
        writer.head = nil
        guard writer.isAdmitted else {
            loop.cancel(writer.transfer)
            return ended(writer.lane, .stopped)
        }
        if let end = writer.ended { return ended(writer.lane, end) }
        loop.resume(writer.transfer)
    }

    private func note(_ reply: HookReply, to order: HookOrder) -> HookDecision {
        switch reply {
        case .decision(let decision): return decision
        case .request(let address, let fields):
            if let lane = order.lane { hooks.changes[lane] = HookState.Change(address: address, fields: fields) }
            return .proceed
        case .redirect(let address, let fields):
            hooks.targets[shared.secured(address)] = fields.isEmpty ? nil : fields
            return .redirect(to: address)
        case .login(let login):
            guard case .authenticate(let address, let head, _) = order.question else { return .proceed }
            if head?.status == 407, case .credentials(let login) = login {
                var values = job.settings.values
                values.proxyLogin = login
                hooks.settings = TransferSettings(values)
            } else {
                hooks.logins[shared.secured(address).origin] = login
            }
            return .proceed
        }
    }

    /// Keeps the content in memory from here on.
    func useMemory(limit: Int64) {
        close(keeping: false)
        let memory = MemorySink(limit: limit, digests: job.memoryDigests)
        self.memory = memory
        destination = memory.destination
    }

    func memoryContent(at update: StatusUpdate) -> [UInt8]? {
        guard straight == nil, ask({ $0.isInMemory }), case .finished = update else { return nil }
        return memory?.bytes
    }
}
