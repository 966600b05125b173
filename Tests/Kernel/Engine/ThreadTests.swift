import PawlTestKit
import Testing

@testable import Pawl
@testable import PawlBase
@testable import PawlCore
@testable import PawlEngine
@testable import PawlIntegrity
@testable import PawlJournal
@testable import PawlQueue
@testable import PawlSystem

/// Real threads, files and sockets, which the single-threaded simulation cannot cover.
@Suite struct `An engine commanded by many threads` {
    /// Half of the files stall in the middle of their first response, some fail there, the others are slow: so
    /// that commands meet running downloads.
    private func serve(_ name: String, _ kind: Int, at origin: OriginServer) {
        origin.serve("/" + name, LiveStage.payload(name))
        origin.vary("/" + name) { facts, behaviour in
            switch (kind % 4, facts.ordinal) {
            case (0, 0), (1, 0): behaviour.cut = .stall(after: 1 * .mebi)
            case (2, 0): behaviour.cut = .reset(after: 1 * .mebi)
            case (3, _): behaviour.pace = 8 * .mebi
            case (_, _): break
            }
        }
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `D7 D8 D9 D10 D14 ends with correct files, each end reported once and nothing left open`(seed: UInt64) throws {
        try withLiveStage { stage in
            let crowd = Crowd(stage)
            var dice = Dice(seed: seed)
            let names = (0..<20).map { "\($0).bin" }
            for (number, name) in names.enumerated() { serve(name, number, at: stage.origin) }
            let workers = (0..<4).map { person in
                let own = names.indices.filter { $0 % 4 == person }.map { names[$0] }
                let seed = dice.next()
                return SystemThread.start { crowd.live(own, seed: seed) }
            }
            for worker in workers { worker.join() }
            crowd.letAllFinish()
            stage.close()

            let finished = crowd.known.filter { stage.updates($0.id).contains(.phase(.finished)) }
            let removed = crowd.known.filter { stage.updates($0.id).contains(.phase(.removed)) }
            for (name, id) in finished {
                #expect(stage.folder.difference(name, from: LiveStage.payload(name)) == nil, "\(id)")
            }
            for (_, id) in removed { #expect(crowd.removed.contains(id)) }
            #expect(finished.count + removed.count == names.count)
            // One that was at rest when it was removed leaves its part file to the caller that removed it.
            let partials = removed.flatMap { ["\($0.name).part", "\($0.name).pawl"] }
            let files = stage.folder.names.filter { !partials.contains($0) }
            #expect(files == finished.map(\.name).sorted(), "nothing else is left")
            #expect(stage.count { $0 == .phase(.paused) } > 0 && stage.count { $0 == .phase(.preempted) } > 0)
            #expect(!removed.isEmpty && crowd.looks > 0)
            #expect(stage.count { if case .started(_, let at) = $0 { at > 0 } else { false } } > 0)
        }
    }

    @Test func `A4 A5 closing amid commands keeps the received bytes, and the next engine continues from there`() throws
    {
        let names = (0..<6).map { "\($0).bin" }
        try withLiveStage { stage in
            for name in names { serve(name, 0, at: stage.origin) }
            let ids = names.map { stage.add($0) }
            for id in ids { stage.scheduler.resume(id) }
            for id in ids.prefix(3) { stage.waitForBytes(256 * .kibi, of: id) }
            let meddlers = (0..<3).map { offset in
                SystemThread.start {
                    for round in 0..<200 {
                        let id = ids[(round + offset) % ids.count]
                        if round % 3 == offset { stage.scheduler.pause(id) } else { stage.scheduler.resume(id) }
                        stage.engine.limit(id, to: round % 2 == 0 ? nil : 64 * .mebi)
                    }
                }
            }
            stage.close(from: 3)
            for meddler in meddlers { meddler.join() }
            stage.scheduler.resume(stage.add(names[0]))
            #expect(ids.allSatisfy { !stage.updates($0).contains(.phase(.failed)) })

            let next = try LiveStage(origin: stage.origin, folder: stage.folder, loops: 2, jobs: 3)
            let again = names.map { next.add($0) }
            for id in again { next.scheduler.resume(id) }
            for id in again { next.wait(id) { $0.contains(.phase(.finished)) } }
            next.close()
            for name in names { #expect(stage.folder.difference(name, from: LiveStage.payload(name)) == nil) }
            #expect(stage.folder.names == names)
            #expect(next.count { if case .started(_, let at) = $0 { at > 0 } else { false } } > 0)
        }
    }

    private func withLiveStage(_ body: (LiveStage) throws -> Void) throws {
        let origin = try OriginServer()
        defer { origin.stop() }
        try body(try LiveStage(origin: origin, folder: TemporaryFolder(), loops: 2, jobs: 3))
    }
}
