import Testing

@testable import PawlBase
@testable import PawlCore
@testable import PawlJournal
@testable import PawlSystem

@Suite struct ScarcityTests {
    private static let lacking = Failure(
        .cannotCreate, "cannot create", at: "file.part",
        because: LocalizableMessage("system-files-open", "Too many open files"))

    private static func plan(retries: Int = 2) -> DownloadPlan {
        var plan = DownloadPlan(sources: [WebAddress(scheme: .http, host: "h", port: 80, path: "/f", query: nil)])
        plan.retry.retries = retries
        return plan
    }

    @Test func `a refused descriptor is waited for, and uses up no retry`() {
        var machine = DownloadMachine(plan: Self.plan(), seed: 1)
        for _ in 0..<100 {
            machine.waiting.descriptors = machine.waiting.descriptors.next(hasCompany: true)
            let actions = machine.begin(claimed: .failed(Self.lacking), online: true, now: Instant(nanoseconds: 0))
            #expect(machine.waitsForDescriptor && machine.phase == .waiting && machine.attempts == 0)
            #expect(actions.contains { if case .alarm = $0 { true } else { false } })
            #expect(machine.nextAttempt != nil, "the row says when it continues")
        }
    }

    @Test func `where nothing can release a descriptor, the waits are as many as the retries`() {
        var machine = DownloadMachine(plan: Self.plan(retries: 2), seed: 1)
        var waits = 0
        while machine.phase != .failed {
            _ = machine.begin(claimed: .failed(Self.lacking), online: true, now: Instant(nanoseconds: 0))
            if machine.waitsForDescriptor { waits += 1 }
            machine.waiting.descriptors = machine.waiting.descriptors.next(hasCompany: false)
        }
        #expect(waits == 3)
        #expect(machine.failure?.code == .cannotCreate)
    }

    @Test func `a download that waits for a descriptor obeys commands`() {
        var waiting = DownloadMachine(plan: Self.plan(), seed: 1)
        _ = waiting.begin(claimed: .failed(Self.lacking), online: true, now: Instant(nanoseconds: 0))
        let commands: [(DownloadState, (inout DownloadMachine) -> Void)] = [
            (.paused, { _ = $0.pause() }), (.preempted, { _ = $0.preempt() }), (.removed, { _ = $0.remove() }),
        ]
        for (phase, command) in commands {
            var machine = waiting
            command(&machine)
            #expect(machine.phase == phase && !machine.waitsForDescriptor)
        }
    }

    @Test func `other failures to open something end the download`() {
        var machine = DownloadMachine(plan: Self.plan(), seed: 1)
        let denied = Failure(
            .cannotCreate, "cannot create", at: "file.part",
            because: LocalizableMessage("system-denied", "Permission denied"))
        _ = machine.begin(claimed: .failed(denied), online: true, now: Instant(nanoseconds: 0))
        #expect(machine.phase == .failed)
    }

    /// Any order of events: nobody is woken twice, and none is forgotten while another holds something.
    @Test func `those that wait for a descriptor are woken in their order`() {
        var dice = Dice(seed: 7)
        for _ in 0..<500 {
            var line = DescriptorLine()
            var (holding, waiting): (Set<UInt64>, [UInt64]) = ([], [])
            for run in UInt64(1)...40 {
                line.began(run)
                if dice.fraction() < 0.5 {
                    #expect(line.waits(run) == waiting.isEmpty)
                    waiting.append(run)
                } else {
                    holding.insert(run)
                }
                if dice.fraction() < 0.3, let ended = holding.popFirst() {
                    let woken = line.ended(ended)
                    #expect(woken == Array(waiting.prefix(2)))
                    waiting.removeFirst(woken.count)
                    holding.formUnion(woken)
                }
                #expect(line.hasCompany(1000) == !holding.isEmpty)
            }
            while let ended = holding.popFirst() {
                let woken = line.ended(ended)
                waiting.removeFirst(woken.count)
                holding.formUnion(woken)
            }
            #expect(waiting.isEmpty || !line.hasCompany(1000))
        }
    }

    @Test func `a new download does not overtake those that wait, and the only one needs no reserve`() {
        var line = DescriptorLine()
        line.began(1)
        #expect(line.mayBegin(1, haveRoom: false, hasWaited: false))
        line.began(2)
        #expect(!line.mayBegin(2, haveRoom: false, hasWaited: false))
        #expect(line.mayBegin(2, haveRoom: true, hasWaited: false))
        _ = line.waits(2)
        line.began(3)
        #expect(!line.mayBegin(3, haveRoom: true, hasWaited: false))
        #expect(line.mayBegin(2, haveRoom: true, hasWaited: true))
    }
}
