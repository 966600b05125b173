package import PawlBase
package import PawlCore

// Invariants of every state of every machine.
extension Law {
    /// The first violation of byte ownership.
    package static func owner(_ machine: DownloadMachine) -> String? {
        owner(machine.lanes.list, of: machine.lanes.map, in: machine.phase)
    }

    package static func owner(_ lanes: [Lane], of map: SegmentMap, in phase: DownloadState) -> String? {
        guard map.isConserved else { return "a byte has two owners: \(map)" }
        for (index, lane) in lanes.enumerated() {
            for other in lanes[..<index] {
                if other.slot == lane.slot { return "two lanes have slot \(lane.slot)" }
                if other.id == lane.id { return "two lanes are \(lane.id)" }
            }
        }
        switch phase {
        case .probing, .transferring: break
        case .waiting, .waitingForDisk, .waitingForNetwork, .verifying, .publishing, .paused, .preempted, .finished,
            .failed, .removed:
            guard lanes.isEmpty else { return "lanes in phase \(phase)" }
            guard map.claims.isEmpty else { return "claims in phase \(phase)" }
        }
        for claim in map.claims where !lanes.contains(where: { $0.id == claim.lane }) {
            return "\(claim) belongs to no lane"
        }
        for lane in lanes { if let text = owner(lane, lanes, map) { return text } }
        return nil
    }

    private static func owner(_ lane: Lane, _ lanes: [Lane], _ map: SegmentMap) -> String? {
        let claim = map.claim(of: lane.id)
        switch lane.work {
        case .data:
            guard lane.cursor < lane.end else { return claim == nil ? nil : "\(lane.id) at its end owns \(lane)" }
            guard let claim else { return "\(lane) owns nothing" }
            guard claim.end == lane.end else { return "\(lane) and its claim \(claim) end apart" }
            // A promoted racer rewrites bytes until it has reached the owner's cursor.
            guard claim.start >= lane.cursor else { return "\(lane) has not reported \(claim)" }
        case .racing(let owner):
            guard claim == nil else { return "racer \(lane.id) owns \(lane)" }
            guard let goal = lanes.first(where: { $0.id == owner }) else { return "racer \(lane.id) has no goal" }
            guard goal.isData else { return "racer \(lane.id) races against a racer" }
        case .settling, .restarting, .checkingTag:
            guard claim == nil else { return "\(lane.id) owns bytes but receives none" }
        }
        return nil
    }
}
