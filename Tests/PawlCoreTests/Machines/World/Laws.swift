import PawlCore
import PawlTestKit

extension World {
    mutating func checkLaws() {
        if let law = Law.owner(machine) { breaks(law) }
        let requests = Set(transfers.map(\.lane))
        let lanes = Set(machine.lanes.map(\.id))
        if requests != lanes { breaks("requests \(requests) and lanes \(lanes) differ") }
        if isClaimed, !machine.map.done.isSubset(of: file.written) {
            breaks("done is more than what was written")
        }
    }
}
