import Testing

@testable import PawlBase
@testable import PawlCore

/// Questions to the program, and what each decision leads to.
@Suite struct HookCaseTests {
    private static func bench(_ hooks: HookSet, _ change: (inout DownloadPlan) -> Void = { _ in }) -> Bench {
        Bench {
            $0.hooks = hooks
            change(&$0)
        }
    }

    private static func question(_ bench: Bench) throws -> HookOrder {
        let orders = bench.said.compactMap { action -> HookOrder? in
            if case .ask(let order) = action { order } else { nil }
        }
        try #require(orders.count == 1, "\(bench.said)")
        return orders[0]
    }

    private static let failure = Failure(.rejected, "cannot use", at: "it", because: "no")

    private static func opened(_ bench: Bench) -> [LaneOrder] {
        bench.said.compactMap { if case .open(let order) = $0 { order } else { nil } }
    }

    private static func failure(_ bench: Bench) -> Failure? { bench.machine.failure }

    @Test func `without hooks no question is put to the program`() {
        var bench = Bench()
        bench.begin()
        #expect(Self.opened(bench).count == 1)
        bench.respond(Bench.redirect(to: "/g"))
        #expect(Self.opened(bench).count == 1)
        bench.respond(ResponseHead(status: 500))
        bench.ring()
        bench.respond(Bench.whole(100))
        #expect(bench.said.contains(.admit(bench.lane)))
    }

