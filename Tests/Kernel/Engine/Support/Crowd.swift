import Pawl
import PawlBase
import PawlCore
import PawlEngine
import PawlSystem
import PawlTestKit

/// Concurrent users, each on a thread with its own downloads, who also command the others' downloads.
final class Crowd: Sendable {
    private struct State {
        var known: [(name: String, id: DownloadID)] = []
        var removed: Set<DownloadID> = []
        var looks = 0
    }

    private let stage: LiveStage
    private let state = Monitor(State())

    init(_ stage: LiveStage) { self.stage = stage }

    var known: [(name: String, id: DownloadID)] { state.read(\.known) }
    var removed: Set<DownloadID> { state.read(\.removed) }
    /// How often an inspection met a running download.
    var looks: Int { state.read(\.looks) }

    /// One user's actions; everything but the timing follows from the seed.
    func live(_ names: [String], seed: UInt64) {
        var dice = Dice(seed: seed)
        for (number, name) in names.enumerated() {
            let id = stage.add(name, connections: Int.random(in: 1...3, using: &dice))
            state.with { $0.known.append((name, id)) }
            stage.scheduler.resume(id)
            meddle(&dice)
            stage.waitForBytes(LiveStage.length / 8, of: id)
            look(at: id)
            meddle(&dice)
            stage.scheduler.pause(id)
            stage.wait(id) { $0.contains(.phase(.paused)) || $0.contains(.phase(.finished)) }
            meddle(&dice)
            // The last of each is removed, while another user starts it at the same time.
            guard number == names.count - 1 else {
                stage.scheduler.resume(id)
                continue
            }
            let other = SystemThread.start { [stage] in for _ in 0..<5 { stage.scheduler.resume(id) } }
            state.with { _ = $0.removed.insert(id) }
            stage.scheduler.remove(id)
            other.join()
        }
    }

    /// Commands to any user's download that leave it wanting to run.
    private func meddle(_ dice: inout Dice) {
        for _ in 0..<4 {
            guard let (name, id) = known.randomElement(using: &dice) else { continue }
            let size = Int64.random(in: 4...64, using: &dice) * .mebi
            switch Int.random(in: 0...6, using: &dice) {
            case 0: stage.engine.limit(id, to: Bool.random(using: &dice) ? nil : size)
            case 1: stage.engine.limit(to: Bool.random(using: &dice) ? nil : size)
            case 2: stage.engine.limit(hosts: HostLimits(connections: Int.random(in: 3...8, using: &dice)))
            case 3: stage.scheduler.change(slots: Int.random(in: 2...4, using: &dice))
            case 4: stage.engine.replaceSource(id, with: stage.address(name))
            case 5: look(at: id)
            default:
                // All but one are preempted for a moment.
                stage.scheduler.change(slots: 1)
                stage.scheduler.change(slots: 3)
            }
        }
    }

    private func look(at id: DownloadID) { if stage.look(at: id) != nil { state.with { $0.looks += 1 } } }

    /// No user interferes any more: downloads that were not removed complete.
    func letAllFinish() {
        stage.engine.limit(to: nil)
        stage.engine.limit(hosts: HostLimits())
        stage.scheduler.change(slots: 3)
        for (_, id) in known where !removed.contains(id) {
            stage.engine.limit(id, to: nil)
            stage.scheduler.resume(id)
        }
        for (_, id) in known { stage.wait(id) { $0.contains { $0.isFinalWord } } }
    }
}
