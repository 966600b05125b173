import PawlBase
import PawlCore
import PawlEngine

// The incidents and their times.
extension Scenario {
    private static let latestEvent = 3_000
    private static let latestCall = 600

    private mutating func someTime() -> Int64 { Int64(dice.magnitude(15_000)) }

    mutating func add(_ incident: Incident) {
        if dice.chance(0.6) {
            atEvents[dice.magnitude(Self.latestEvent), default: []].append(incident)
        } else {
            atTimes.append((.milliseconds(someTime()), incident))
        }
    }

    /// Adds an incident that ends after a while.
    private mutating func add(_ incident: Incident, until end: Incident) {
        let start = someTime()
        atTimes.append((.milliseconds(start), incident))
        atTimes.append((.milliseconds(start + Int64(dice.number(1...4_000))), end))
    }

    mutating func addIncident() {
        let index = dice.below(downloads.count)
        switch dice.below(13) {
        case 0, 1: add(.crash(.kill))
        case 2, 3: add(.crash(.powerCut))
        case 4, 5: add(.cut)
        case 6: add(.network(isUp: false, breaks: dice.chance(0.5)), until: .network(isUp: true, breaks: false))
        case 7: add(.pause(index), until: .resume(index))
        case 8: add(dice.chance(0.3) ? .remove(index) : .pause(index))
        case 9: add(.limit(dice.chance(0.5) ? dice.bytes(100_000...2_000_000) : nil))
        case 10: add(.room(dice.bytes(0...3_000_000)), until: .room(nil))
        case 11: add(.slots(dice.number(1...4)))
        default: addChange(index)
        }
    }

    /// Changes a content, and cuts a connection: what comes next may be an error page.
    ///
    /// Drawn apart, so that other worlds do not depend on it.
    mutating func addChangeBeforePage() {
        var luck = Dice(seed: seed &* 443 &+ 7)
        let index = luck.below(downloads.count)
        guard luck.chance(0.3), let file = changeable(index), file.payload.length > 1000 else { return }
        let length = luck.chance(0.5) ? file.payload.length : file.payload.length / 2
        let start = Int64(luck.number(20...1_000))
        let payload = Payload(seed: luck.next(), length: length)
        atTimes.append((.milliseconds(start), .change(index, payload)))
        for late in 1...4 { atTimes.append((.milliseconds(start + Int64(late)), .cut)) }
    }

    /// The monitor reports a network that is not there, or does not report one that is.
    ///
    /// Drawn apart, so that other worlds do not depend on it.
    mutating func addFalseReports() {
        var luck = Dice(seed: seed &* 449 &+ 3)
        guard luck.chance(0.2) else { return }
        let start = Int64(luck.number(0...4_000))
        let end = start + Int64(luck.number(1...8_000))
        let loss = Incident.network(isUp: false, breaks: luck.chance(0.5))
        let falseReports: [(Int64, Incident)] =
            switch luck.below(4) {
            // A proxy or a name leads to this machine.
            case 0: [(luck.chance(0.5) ? 0 : start, .monitor(isOnline: false))]
            // The network comes back by another way than the one that was watched.
            case 1: [(start, loss), (end, .unreported(isUp: true, breaks: false))]
            // The link to a virtual machine stays.
            case 2:
                [
                    (start, .unreported(isUp: false, breaks: luck.chance(0.5))),
                    (end, .unreported(isUp: true, breaks: false)),
                ]
            default: (0..<luck.number(2...6)).map { (start + Int64($0) * 700, .monitor(isOnline: $0 % 2 == 1)) }
            }
        for (time, incident) in falseReports { atTimes.append((.milliseconds(time), incident)) }
    }

    private func changeable(_ index: Int) -> SimulatedFile? {
        let download = downloads[index]
        guard download.job.plan.selection == .whole, download.job.plan.checksums.isEmpty, download.existing == nil,
            download.job.plan.pieces == nil
        else { return nil }
        return servers[download.job.plan.sources[0].host]?.files[download.path]
    }

    /// Grown, shrunk or of equal length; all old bytes stay before the added ones, or none.
    private mutating func addChange(_ index: Int) {
        guard let file = changeable(index) else { return }
        let length = file.payload.length
        let next = dice.pick([length, length + dice.bytes(1...100_000), length / 2 + 1])
        let staysInFront = next > length && dice.chance(0.5)
        let content = staysInFront ? contentSeed(index) : dice.next()
        let payload = Payload(seed: content, length: next)
        let keepsDate = next == length && !staysInFront && dice.chance(0.5)
        add(keepsDate ? .replace(index, payload) : .change(index, payload))
    }

    mutating func addTrap() {
        let trap: FakeDisk.Trap = dice.pick([.fails, .crashes(.kill), .crashes(.powerCut)])
        traps[dice.magnitude(Self.latestCall)] = trap
    }
}
