import PawlCore

/// The house laws that hold in every state of every download.
enum Laws {
    /// The first law that `machine` breaks.
    static func broken(by machine: DownloadMachine) -> String? {
        let lanes = machine.lanes
        guard machine.map.isConserved else { return "a byte has two owners: \(machine.map)" }
        guard Set(lanes.map(\.slot)).count == lanes.count else { return "two lanes have one slot" }
        guard Set(lanes.map(\.id)).count == lanes.count else { return "two lanes have one id" }
        switch machine.phase {
        case .probing, .transferring: break
        case .waiting, .waitingForNetwork, .verifying, .publishing, .paused, .preempted, .finished, .failed,
            .removed:
            guard lanes.isEmpty else { return "lanes in phase \(machine.phase)" }
            guard machine.map.claims.isEmpty else { return "claims in phase \(machine.phase)" }
        }
        for claim in machine.map.claims where !lanes.contains(where: { $0.id == claim.lane }) {
            return "\(claim) belongs to no lane"
        }
        for lane in lanes { if let law = broken(by: lane, of: machine) { return law } }
        return nil
    }

    private static func broken(by lane: Lane, of machine: DownloadMachine) -> String? {
        let claim = machine.map.claim(of: lane.id)
        switch lane.kind {
        case .data:
            guard lane.cursor < lane.end else {
                return claim == nil ? nil : "\(lane.id) at its end owns \(lane)"
            }
            guard let claim else { return "\(lane) owns nothing" }
            guard claim.end == lane.end else { return "\(lane) and its claim \(claim) end apart" }
            // A promoted racer writes bytes again until it is where the owner was.
            guard claim.start >= lane.cursor else { return "\(lane) has not told of \(claim)" }
        case .racing(let owner):
            guard claim == nil else { return "racer \(lane.id) owns \(lane)" }
            guard let goal = machine.lanes.first(where: { $0.id == owner }) else {
                return "racer \(lane.id) has no goal"
            }
            guard goal.kind == .data else { return "racer \(lane.id) races against a racer" }
        case .settling, .restarting:
            guard claim == nil else { return "\(lane.id) owns bytes but brings none" }
        }
        return nil
    }
}

extension World {
    mutating func checkLaws() {
        if let law = Laws.broken(by: machine) { breaks(law) }
        let requests = Set(transfers.map(\.lane))
        let lanes = Set(machine.lanes.map(\.id))
        if requests != lanes { breaks("requests \(requests) and lanes \(lanes) differ") }
        if isClaimed, !machine.map.done.isSubset(of: file.written) {
            breaks("done is more than what was written")
        }
    }
}
