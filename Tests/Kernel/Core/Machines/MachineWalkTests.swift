import Testing

@testable import PawlBase
@testable import PawlCore

@Suite struct MachineWalkTests {
    enum Case: CaseIterable {
        case whole
        case checked
        case part
        case suffix
        case mirrored
        case refreshed
        case hurried
    }

    private static func plan(_ walk: Case) -> DownloadPlan {
        let hosts = walk == .mirrored ? ["a.example", "b.example"] : ["a.example"]
        var plan = DownloadPlan(
            sources: hosts.map { WebAddress(scheme: .http, host: $0, port: 80, path: "/f", query: nil) })
        plan.ramp = .fixed(3)
        plan.retry = RetryPolicy(retries: 1, delay: .seconds(1))
        plan.timeout = .seconds(10)
        plan.maximumRedirects = 2
        switch walk {
        case .whole, .mirrored: break
        case .refreshed: plan.canRefresh = true
        case .hurried: (plan.lowestSpeed, plan.timeout) = (1 << 40, .seconds(20))
        case .checked: plan.checksums = [Checksum(algorithm: .sha256, digest: [1, 2])]
        case .part: plan.selection = .closed(ByteRange(1 << 20, 4 << 20))
        case .suffix: plan.selection = .suffix(3 << 20)
        }
        return plan
    }

    /// The states within reach, breadth first, with the path to each; stops at the first broken law.
    private static func reach(_ walk: Case, most: Int) -> (states: [WalkState], broken: String?) {
        // From the beginning, and from the first body: later states lie far behind all paths to begin.
        var states = [WalkState(plan(walk)), flowing(walk)]
        var seen = Set(states.map(\.key))
        var ways: [[WalkEvent]] = [[], []]
        var next = 0
        while next < states.count, states.count < most {
            for event in WalkEvent.possible(in: states[next].machine) {
                var state = states[next]
                let before = state.machine
                let actions = state.apply(event)
                let step = WalkStep(before: before, event: event, actions: actions, after: state.machine)
                if let law = step.brokenLaw { return (states, "\(law) after \(ways[next] + [event])") }
                guard seen.insert(state.key).inserted else { continue }
                states.append(state)
                ways.append(ways[next] + [event])
            }
            next += 1
        }
        return (states, nil)
    }

    private static func flowing(_ walk: Case) -> WalkState {
        var state = WalkState(plan(walk))
        _ = state.apply(.begin(.fresh))
        if let lane = state.machine.lanes.list.first { _ = state.apply(.responded(lane.id, .right)) }
        return state
    }

    @Test(arguments: Case.allCases) func `every reachable state keeps the house laws`(walk: Case) {
        let (states, broken) = Self.reach(walk, most: 5000)
        if let broken { Issue.record("\(broken)") }
        let phases = Set(states.map(\.machine.phase))
        #expect(phases.isSuperset(of: [.probing, .transferring, .waitingForNetwork, .paused, .preempted, .failed]))
        #expect(states.contains(where: \.machine.budget.isTooSlow) == (walk == .hurried))
        #expect(
            states.contains { state in state.machine.lanes.list.contains { $0.isRacing != nil } }
                // An unclaimed range returns to the lane before it, before lanes have to race for it.
                || walk == .mirrored || walk == .refreshed)
    }

    @Test(arguments: Adversity.allCases) func `G4 from any state a download that cannot succeed comes to an end`(
        adversity: Adversity
    ) {
        for walk in [Case.whole, .part, .mirrored, .refreshed, .hurried] {
            let states = Self.reach(walk, most: 400).states
            for start in states where start.machine.phase != .finished && start.machine.phase != .removed {
                var state = start
                var turn = 0
                while state.machine.phase != .failed, state.machine.phase != .finished, turn < 400 {
                    adversity.happen(to: &state, turn: turn)
                    turn += 1
                }
                guard turn == 400 else { continue }
                Issue.record("no end: \(walk), \(start.machine.lanes.list), \(start.machine.lanes.map)")
                return
            }
        }
    }
}
