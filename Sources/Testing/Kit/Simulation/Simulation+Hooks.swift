import PawlBase
import PawlCore
import PawlEngine
import Synchronization

extension Scenario {
    /// A random generator of its own, so that worlds of the same seed stay the same.
    mutating func addHooks() {
        var dice = Dice(seed: seed &* 7919 &+ 5)
        for index in downloads.indices where dice.chance(0.2) {
            let all: [HookSet] = [.adapt, .authenticate, .redirect, .validate, .retry]
            for hook in all where dice.chance(0.6) { downloads[index].hooks.formUnion(hook) }
        }
    }
}

extension Simulation {
    /// Sets the hooks of a job.
    func addHooks(to job: inout Job, of index: Int) {
        let hooks = scenario.downloads[index].hooks
        guard !hooks.isEmpty else { return }
        job.plan.hooks = hooks
        let seed = scenario.seed &* 131 &+ UInt64(index)
        job.hooks = SlowHooks(world.timeline, Dice(seed: seed)) { [weak self] in self?.note($0) }
    }
}

/// A program whose hooks take a while and decide as Pawl would without them.
private final class SlowHooks: HookResponder {
    private let timeline: Timeline
    private let dice: Mutex<Dice>
    private let note: @Sendable (String) -> Void

    private final class Question: Sendable { let isWithdrawn = Atomic(false) }

    init(_ timeline: Timeline, _ dice: Dice, note: @escaping @Sendable (String) -> Void) {
        self.timeline = timeline
        self.dice = Mutex(dice)
        self.note = note
    }

    func ask(
        _ question: HookQuestion, of id: DownloadID, reply: @escaping @Sendable (HookReply) -> Void
    ) -> @Sendable () -> Void {
        note("questions to the program")
        let withdrawal = Question()
        let delay = dice.withLock { Interval.milliseconds(Int64($0.pick([0, 1, 50, 400, 5_000]))) }
        timeline.after(delay) { [note] in
            if withdrawal.isWithdrawn.load(ordering: .relaxed) { note("replies to withdrawn questions") }
            reply(Self.reply(to: question))
        }
        return { withdrawal.isWithdrawn.store(true, ordering: .relaxed) }
    }

    private static func reply(to question: HookQuestion) -> HookReply {
        switch question {
        case .adapt(let address, _, _): .request(address, fields: ["X-Own: yes"])
        case .redirect, .validate: .decision(.proceed)
        case .authenticate, .retry: .decision(.decline)
        }
    }
}
