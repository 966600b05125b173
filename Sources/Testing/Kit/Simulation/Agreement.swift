import PawlBase
import PawlCore
import PawlEngine
import PawlJournal
import Synchronization

/// One world twice: where files get their names at once, so that small ones take the straight path, and where they do not.
///
/// Both runs have to end alike: the same events of each download with the same contents, the same files with the same times.
package enum Agreement {
    package static func run(seed: UInt64, sabotage: Sabotage? = nil, keepsLog: Bool = false) -> Simulation.Outcome {
        var scenario = Scenario(seed: seed)
        scenario.calmDown()
        scenario.isDiskVolatile = true
        let straight = Simulation(scenario, sabotage: sabotage, keepsLog: keepsLog)
        var outcome = straight.run()
        scenario.isDiskVolatile = false
        let general = Simulation(scenario, sabotage: sabotage, keepsLog: keepsLog)
        let other = general.run()
        outcome.violations += other.violations
        outcome.log += ["WITHOUT THE STRAIGHT PATH"] + other.log
        if let text = difference(straight.record, general.record) {
            outcome.violations.append(Violation(.agreement, text))
        }
        let names = ["whole files named at once", "published", "worlds"]
        var tally = Tally()
        for name in names { tally.note("twice: \(name)", outcome.tally[name]) }
        outcome.tally = tally
        return outcome
    }

    private static func difference(_ straight: [String], _ general: [String]) -> String? {
        guard straight != general else { return nil }
        let index = zip(straight, general).enumerated().first { $1.0 != $1.1 }?.offset
        let place = index ?? min(straight.count, general.count)
        func line(_ record: [String]) -> String { place < record.count ? record[place] : "nothing" }
        return "straight: \(line(straight)); general: \(line(general))"
    }
}

extension Simulation {
    /// The events of one download after another, and then the files.
    var record: [String] {
        let files = world.disk.listing.map { path in
            let file = world.disk.finished(path)
            let modified = file?.modified.map { "\($0.seconds)" } ?? "none"
            let content = file.map { "\($0.bytes.count) bytes, \(CRC64.value(of: $0.bytes))" } ?? "unfinished"
            return "\(path): \(content), \(modified)"
        }
        let reports = state.withLock { $0.reports }
        return scenario.downloads.indices.flatMap { index in reports.filter { $0.index == index }.map(\.line) } + files
    }

    func noteReport(_ report: EngineEvent, of index: Int) {
        let verification = report.verification.map { "\($0.level) \($0.algorithm)" } ?? "none"
        let response = report.head.map { "\($0.status) \(report.address?.text ?? "")" } ?? "none"
        var update = report.update
        // How long it waits depends on when it has begun.
        if case .retrying(let failure, _) = update { update = .retrying(failure, after: .zero) }
        let line =
            "\(index): \(update), \(report.name), \(report.path), \(report.received) bytes of \(report.source), "
            + "response \(response), \(verification)"
        state.withLock { $0.reports.append((index, line)) }
    }
}

extension Scenario {
    /// Leaves one download and what its servers do, and nothing that happens at a moment when only one of two runs has something
    /// on disk; without limits, under which no file takes the straight path.
    mutating func calmDown() {
        downloads = [downloads[Int(seed % UInt64(downloads.count))]]
        rate = nil
        for index in downloads.indices {
            downloads[index].job.rateLimit = nil
            // When a further connection begins depends on the speed that was measured until then.
            downloads[index].job.plan.ramp = .fixed(1)
            downloads[index].hooks = []
        }
        (atEvents, atTimes, traps, foreignChanges) = ([:], [], [:], [])
        (diskDelay, loops) = (.zero, 1)
    }
}
