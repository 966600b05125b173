import PawlBase
import PawlQueue
import PawlTestKit
import Testing

@Suite struct QueueSchedulerTests {
    /// Every state that a few downloads can reach, breadth first, with each command tried in each.
    private static func walk(ids: Int, events: [SchedulerEvent]) -> (states: Int, broken: String?) {
        var states = [QueueScheduler<Int>(slots: 2)]
        var seen: Set<QueueView> = [QueueView(states[0])]
        var ways: [[SchedulerEvent]] = [[]]
        var next = 0
        while next < states.count {
            let before = QueueView(states[next])
            for event in events {
                var scheduler = states[next]
                let orders = event.apply(to: &scheduler)
                let after = QueueView(scheduler)
                let step = SchedulerStep(before: before, event: event, orders: orders, after: after)
                if let law = step.brokenLaw { return (next, "\(law) after \(ways[next] + [event])") }
                guard seen.insert(after).inserted else { continue }
                states.append(scheduler)
                ways.append(ways[next] + [event])
            }
            next += 1
        }
        return (states.count, nil)
    }

    @Test func `D7 D8 D9 D10 three downloads in every state keep the laws of the queue`() {
        let (states, broken) = Self.walk(ids: 3, events: SchedulerEvent.all(ids: 3))
        if let broken { Issue.record("\(broken)") }
        #expect(states > 1000)
    }

    @Test(arguments: 0..<16 as Range<UInt64>) func `D7 D8 D9 D10 a storm of commands keeps the laws of the queue`(
        seed: UInt64
    ) {
        var dice = Dice(seed: seed)
        var scheduler = QueueScheduler<Int>(slots: 3)
        for _ in 0..<1500 {
            let before = QueueView(scheduler)
            let event = SchedulerEvent.random(ids: 40, &dice)
            let orders = event.apply(to: &scheduler)
            let after = QueueView(scheduler)
            let step = SchedulerStep(before: before, event: event, orders: orders, after: after)
            guard let law = step.brokenLaw else { continue }
            Issue.record("\(law) after \(event) in \(before)")
            return
        }
    }
}