    @Test func `each request is presented before it is sent`() throws {
        var bench = Self.bench(.adapt)
        bench.begin()
        #expect(Self.opened(bench).isEmpty)
        let first = try Self.question(bench)
        guard case .adapt(let address, .whole, 0) = first.question else { return #expect(Bool(false)) }
        #expect(address.host == "a.example" && first.lane == bench.lane)
        bench.said = bench.machine.replied(first.id, .proceed, now: bench.now)
        #expect(Self.opened(bench).map(\.lane) == [bench.lane])
        bench.respond(Bench.redirect(to: "/g"))
        let second = try Self.question(bench)
        guard case .adapt(let target, .whole, 1) = second.question else { return #expect(Bool(false)) }
        #expect(target.path == "/g")
        bench.said = bench.machine.replied(second.id, .fail(Self.failure), now: bench.now)
        var failure = Self.failure
        failure.url = target.text
        #expect(bench.machine.phase == .failed && Self.failure(bench) == failure)
    }

    @Test func `a question has no deadline, and a pause withdraws it`() throws {
        var bench = Self.bench(.adapt)
        bench.begin()
        let order = try Self.question(bench)
        bench.tick(after: 3600)
        #expect(bench.said.isEmpty && bench.machine.awaits(order.id))
        bench.said = bench.machine.pause()
        #expect(bench.machine.phase == .paused && !bench.machine.awaits(order.id))
        #expect(bench.machine.replied(order.id, .proceed, now: bench.now).isEmpty)
        bench.begin()
        #expect(bench.machine.replied(order.id, .proceed, now: bench.now).isEmpty, "a decision of an earlier run")
        #expect(try Self.question(bench).id != order.id)
    }

    @Test func `a report of a lost network leaves it, and the request is tried`() throws {
        var bench = Self.bench(.adapt)
        bench.begin()
        let order = try Self.question(bench)
        _ = bench.machine.network(online: false, now: bench.now)
        bench.tick(after: 5)
        #expect(bench.machine.awaits(order.id))
        bench.said = bench.machine.replied(order.id, .proceed, now: bench.now)
        #expect(Self.opened(bench).count == 1)
    }

    @Test func `a refused login is repeated with another one, and the refusal may stand`() throws {
        var bench = Self.bench(.authenticate)
        bench.begin()
        for failures in 0..<DownloadMachine.mostLogins {
            bench.respond(ResponseHead(status: 401))
            let order = try Self.question(bench)
            guard case .authenticate(_, _?, failures) = order.question else { return #expect(Bool(false)) }
            #expect(bench.said.first == .drop(bench.lane))
            bench.said = bench.machine.replied(order.id, .proceed, now: bench.now)
            #expect(Self.opened(bench).count == 1)
        }
        bench.respond(ResponseHead(status: 401))
        #expect(bench.machine.phase == .failed && Self.failure(bench)?.status == 401)
    }

    @Test(arguments: [ResponseHead(status: 401), nil]) func `a declined login is the failure of the server`(
        head: ResponseHead?
    ) throws {
        var bench = Self.bench(.authenticate)
        bench.begin()
        if let head { bench.respond(head) } else { bench.fail(.denied) }
        let order = try Self.question(bench)
        bench.said = bench.machine.replied(order.id, .decline, now: bench.now)
        #expect(bench.machine.phase == .failed && Self.failure(bench)?.code == .authorization)
    }

    @Test(arguments: [TransferFault.Kind.notFound, .publicKey, .connectionLost]) func `other faults are no logins`(
        kind: TransferFault.Kind
    ) {
        var bench = Self.bench(.authenticate)
        bench.begin()
        bench.fail(kind)
        #expect(!bench.said.contains { if case .ask = $0 { true } else { false } })
    }

    @Test func `a redirect is followed, changed or refused`() throws {
        for decision in [HookDecision.proceed, .redirect(to: other), .refuseRedirect] {
            var bench = Self.bench(.redirect)
            bench.begin()
            bench.respond(Bench.redirect(to: "/g"))
            let order = try Self.question(bench)
            guard case .redirect(let from, let to, _, 0) = order.question else { return #expect(Bool(false)) }
            #expect(from.path == "/f" && to.path == "/g")
            bench.said = bench.machine.replied(order.id, decision, now: bench.now)
            switch decision {
            case .proceed: #expect(Self.opened(bench).map(\.address.path) == ["/g"])
            case .redirect: #expect(Self.opened(bench).map(\.address) == [other])
            default: #expect(bench.machine.phase == .failed && Self.failure(bench)?.status == 302)
            }
        }
    }

    private let other = WebAddress(scheme: .http, host: "b.example", port: 80, path: "/h", query: nil)

    @Test func `a redirect is followed only where that was decided`() throws {
        for decision in [HookDecision.decline, .memory(9), .retry(after: .zero)] {
            var bench = Self.bench(.redirect) { $0.retry.retries = 0 }
            bench.begin()
            bench.respond(Bench.redirect(to: "/g"))
            let order = try Self.question(bench)
            bench.said = bench.machine.replied(order.id, decision, now: bench.now)
            #expect(bench.machine.phase == .failed && Self.opened(bench).isEmpty)
        }
    }

    @Test func `a changed redirect obeys the rules of the server's`() throws {
        var bench = Bench(scheme: .https) { $0.hooks = .redirect }
        bench.begin()
        bench.respond(Bench.redirect(to: "/g"))
        let order = try Self.question(bench)
        bench.said = bench.machine.replied(order.id, .redirect(to: other), now: bench.now)
        #expect(bench.machine.phase == .failed && Self.failure(bench)?.code == .insecure)
    }

    @Test func `a response waits for the program before its first byte`() throws {
        var bench = Self.bench(.validate)
        bench.begin(nil)
        bench.respond(Bench.whole(100))
        let order = try Self.question(bench)
        guard case .validate(_, let head, 100, 0) = order.question else { return #expect(Bool(false)) }
        #expect(head.status == 200)
        bench.said = bench.machine.replied(order.id, .proceed, now: bench.now)
        #expect(bench.said == [.claim(bench.lane)])
        bench.said = bench.machine.claimed(bench.lane, .fresh, now: bench.now)
        #expect(bench.said.contains(.admit(bench.lane)))
    }

    @Test func `bytes on disk stay when the program cancels, also where the content changed`() throws {
        for head in [Bench.part(50, 100, of: 100), Bench.whole(90, tag: "v2")] {
            var bench = Self.bench(.validate)
            bench.begin(Bench.journal([ByteRange(0, 50)], total: 100))
            bench.respond(head)
            let order = try Self.question(bench)
            bench.said = bench.machine.replied(order.id, .fail(Self.failure), now: bench.now)
            #expect(bench.said.contains(.close(keeping: true)) && !bench.said.contains(.startOver))
            #expect(bench.machine.lanes.map.done == ByteRangeSet([ByteRange(0, 50)]))
        }
    }

    @Test func `an error status is presented before a retry, a 416 is not`() throws {
        var bench = Self.bench(.validate)
        bench.begin()
        bench.respond(ResponseHead(status: 503))
        let order = try Self.question(bench)
        bench.said = bench.machine.replied(order.id, .proceed, now: bench.now)
        #expect(bench.machine.phase == .probing && bench.machine.nextAttempt != nil)
        bench.begin()
        var complete = Self.bench(.validate)
        complete.begin(Bench.journal([ByteRange(0, 50)], total: nil))
        var head = ResponseHead(status: 416)
        head.contentRange = .unsatisfied(total: 50)
        complete.respond(head)
        #expect(!complete.said.contains { if case .ask = $0 { true } else { false } })
    }

    @Test func `overload limits the host before the program decides, and once`() throws {
        func reports(_ actions: [Action]) -> Int { actions.count { if case .refused = $0 { true } else { false } } }
        var bench = Self.bench(.validate)
        bench.begin()
        let lane = bench.lane
        bench.respond(ResponseHead(status: 429))
        #expect(bench.said.first == .drop(lane) && reports(bench.said) == 1)
        let order = try Self.question(bench)
        bench.said = bench.machine.replied(order.id, .proceed, now: bench.now)
        #expect(reports(bench.said) == 0 && bench.machine.nextAttempt != nil)
    }

    @Test func `content for memory gives up an empty part file, and never bytes on disk`() throws {
        var bench = Self.bench(.validate)
        bench.begin(.fresh)
        bench.respond(Bench.whole(100))
        bench.said = bench.machine.replied(try Self.question(bench).id, .memory(1000), now: bench.now)
        #expect(bench.said == [.useMemory(limit: 1000), .claim(bench.lane)])
        #expect(bench.machine.isInMemory)
        var begun = Self.bench(.validate)
        begun.begin(Bench.journal([ByteRange(0, 50)], total: 100))
        begun.respond(Bench.part(50, 100, of: 100))
        begun.said = begun.machine.replied(try Self.question(begun).id, .memory(1000), now: begun.now)
        #expect(begun.said.contains(.admit(begun.lane)) && !begun.machine.isInMemory)
    }

    @Test func `content with pieces does not go into memory`() throws {
        let pieces = PieceHashes(.md5, length: 50, digests: [1, 2].map { [UInt8](repeating: $0, count: 16) })
        var bench = Self.bench(.validate) { $0.pieces = pieces }
        bench.begin(.fresh)
        bench.respond(Bench.whole(100))
        bench.said = bench.machine.replied(try Self.question(bench).id, .memory(1000), now: bench.now)
        #expect(bench.said.contains(.admit(bench.lane)) && !bench.machine.isInMemory)
    }

    @Test func `content that a connection brings into the file does not go into memory`() throws {
        var bench = Self.bench(.validate) { $0.ramp = .fixed(2) }
        let total = 8 * Bench.megabyte
        bench.begin(.fresh)
        bench.respond(Bench.whole(total))
        bench.said = bench.machine.replied(try Self.question(bench).id, .proceed, now: bench.now)
        bench.tick(after: 0.1)
        let other = bench.machine.lanes[1]
        bench.respond(Bench.part(other.cursor, total, of: total), to: other.id)
        bench.said = bench.machine.replied(try Self.question(bench).id, .memory(total), now: bench.now)
        #expect(bench.machine.lanes.list.count == 2 && !bench.machine.isInMemory)
    }

    @Test func `a retry is made, delayed or refused`() throws {
        for decision in [HookDecision.decline, .retry(after: .seconds(7)), .fail(Self.failure)] {
            var bench = Self.bench(.retry)
            bench.begin()
            bench.respond(ResponseHead(status: 503))
            let order = try Self.question(bench)
            guard case .retry(let failure, attempt: 1, wait: let wait?) = order.question else {
                return #expect(Bool(false))
            }
            #expect(failure.status == 503 && bench.machine.nextAttempt == nil)
            #expect(bench.machine.retryNow(now: bench.now).isEmpty, "it waits for the program")
            bench.said = bench.machine.replied(order.id, decision, now: bench.now)
            switch decision {
            case .decline: #expect(bench.machine.nextAttempt == bench.now + wait)
            case .retry: #expect(bench.machine.nextAttempt == bench.now + .seconds(7))
            default: #expect(bench.machine.phase == .failed)
            }
        }
    }

    @Test func `a final failure is final unless the program tries again`() throws {
        var bench = Self.bench(.retry)
        bench.begin()
        for attempt in 1...20 {
            bench.respond(ResponseHead(status: 404))
            let order = try Self.question(bench)
            guard case .retry(_, attempt: attempt, wait: nil) = order.question else { return #expect(Bool(false)) }
            bench.said = bench.machine.replied(order.id, .retry(after: .zero), now: bench.now)
            bench.ring()
            #expect(Self.opened(bench).count == 1)
        }
        bench.respond(ResponseHead(status: 404))
        bench.said = bench.machine.replied(try Self.question(bench).id, .decline, now: bench.now)
        #expect(bench.machine.phase == .failed && Self.failure(bench)?.code == .notFound)
    }

    @Test func `another source is used before a question is put to the program`() throws {
        var bench = Bench(hosts: ["a.example", "b.example"]) { $0.hooks = .retry }
        bench.begin()
        bench.respond(ResponseHead(status: 404))
        #expect(Self.opened(bench).map(\.address.host) == ["b.example"])
        bench.respond(ResponseHead(status: 404))
        #expect(try Self.question(bench).lane == nil)
        _ = bench.machine.remove()
        #expect(bench.machine.phase == .removed)
    }
}
