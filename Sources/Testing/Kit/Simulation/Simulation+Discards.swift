import PawlBase
import PawlCore
import PawlEngine

// The check that nothing is discarded of content that stays the same.
extension Simulation {
    /// Handles a start over; `prefix` bytes from the first one on were on disk.
    ///
    /// A response that states no length may be another version with the same beginning: only a strong tag proves the known length.
    func checkDiscard(of prefix: Int64, by lane: Lane?, _ index: Int) {
        guard prefix > 0, lane?.response.end != ByteRange.open, isConstant(index) else { return }
        violate(.discarded, "\(index): \(prefix) bytes of the only version")
    }

    /// Notes that the whole content is compared, where a server without ranges proves nothing else of it.
    func noteWholeComparison(_ index: Int) {
        if isConstant(index) { note("whole contents compared that stay the same") }
    }

    /// Whether the content of a download never changes, and every response shows its length and that it is uncoded.
    private func isConstant(_ index: Int) -> Bool {
        let download = scenario.downloads[index]
        let plan = download.job.plan
        guard plan.selection == .whole, download.nextSelection ?? .whole == .whole, plan.given.isEmpty,
            plan.pieces == nil, download.existing == nil, download.seeding == nil, !scenario.sharesNames,
            scenario.foreignChanges.isEmpty, world.network.versions(of: download.path).count == 1
        else { return false }
        return plan.sources.allSatisfy { source in
            guard let file = scenario.servers[source.host]?.files[download.path] else { return false }
            return file.statesLength && !file.isRemade && file.coded == nil && file.badNode == nil
                && file.fileServer == nil && file.ranges.areConstant
        }
    }
}

extension SimulatedFile.Ranges {
    /// Whether no response is of another content than the file's, or claims to be.
    fileprivate var areConstant: Bool {
        switch self {
        case .honoured, .ignored, .refused, .silent, .capped, .untoldTotal: true
        case .shifted, .cappedUntold, .multipart, .unlabelled, .malformed, .overlong, .coded, .falseLength,
            .otherTotal:
            false
        }
    }
}
