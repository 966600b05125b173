import PawlBase
package import PawlCore
package import PawlEngine
import PawlSystem
import Synchronization

/// One run of a download as its decisions show it.
struct RunView: Sendable {
    let run: UInt64
    var written: Int64
    /// How many bytes from the first one on are on disk.
    var prefix: Int64 = 0
    var lanes: [Lane] = []
    /// The most bytes so far, and whether there are more than at the last retry.
    var high: Int64
    var isProgress = false
    var retries = 0
    /// The number of these since the last new byte.
    var idleRetries = 0
    /// Whether a verdict was reported since the run began.
    var hasReason = false
}

extension Simulation: Witness {
    package func decided(_ id: DownloadID, run: UInt64, _ actions: [Action], _ machine: DownloadMachine) {
        guard !state.withLock({ $0.isDead }), let index = index(of: id) else { return }
        let lanes = sabotage == .doublesLanes ? machine.lanes.list + machine.lanes.list : machine.lanes.list
        if let text = Law.owner(lanes, of: machine.lanes.map, in: machine.phase) {
            violate(.owner, "\(index): \(text)")
        }
        let before = course(index) { $0.run?.run == run ? $0.run : nil }
        var view = before ?? RunView(run: run, written: machine.written, high: machine.written)
        checkProgress(&view, actions, machine, index)
        if before != nil { watch(view, actions, machine, index) }
        if machine.lanes.list.contains(where: { $0.joint > 0 }), !view.lanes.contains(where: { $0.joint > 0 }) {
            note("lanes compared where they met")
        }
        if machine.sources.contains(where: { $0.parts.longest != nil }),
            machine.lanes.list.contains(where: { $0.isSettling })
        {
            note("short parts compared one after another")
        }
        if machine.sources.contains(where: { $0.parts.breaksAfter != nil }),
            machine.lanes.list.contains(where: { $0.isSettling })
        {
            note("bytes compared in parts")
        }
        if !machine.samples.isEmpty, before == nil { note("files compared at samples") }
        view.lanes = machine.lanes.list
        view.written = machine.written
        view.prefix = machine.lanes.map.done.prefix
        let requests = actions.count { if case .open = $0 { true } else { false } }
        course(index) { course in
            course.run = view
            course.requests += requests
        }
    }

    private func checkProgress(_ view: inout RunView, _ actions: [Action], _ machine: DownloadMachine, _ index: Int) {
        var isChange = false
        var isRetry = false
        for action in actions {
            switch action {
            case .notify(.notice(let text)):
                if sabotage != .mutesVerdicts { view.hasReason = true }
                if text.description.contains("the content changed") { isChange = true }
            case .notify(.failed), .restoreOriginal, .restoreExtended: view.hasReason = true
            case .notify(.retrying): isRetry = true
            case .startOver where machine.plan.pieces != nil: isChange = true
            // The bytes of a wrong piece no longer count as written.
            case .discard: view.high = min(view.high, machine.written)
            default: break
            }
        }
        if let text = Law.progress(from: view.written, to: machine.written, hasReason: view.hasReason) {
            violate(.progress, "\(index): \(text): \(actions)")
        }
        if isChange { view.high = 0 }
        if machine.written > view.high {
            // Bytes found on disk are no progress: only flowing lanes receive bytes.
            view.isProgress = view.isProgress || view.lanes.contains { $0.isFlowing }
            view.high = machine.written
        }
        guard isRetry else { return }
        view.retries += 1
        view.idleRetries = view.isProgress ? 1 : view.idleRetries + 1
        view.isProgress = false
    }

    /// Tallies the mechanisms of these actions.
    private func watch(_ view: RunView, _ actions: [Action], _ machine: DownloadMachine, _ index: Int) {
        var limited = false
        for action in actions {
            switch action {
            case .limit: limited = true
            case .open(let order):
                guard let lane = machine.lanes.list.first(where: { $0.id == order.lane }) else { continue }
                if lane.isRacing != nil {
                    note("races")
                    if !machine.plan.checksums.isEmpty { note("races under a checksum") }
                }
                if lane.isSettling { course(index) { $0.compared += lane.overlap } }
                if lane.isSettling, machine.isComparingElsewhere { note("other places compared") }
                if lane.isBringing, lane.overlap > DownloadMachine.overlap {
                    note("longer runs compared")
                    course(index) { course in
                        course.compared += lane.overlap
                        course.repeated += lane.overlap
                    }
                }
                if limited, lane.isData { note("steals") }
                limited = false
            case .drop(let id):
                guard actions.count > 1, case .open = actions[1], actions.first == action,
                    let lane = view.lanes.first(where: { $0.id == id }), lane.isFlowing, lane.isData,
                    lane.speed.slowSince != nil
                else { continue }
                note("slow lanes replaced")
            // A wrong piece is sent again.
            case .discard(let range): course(index) { $0.compared += range.count }
            case .startOver:
                note("restarts from 0")
                checkDiscard(of: view.prefix, by: machine.lanes.list.first, index)
                course(index) { $0.startedOver = true }
            default: continue
            }
        }
    }
}
